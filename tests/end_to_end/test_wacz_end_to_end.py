"""A collection leaves as a WACZ file that others accept, and comes back as it was."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import pytest

from freshet.archive.observation import HttpExchange
from freshet.collection.collection import Collection
from freshet.core.types import Outcome
from tests.end_to_end import foreign_warc as foreign
from tests.end_to_end.replay_tools import pywb, run_tool
from tests.record.record_samples import (
    URL,
    bodies,
    hop,
    html,
    make_collection,
    observe,
    page_facts,
    record,
)

REQUEST = b"GET / HTTP/1.1\r\nHost: example.org\r\nCookie: id=secret\r\n\r\n"
HTTP = HttpExchange(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", REQUEST)
UNCHANGED = HttpExchange(b"HTTP/1.1 304 Not Modified\r\n\r\n", REQUEST)
OLD = "https://example.org/old"
FINAL = "https://elsewhere.example/final"


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """A collection with live and imported visits."""
    folder = tmp_path_factory.mktemp("wacz")
    with make_collection(folder / "c") as made:
        unchanged = observe(3, outcome=Outcome.NOT_MODIFIED, exchange=UNCHANGED)
        record(made, [
            observe(1, html("one"), exchange=HTTP),
            observe(2, html("one"), exchange=HTTP),
            replace(unchanged, status=304),
            observe(4, html("two"), exchange=HTTP, hops=(hop(URL, FINAL),), final_url=FINAL),
        ])  # fmt: skip
        foreign.write(
            folder / "a.warc.gz", [foreign.response(1, url=OLD), foreign.request(11, of=1, url=OLD)]
        )
        made.import_history("warc", folder / "a.warc.gz")
        yield made


@pytest.fixture(scope="module")
def exported(collection: Collection, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exported") / "news.wacz"
    assert collection.export("wacz", path) == 6
    return path


def test_py_wacz_finds_it_valid(exported: Path) -> None:
    said = run_tool("wacz", "validate", "--file", exported)
    assert "Validation succeeded, the passed WACZ is valid" in said


def test_warc_files_and_index_are_stored_as_they_are(exported: Path) -> None:
    with ZipFile(exported) as file:
        entries = {entry.filename: entry for entry in file.infolist()}
    stored = [name for name in entries if name.endswith(".gz")]
    assert len(stored) == 3
    assert {entries[name].compress_type for name in stored} == {ZIP_STORED}
    assert set(entries) - set(stored) == {
        "indexes/index.idx", "pages/pages.jsonl", "datapackage.json", "datapackage-digest.json",
    }  # fmt: skip


def test_its_index_is_that_of_its_warc_files(exported: Path, tmp_path: Path) -> None:
    with ZipFile(exported) as file:
        file.extractall(tmp_path)
    ours = gzip.decompress((tmp_path / "indexes/index.cdx.gz").read_bytes()).decode()
    theirs = tmp_path / "theirs.cdxj"
    run_tool("cdxj-indexer", "--sort", "--output", theirs, tmp_path / "archive")
    assert ours == theirs.read_text()
    assert len(ours.splitlines()) == 6
    meta, block = (tmp_path / "indexes/index.idx").read_text().splitlines()
    assert json.loads(meta.removeprefix("!meta 0 "))["filename"] == "index.cdx.gz"
    assert json.loads(block[block.index("{") :])["offset"] == 0


def test_pywb_replays_what_is_in_it(exported: Path, tmp_path: Path) -> None:
    with ZipFile(exported) as file:
        file.extractall(tmp_path)
    index = tmp_path / "index.cdxj"
    index.write_bytes(gzip.decompress((tmp_path / "indexes/index.cdx.gz").read_bytes()))
    with pywb(index, [tmp_path / "archive"]) as replay:
        for day in (2, 3, 4):
            answer = replay.get(URL, f"202401{day:02}000000")
            assert (answer.status, answer.body) == (200, html("one"))
        assert replay.get(FINAL, "20240105000000").body == html("two")


def test_it_lists_each_page_with_its_newest_version(exported: Path) -> None:
    with ZipFile(exported) as file:
        head, *pages = map(json.loads, file.read("pages/pages.jsonl").splitlines())
    assert head["format"] == "json-pages-1.0"
    assert [(page["url"], page["ts"]) for page in pages] == [
        (URL, "2024-01-05T00:00:00Z"), (OLD, "2024-01-01T00:00:00Z"),
    ]  # fmt: skip


def test_no_secret_of_a_request_leaves_with_it(exported: Path, tmp_path: Path) -> None:
    with ZipFile(exported) as file:
        names = [name for name in file.namelist() if name.startswith("archive/")]
        whole = b"".join(gzip.decompress(file.read(name)) for name in names)
    assert b"secret" not in whole
    assert b"Cookie: [blanked]" in whole


def test_it_comes_back_as_it_was(collection: Collection, exported: Path, tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as again:
        done = again.import_history("wacz", exported, source="")
        assert (done.visits, done.bad) == (5, 0)
        assert page_facts(again) == page_facts(collection)
        assert bodies(again) == bodies(collection)
        assert again.import_history("wacz", exported, source="").already_there == 5
        assert again.check().is_sound


def test_only_pages_of_a_source_leave_with_it(collection: Collection, tmp_path: Path) -> None:
    assert collection.export("wacz", tmp_path / "part.wacz", source="warc") == 1
    run_tool("wacz", "validate", "--file", tmp_path / "part.wacz")
