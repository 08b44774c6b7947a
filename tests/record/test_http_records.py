"""An HTTP answer is stored as an HTTP response; other content is stored as a resource."""

import warnings
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from warcio.archiveiterator import ArchiveIterator

from freshet.archive.observation import HttpExchange, Observation
from freshet.archive.warc.build import RevisitOriginal, build_not_modified_revisit, build_response
from freshet.archive.warc.record import encode_record
from freshet.collection.collection import Collection
from freshet.core.types import Outcome
from tests.record.record_samples import (
    START,
    URL,
    bodies,
    delete_visit_rows,
    html,
    make_collection,
    marks,
    observe,
    page_facts,
    record,
)

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    from fastwarc.warc import ArchiveIterator as FastwarcIterator
    from fastwarc.warc import WarcRecordType

REQUEST = b"GET /news HTTP/1.1\r\nHost: example.org\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n"
FETCHED = HttpExchange(HEAD, REQUEST, (("fetchTimeMs", "12"),))
UNCHANGED = HttpExchange(b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n', REQUEST)


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    with make_collection(tmp_path / "c") as opened:
        yield opened


def not_modified(day: float, http: HttpExchange | None = UNCHANGED) -> Observation:
    return replace(observe(day, outcome=Outcome.NOT_MODIFIED, exchange=http), status=304)


def archived(collection: Collection) -> list[tuple[str, dict[str, Any], bytes]]:
    """Return the records behind the opening ones, as warcio reads them."""
    record = []
    for path in sorted(collection.archive_folder.glob("*.warc.gz")):
        with path.open("rb") as file:
            for entry in ArchiveIterator(file, check_digests="raise"):
                content = entry.content_stream().read()
                record.append((entry.rec_type, dict(entry.rec_headers.headers), content))
    return [item for item in record if item[0] != "warcinfo"]


def test_a_fetch_is_a_response_with_its_request_and_facts(collection: Collection) -> None:
    record(collection, [observe(1, html("one"), exchange=FETCHED)])
    answer, request, metadata = archived(collection)
    assert [item[0] for item in (answer, request, metadata)] == ["response", "request", "metadata"]
    assert answer[2] == html("one")
    assert metadata[2] == b"fetchTimeMs: 12\r\n"
    for companion in (request, metadata):
        assert companion[1]["WARC-Concurrent-To"] == answer[1]["WARC-Record-ID"]
    assert bodies(collection) == [html("one")]
    assert collection.check().is_sound


def test_the_head_is_kept_as_received_but_for_the_transfer_coding(
    collection: Collection,
) -> None:
    record(collection, [observe(1, html("one"), exchange=FETCHED)])
    headers = collection.page(URL).snapshot(1).headers
    assert headers == (("Content-Type", "text/html"), ("X", "y"))


def test_what_came_without_http_is_a_resource(collection: Collection) -> None:
    record(collection, [observe(1, html("one"))])
    [(kind, headers, body)] = archived(collection)
    assert (kind, headers["Content-Type"], body) == ("resource", "text/html", html("one"))


def test_the_same_bytes_fetched_again_keep_their_head_and_request(
    collection: Collection,
) -> None:
    record(collection, [observe(day, html("one"), exchange=FETCHED) for day in (1, 2)])
    kinds = [kind for kind, _, _ in archived(collection)]
    assert kinds == ["response", "request", "metadata", "revisit", "request", "metadata"]
    assert bodies(collection) == [html("one")] * 2


@pytest.mark.parametrize("apart", [False, True])
def test_a_304_is_a_revisit_that_refers_to_the_last_look(
    collection: Collection, apart: bool
) -> None:
    looks = [observe(day, html(f"day {day}"), exchange=FETCHED) for day in (1, 2)]
    record(collection, *([looks, [not_modified(3)]] if apart else [[*looks, not_modified(3)]]))
    last, revisit = archived(collection)[3], archived(collection)[6]
    assert revisit[0] == "revisit"
    assert revisit[1]["WARC-Profile"].endswith("/server-not-modified")
    assert revisit[1]["WARC-Refers-To"] == last[1]["WARC-Record-ID"]
    assert revisit[1]["WARC-Refers-To-Date"] == last[1]["WARC-Date"]
    visit = collection.page(URL).history()[-1].visit
    assert (visit.outcome, visit.status) == (Outcome.NOT_MODIFIED, 304)
    assert (visit.digest, visit.size) == (None, None)
    assert visit.location is not None
    assert marks(collection)[-1] == (Outcome.NOT_MODIFIED, False)
    assert collection.check().is_sound


def test_a_late_304_refers_to_the_look_before_it(collection: Collection) -> None:
    record(collection, [observe(day, html(f"day {day}"), exchange=FETCHED) for day in (1, 4)])
    record(collection, [not_modified(2)])
    revisit = next(headers for kind, headers, _ in archived(collection) if kind == "revisit")
    assert revisit["WARC-Refers-To-Date"].startswith(f"{START:%Y-%m}-02")


def test_a_304_without_a_look_before_is_kept_as_it_came(collection: Collection) -> None:
    record(collection, [not_modified(1)])
    assert [kind for kind, _, _ in archived(collection)] == ["response", "request"]
    assert marks(collection) == [(Outcome.NOT_MODIFIED, None)]
    assert collection.check().is_sound


def test_a_304_whose_row_a_crash_took_is_adopted_without_a_payload(
    collection: Collection,
) -> None:
    record(collection, [not_modified(1)])
    before = page_facts(collection)
    delete_visit_rows(collection, [row.visit.id for row in collection.page(URL).history()])
    record(collection, [])
    assert page_facts(collection) == before


def test_a_304_without_http_leaves_no_record(collection: Collection) -> None:
    record(collection, [observe(1, html("one")), not_modified(2, None)])
    assert [kind for kind, _, _ in archived(collection)] == ["resource"]


def test_fetches_whose_rows_a_crash_took_are_adopted_as_they_were(
    collection: Collection,
) -> None:
    gone = HttpExchange(b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n", REQUEST)
    record(
        collection,
        [
            observe(1, html("one"), exchange=FETCHED),
            not_modified(2),
            observe(3, b"<h1>Not found</h1>", status=404, exchange=gone),
        ],
    )
    before = page_facts(collection)
    delete_visit_rows(collection, [row.visit.id for row in collection.page(URL).history()])
    record(collection, [])
    assert page_facts(collection) == before


def fields_of(collection: Collection, kind: str) -> list[list[tuple[str, str]]]:
    """Return the WARC fields of each record of a type, as they stand."""
    record = b"".join(
        path.read_bytes() for path in sorted(collection.archive_folder.glob("*.warc.gz"))
    )
    records = ArchiveIterator(BytesIO(record), check_digests="raise")
    return [list(entry.rec_headers.headers) for entry in records if entry.rec_type == kind]


def test_a_304_has_all_that_replay_programs_need_to_show_the_original(
    collection: Collection,
) -> None:
    record(collection, [observe(1, html("one"), exchange=FETCHED)], [not_modified(2)])
    original, revisit = (dict(fields_of(collection, kind)[0]) for kind in ("response", "revisit"))
    assert revisit["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    assert revisit["WARC-Refers-To"] == original["WARC-Record-ID"]
    assert revisit["WARC-Refers-To-Target-URI"] == original["WARC-Target-URI"]
    assert revisit["WARC-Refers-To-Date"] == original["WARC-Date"]
    assert revisit["WARC-Payload-Digest"] == original["WARC-Payload-Digest"]
    names = [name for name, _ in fields_of(collection, "revisit")[0]]
    assert len(set(names)) == len(names)


def test_a_304_has_the_http_header_of_the_original_and_its_own_in_a_field(
    collection: Collection,
) -> None:
    record(collection, [observe(1, html("one"), exchange=FETCHED)], [not_modified(2)])
    whole = b"".join(
        path.read_bytes() for path in sorted(collection.archive_folder.glob("*.warc.gz"))
    )
    wanted = WarcRecordType.response | WarcRecordType.revisit
    heads = [
        (found.http_headers.status_line, found.http_headers.asdict())
        for found in FastwarcIterator(BytesIO(whole), record_types=wanted, parse_http=True)
    ]
    assert heads[0] == heads[1] == ("HTTP/1.1 200 OK", {"Content-Type": "text/html", "X": "y"})
    [revisit] = fields_of(collection, "revisit")
    assert unquote_to_bytes(dict(revisit)["WARC-Freshet-Not-Modified"]) == UNCHANGED.response_head


def test_a_304_with_an_endless_header_is_a_record_that_all_can_read(
    collection: Collection,
) -> None:
    huge = HttpExchange(
        b"HTTP/1.1 304 Not Modified\r\nX: " + b"\xff" * 2_000_000 + b"\r\n\r\n", REQUEST
    )
    record(collection, [observe(1, html("one"), exchange=FETCHED)], [not_modified(2, huge)])
    assert len(fields_of(collection, "revisit")) == 1
    assert collection.check().is_sound


def test_same_bytes_and_304s_in_a_row_all_refer_to_the_record_that_has_the_bytes(
    collection: Collection,
) -> None:
    looks = [observe(day, html("one"), exchange=FETCHED) for day in (1, 2)]
    record(collection, looks, [not_modified(3)], [not_modified(4)])
    [original] = fields_of(collection, "response")
    refers = {dict(fields)["WARC-Refers-To"] for fields in fields_of(collection, "revisit")}
    assert refers == {dict(original)["WARC-Record-ID"]}
    assert collection.check().is_sound


def test_a_304_as_it_was_written_before_is_still_understood(
    collection: Collection, tmp_path: Path
) -> None:
    first = build_response(
        URL, START, b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + html("one")
    )
    old = build_not_modified_revisit(
        URL,
        START.replace(day=2),
        UNCHANGED.response_head,
        RevisitOriginal(first.id, URL, first.date),
    )
    (tmp_path / "old.warc.gz").write_bytes(encode_record(first) + encode_record(old))
    collection.import_history("warc", tmp_path / "old.warc.gz", source="")
    assert marks(collection) == [(Outcome.OK, None), (Outcome.NOT_MODIFIED, False)]
    assert collection.page(URL).history()[-1].visit.status == 304
    assert collection.check().is_sound
    record(collection, [not_modified(3)])
    assert dict(fields_of(collection, "revisit")[-1])["WARC-Refers-To"] == f"<{first.id}>"
    assert collection.check().is_sound


def test_bytes_whose_first_record_was_damaged_meanwhile_are_kept_again(
    collection: Collection,
) -> None:
    with collection.recording() as recorder:
        recorder.record([observe(1, html("one"), exchange=FETCHED)])
        [path] = collection.archive_folder.glob("*.warc.gz.open")
        location = collection.page(URL).history()[0].visit.location
        with path.open("r+b") as file:
            file.seek(location.offset + location.length // 2)
            file.write(bytes(8))
        recorder.record([observe(2, html("one"), exchange=FETCHED)])
    assert collection.page(URL).snapshot(2).body == html("one")
