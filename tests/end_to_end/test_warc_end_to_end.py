"""Foreign WARC files come in whole: every record, byte for byte, and once."""

import gzip
import warnings
from io import BytesIO
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from freshet.collection.collection import Collection
from freshet.core.errors import BadInputError
from freshet.core.types import Outcome
from tests.archive.warc.file_check import check_file
from tests.end_to_end.foreign_warc import (
    IDENTICAL,
    NOT_MODIFIED,
    PAGE,
    URL,
    http,
    metadata,
    name,
    raw,
    request,
    response,
    revisit,
    write,
)

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    from fastwarc.warc import ArchiveIterator as FastwarcIterator

OTHER = PAGE.replace(b"green", b"brown")
MISSING = "https://example.org/other"


def archive(collection: Collection) -> bytes:
    return b"".join(
        path.read_bytes() for path in sorted(collection.archive_folder.glob("*.warc.gz"))
    )


def outcomes(collection: Collection, source: str, url: str = URL) -> list[str]:
    rows = collection.page(url, source=source).history()
    return [
        f"{row.visit.outcome} {'-' if row.change is None else int(row.change.changed)}"
        for row in rows
    ]


def is_read_by_others(collection: Collection) -> bool:
    whole = archive(collection)
    ours = [
        record.rec_headers.get_header("WARC-Record-ID")
        for record in ArchiveIterator(BytesIO(whole))
    ]
    theirs = [record.record_id for record in FastwarcIterator(BytesIO(whole), parse_http=False)]
    return len(ours) == len(theirs) > 1


def test_records_come_in_byte_for_byte_with_their_companions(
    collection: Collection, tmp_path: Path
) -> None:
    records = [request(11, of=1), response(1), metadata(12, of=1), response(2, OTHER)]
    members = write(tmp_path / "a.warc.gz", records)
    done = collection.import_history("warc", tmp_path / "a.warc.gz")
    assert (done.visits, done.bad) == (2, 0)
    assert all(member in archive(collection) for member in members)
    assert outcomes(collection, "warc") == ["ok -", "ok 1"]
    assert collection.page(URL).snapshot(1).body == PAGE
    assert collection.check().is_sound
    assert is_read_by_others(collection)


def test_a_second_import_brings_nothing_new(collection: Collection, tmp_path: Path) -> None:
    write(tmp_path / "a.warc.gz", [response(1), revisit(2, IDENTICAL), revisit(3, NOT_MODIFIED)])
    collection.import_history("warc", tmp_path / "a.warc.gz")
    before = archive(collection)
    done = collection.import_history("warc", tmp_path / "a.warc.gz")
    assert (done.visits, done.already_there) == (0, 3)
    assert archive(collection) == before


def test_revisits_are_looks_when_their_original_is_in_the_same_file(
    collection: Collection, tmp_path: Path
) -> None:
    records = [response(1), revisit(2, IDENTICAL), revisit(3, NOT_MODIFIED), response(4, OTHER)]
    write(tmp_path / "a.warc.gz", records)
    collection.import_history("warc", tmp_path / "a.warc.gz")
    assert outcomes(collection, "warc") == ["ok -", "ok 0", "not-modified 0", "ok 1"]
    assert [v.row.visit.media_type for v in collection.page(URL).versions] == ["text/html"] * 3
    assert collection.page(URL).snapshot(2).body == PAGE
    assert collection.check().is_sound


def test_a_revisit_finds_its_original_in_an_earlier_import(
    collection: Collection, tmp_path: Path
) -> None:
    write(tmp_path / "a.warc.gz", [response(1)])
    write(tmp_path / "b.warc.gz", [revisit(2, IDENTICAL)])
    collection.import_history("warc", tmp_path / "a.warc.gz", source="crawl")
    collection.import_history("warc", tmp_path / "b.warc.gz", source="crawl")
    assert outcomes(collection, "crawl") == ["ok -", "ok 0"]
    assert collection.page(URL).snapshot(2).body == PAGE


def test_a_revisit_whose_original_is_missing_is_only_reported(
    collection: Collection, tmp_path: Path
) -> None:
    write(tmp_path / "a.warc.gz", [revisit(1, IDENTICAL), response(2, OTHER)])
    collection.import_history("warc", tmp_path / "a.warc.gz")
    assert outcomes(collection, "warc") == ["reported -", "ok -"]
    assert collection.check().is_sound


def test_a_revisit_of_another_page_reads_back_that_pages_bytes(
    collection: Collection, tmp_path: Path
) -> None:
    write(tmp_path / "a.warc.gz", [response(1), revisit(2, IDENTICAL, url=MISSING)])
    collection.import_history("warc", tmp_path / "a.warc.gz")
    assert collection.page(MISSING).snapshot(1).body == PAGE


def test_a_plain_file_becomes_members(collection: Collection, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(request(11, of=1) + response(1) + response(2, OTHER))
    done = collection.import_history("warc", tmp_path / "a")
    assert (done.visits, done.bad) == (2, 0)
    assert collection.page(URL).snapshot(-1).body == OTHER
    assert collection.check().is_sound
    assert is_read_by_others(collection)


def test_a_file_gzipped_as_a_whole_becomes_members(collection: Collection, tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(response(1) + response(2, OTHER) + revisit(3, IDENTICAL, OTHER)))
    done = collection.import_history("warc", path)
    assert (done.visits, done.bad) == (3, 0)
    assert outcomes(collection, "warc") == ["ok -", "ok 1", "ok 0"]
    assert collection.check().is_sound


def test_an_arc_file_comes_in(collection: Collection, tmp_path: Path) -> None:
    version = b"1 0 Somebody\nURL IP-address Archive-date Content-type Archive-length\n"
    parts = [
        b"filedesc://a.arc 0.0.0.0 20240101000000 text/plain %d\n" % len(version), version, b"\n",
        b"%s 1.2.3.4 20240102000000 text/html %d\n" % (URL.encode(), len(http(PAGE))),
        http(PAGE), b"\n",
    ]  # fmt: skip
    (tmp_path / "a.arc").write_bytes(b"".join(parts))
    first = collection.import_history("warc", tmp_path / "a.arc")
    again = collection.import_history("warc", tmp_path / "a.arc")
    assert (first.visits, again.visits, again.already_there) == (1, 0, 1)
    assert collection.page(URL).snapshot(1).body == PAGE
    assert collection.check().is_sound


def test_records_of_other_than_pages_are_left_out_and_counted(
    collection: Collection, tmp_path: Path
) -> None:
    lookup = raw("response", 1, b"20240101\nexample.org. 1.2.3.4", url="dns:example.org")
    write(tmp_path / "a.warc.gz", [lookup, response(2)])
    done = collection.import_history("warc", tmp_path / "a.warc.gz")
    assert (done.visits, done.bad) == (1, 0)
    assert done.notes == ["1 records of pages other than http(s) were skipped"]


def test_good_records_before_and_after_a_broken_one_are_kept(
    collection: Collection, tmp_path: Path
) -> None:
    members = write(tmp_path / "a.warc.gz", [response(1), response(2, OTHER), response(3)])
    broken = bytearray(members[1])
    broken[len(broken) // 2] ^= 0xFF
    (tmp_path / "a.warc.gz").write_bytes(members[0] + bytes(broken) + members[2])
    done = collection.import_history("warc", tmp_path / "a.warc.gz")
    assert (done.visits, done.bad) == (2, 1)
    assert done.bad_rows[0].place == f"a.warc.gz, offset {len(members[0])}"
    assert collection.catalog.bad_rows(1)[0].place == done.bad_rows[0].place
    assert collection.check().is_sound


def test_a_file_that_is_cut_short_keeps_its_whole_records(
    collection: Collection, tmp_path: Path
) -> None:
    members = write(tmp_path / "a.warc.gz", [response(1), response(2, OTHER)])
    (tmp_path / "a.warc.gz").write_bytes(members[0] + members[1][:-9])
    done = collection.import_history("warc", tmp_path / "a.warc.gz")
    assert (done.visits, done.bad) == (1, 1)


def test_a_file_without_any_record_is_refused_with_one_line(
    collection: Collection, tmp_path: Path
) -> None:
    (tmp_path / "a.warc.gz").write_bytes(b"not a web archive at all")
    with pytest.raises(BadInputError, match="no record can be read"):
        collection.import_history("warc", tmp_path / "a.warc.gz")
    assert collection.catalog.counts().visits == 0


def test_a_folder_of_files_is_one_import(collection: Collection, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    (folder / "deep").mkdir(parents=True)
    write(folder / "b.warc.gz", [response(1)])
    write(folder / "deep" / "a.warc.gz", [response(2, OTHER)])
    assert collection.import_history("warc", folder).visits == 2
    assert outcomes(collection, "warc") == ["ok -", "ok 1"]


def test_two_files_of_a_crawl_give_one_history_per_page(
    collection: Collection, tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    write(folder / "crawl-1.warc.gz", [response(1), response(4)])
    write(folder / "crawl-2.warc.gz", [response(2, OTHER), revisit(3, IDENTICAL, OTHER)])
    for number in (1, 2):
        collection.import_history("warc", folder / f"crawl-{number}.warc.gz")
    assert outcomes(collection, "warc") == ["ok -", "ok 1", "ok 0", "ok 1"]
    again = collection.import_history("warc", folder)
    assert (again.visits, again.already_there) == (0, 4)
    assert len(list(collection.pages())) == 1


def test_pages_that_were_imported_under_another_source_keep_it(
    collection: Collection, tmp_path: Path
) -> None:
    write(tmp_path / "a.warc.gz", [response(1)])
    collection.import_history("warc", tmp_path / "a.warc.gz", source="a")
    again = collection.import_history("warc", tmp_path / "a.warc.gz")
    assert (again.visits, again.already_there) == (0, 1)
    assert [page.source for page in collection.pages()] == ["a"]


@pytest.mark.parametrize("order", ["before", "after", "apart", "named by the response"])
def test_an_answer_to_a_post_is_no_page(collection: Collection, tmp_path: Path, order: str) -> None:
    posted, asked = response(2, OTHER), request(12, of=2, method="POST")
    page, get = response(1), request(11, of=1)
    if order == "named by the response":
        field = f"WARC-Concurrent-To: <{name(12)}>"
        posted = raw("response", 2, http(OTHER), "Content-Type: application/http", field)
        asked = request(12, of=2, named=False, method="POST")
    records = {
        "before": [get, page, asked, posted],
        "after": [page, get, posted, asked],
        "apart": [page, posted, get, asked],
    }.get(order, [page, get, asked, posted])
    write(tmp_path / "a.warc.gz", records)
    done = collection.import_history("warc", tmp_path / "a.warc.gz")
    assert (done.visits, done.bad) == (1, 0)
    assert done.notes == [
        "1 responses to requests other than GET (such as POST and HEAD) were skipped"
    ]
    assert collection.page(URL).snapshot(1).body == PAGE


def test_a_capture_that_was_cut_when_it_was_made_is_no_look(
    collection: Collection, tmp_path: Path
) -> None:
    cut = raw("response", 2, http(PAGE), "WARC-Truncated: length")
    write(tmp_path / "a.warc.gz", [response(1), cut])
    collection.import_history("warc", tmp_path / "a.warc.gz")
    rows = collection.page(URL).history()
    assert [row.visit.outcome for row in rows] == [Outcome.OK, Outcome.TOO_LARGE]


def test_files_are_closed_at_the_size_that_is_set(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FRESHET_ARCHIVE__FILE_BYTES", "1500")
    bodies = [PAGE + b"x" * number for number in range(9)]
    write(tmp_path / "a.warc.gz", [response(n, body) for n, body in enumerate(bodies, 1)])
    with Collection.open(collection.path, clock=collection.clock) as small:
        assert small.import_history("warc", tmp_path / "a.warc.gz").visits == 9
        files = list(small.archive_folder.glob("*.warc.gz"))
        assert len(files) > 2
        assert not [fault for path in files for fault in check_file(path)]
        assert small.check().is_sound
