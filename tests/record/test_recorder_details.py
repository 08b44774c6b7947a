"""The metadata of a recorded visit, and the fields of its records."""

from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from freshet.archive.observation import HttpExchange
from freshet.archive.warc.build import build_response
from freshet.archive.warc.digest import format_digest, sha1
from freshet.archive.warc.record import FINAL_FIELD, OUTCOME_FIELD, PAGE_FIELD, encode_record
from freshet.collection.collection import Collection
from freshet.core.types import Outcome, Snapshot
from freshet.record.record_store import synthetic_head
from tests.record.record_samples import (
    CLOCK,
    HTML,
    START,
    URL,
    html,
    make_collection,
    marks,
    observe,
    record,
)
from tests.record.test_fault_isolation import fail_to_parse
from tests.record.test_http_records import FETCHED, archived, not_modified


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    with make_collection(tmp_path / "c") as opened:
        yield opened


def opening(collection: Collection) -> list[tuple[dict[str, str], bytes]]:
    """Return the headers and content of the records that open archive files."""
    records = []
    for path in sorted(collection.archive_folder.glob("*.warc.gz")):
        with path.open("rb") as file:
            entry = next(iter(ArchiveIterator(file)))
            records.append((dict(entry.rec_headers.headers), entry.content_stream().read()))
    return records


def test_the_validators_of_an_answer_are_kept_for_the_next_request(
    collection: Collection,
) -> None:
    headers = (*HTML, ("etag", '"7"'), ("last-modified", "Mon, 01 Jan 2024 00:00:00 GMT"))
    record(collection, [replace(observe(1, html("one")), snapshot=snapshot_with(headers))])
    page = collection.page(URL).id
    conditions = collection.catalog.cache_validators([page])[page]
    assert (conditions.etag, conditions.last_modified) == ('"7"', "Mon, 01 Jan 2024 00:00:00 GMT")


def test_the_validators_of_a_304_take_the_place_of_those_before(
    collection: Collection,
) -> None:
    head = b'HTTP/1.1 304 Not Modified\r\nETag: "a:b"\r\nLast-Modified: Mon, 1:00\r\n\r\n'
    look = replace(observe(1, html("one")), snapshot=snapshot_with((*HTML, ("etag", '"7"'))))
    record(collection, [look, not_modified(2, HttpExchange(head, b""))])
    page = collection.page(URL).id
    conditions = collection.catalog.cache_validators([page])[page]
    assert (conditions.etag, conditions.last_modified) == ('"a:b"', "Mon, 1:00")


def test_a_visit_that_found_nothing_to_compare_refers_to_no_other(
    collection: Collection,
) -> None:
    record(collection, [observe(1, html("one")), observe(2, outcome=Outcome.TIMEOUT)])
    assert [row.since for row in collection.page(URL).history()] == [None, None]


def test_a_revisit_shows_the_bytes_that_the_archive_has_for_it(
    collection: Collection,
) -> None:
    record(collection, [observe(1, html("one")), observe(2, html("two"))])
    digests = [format_digest(sha1(html(text))) for text in ("one", "never seen")]
    record(
        collection,
        [observe(day, original_digest=digest) for day, digest in zip((3, 4), digests, strict=True)],
    )
    assert marks(collection)[2:] == [(Outcome.OK, True), (Outcome.REPORTED, None)]


def test_visits_of_two_sources_are_of_two_pages(collection: Collection) -> None:
    record(collection, [observe(1, html("one")), observe(2, html("two"), source="elsewhere")])
    counts = [len(collection.page(URL, source=name).history()) for name in ("", "elsewhere")]
    assert counts == [1, 1]


def test_another_visit_under_the_same_identity_is_not_counted_as_known(
    collection: Collection,
) -> None:
    first, other_observation = observe(1, html("one")), observe(2, html("two"))
    with collection.recording() as recorder:
        batch = recorder.record([first, first, replace(other_observation, uid=first.uid)])
    assert (batch.visit_count, batch.known_count, len(batch.duplicates)) == (1, 1, 1)


def test_a_look_reported_without_bytes_is_a_report(collection: Collection) -> None:
    record(collection, [observe(1, outcome=Outcome.OK)])
    assert marks(collection) == [(Outcome.REPORTED, None)]


def test_the_observed_status_overrides_that_of_the_stored_bytes(
    collection: Collection,
) -> None:
    record(collection, [replace(observe(1, html("one")), status=410)])
    assert marks(collection) == [(Outcome.GONE, None)]


def test_an_archive_file_says_who_made_it_of_what_and_when(collection: Collection) -> None:
    record(collection, [observe(1, html("one"), source="elsewhere")])
    [path] = collection.archive_folder.glob("*.warc.gz")
    [(headers, content)] = opening(collection)
    lines = dict(line.split(": ", 1) for line in content.decode().splitlines())
    assert lines["software"].startswith("Freshet/")
    assert lines["http-header-from"] == "a@example.org"
    assert lines["isPartOf"] == "elsewhere"
    assert headers["WARC-Date"].startswith(f"{CLOCK.now():%Y-%m-%dT%H:%M}")
    assert f"{CLOCK.now():%Y%m%d}" in path.name


def test_a_record_says_of_its_visit_only_what_it_does_not_show(
    collection: Collection,
) -> None:
    record(collection, [observe(1, html("one"), exchange=FETCHED), not_modified(2)])
    own = {PAGE_FIELD, FINAL_FIELD, OUTCOME_FIELD}
    assert [own & headers.keys() for _, headers, _ in archived(collection)] == [set()] * 5


def test_bytes_of_an_unknown_kind_are_a_resource_of_that_kind(collection: Collection) -> None:
    record(collection, [replace(observe(1, html("one")), snapshot=snapshot_with(()))])
    [(_, headers, _)] = archived(collection)
    assert headers["Content-Type"] == "application/octet-stream"


def test_bytes_that_an_earlier_run_kept_are_not_kept_again(collection: Collection) -> None:
    for day in (1, 2):
        record(collection, [observe(day, html("one"), exchange=FETCHED)])
    kinds = [kind for kind, _, _ in archived(collection)]
    assert (kinds.count("response"), kinds.count("revisit")) == (1, 1)


def test_records_with_rows_are_forgotten(collection: Collection) -> None:
    with collection.recording() as recorder:
        recorder.record([observe(day, html("one")) for day in (1, 2)])
        assert not recorder._record_store._unacknowledged


def test_a_304_of_what_came_without_http_has_no_header_but_its_own(
    collection: Collection,
) -> None:
    record(collection, [observe(1, html("one")), not_modified(2)])
    original, revisit, _ = archived(collection)
    assert revisit[1]["WARC-Refers-To"] == original[1]["WARC-Record-ID"]
    assert revisit[1]["Content-Length"] == "0"
    assert collection.check().is_sound


def test_a_304_refers_to_a_look_of_the_same_moment(collection: Collection) -> None:
    record(collection, [observe(1, html("one"), exchange=FETCHED), not_modified(1)])
    assert [kind for kind, _, _ in archived(collection)].count("revisit") == 1


def test_copied_records_lie_in_a_file_of_their_source(
    collection: Collection, tmp_path: Path
) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    (tmp_path / "old.warc.gz").write_bytes(
        encode_record(build_response(URL, START, head + html("one")))
    )
    collection.import_history("warc", tmp_path / "old.warc.gz", source="elsewhere")
    [(_, content)] = opening(collection)
    assert b"isPartOf: elsewhere\r\n" in content


def test_a_304_whose_original_was_lost_still_refers_to_it(collection: Collection) -> None:
    record(collection, [observe(1, html("one"), exchange=FETCHED)])
    [original, *_] = archived(collection)
    for path in collection.archive_folder.glob("*.warc.gz"):
        path.unlink()
    record(collection, [not_modified(2)])
    revisit, _ = archived(collection)
    assert (revisit[0], revisit[1]["WARC-Target-URI"]) == ("revisit", URL)
    assert revisit[1]["WARC-Refers-To"] == original[1]["WARC-Record-ID"]
    assert revisit[1]["WARC-Date"].startswith("2024-01-03")


def test_a_header_of_several_lines_or_odd_bytes_can_be_written() -> None:
    snapshot = Snapshot(URL, b"", 404, (("a", "b\r\nc"), ("d", "\udcff")))
    assert synthetic_head(snapshot) == b"HTTP/1.1 404 \r\na: b c\r\nd: \xff\r\n\r\n"


def test_a_page_that_cannot_be_read_keeps_its_visit_though_it_was_removed(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = collection.add(URL)
    fail_to_parse(monkeypatch, lambda snapshot: b"two" in snapshot.body)
    with collection.recording() as recorder:
        recorder.record([observe(1, html("one"), exchange=FETCHED)])
        collection.remove([page])
        batch = recorder.record([observe(2, html("two"), exchange=FETCHED)])
    assert (batch.visit_count, batch.unusable) == (1, ())
    [_, row] = collection.page(URL, removed=True).history()
    assert (row.visit.outcome, row.visit.media_type) == (Outcome.UNREADABLE, "text/html")
    assert row.visit.digest == sha1(html("two"))
    answers = [headers for kind, headers, _ in archived(collection) if kind == "response"]
    assert [headers["WARC-Target-URI"] for headers in answers] == [URL, URL]


def test_a_page_that_cannot_be_read_nor_stored_has_failed_all_the_same(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_to_parse(monkeypatch, lambda snapshot: True)
    with collection.recording() as recorder:
        monkeypatch.setattr("freshet.record.record_store.synthetic_head", fail)
        batch = recorder.record([observe(1, html("one"))])
    assert (batch.visit_count, batch.unusable) == (1, ())
    assert marks(collection) == [(Outcome.UNREADABLE, None)]


def fail(*_: object) -> bytes:
    raise ZeroDivisionError


def snapshot_with(headers: tuple[tuple[str, str], ...]) -> Snapshot:
    return Snapshot(URL, html("one"), 200, headers)
