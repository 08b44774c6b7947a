"""Old versions are thinned and pages purged; whatever stays can still be read."""

from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.archive.observation import HttpExchange, Observation
from freshet.archive.warc.build import (
    RevisitOriginal,
    build_identical_revisit,
    build_request,
    build_response,
)
from freshet.archive.warc.digest import sha1
from freshet.archive.warc.located_record import LocatedRecord
from freshet.archive.warc.read import read_records
from freshet.archive.warc.record import encode_record, uid_of_record_id
from freshet.collection.collection import Collection
from freshet.collection.prune import prunable_visits
from freshet.core.errors import DamagedError, UsageError
from freshet.core.types import Outcome, Snapshot
from freshet.record import rewrite
from tests.record.record_samples import (
    NOW,
    START,
    URL,
    bodies,
    html,
    make_collection,
    marks,
    observe,
    page_facts,
    record,
)

OTHER = "https://example.org/other"
MARKER = b"the-secret-of-this-page"


def everything(collection: Collection) -> bytes:
    items = [
        item for path in collection.archive_folder.glob("*.warc.gz") for item in read_records(path)
    ]
    assert all(isinstance(item, LocatedRecord) for item in items)
    return b"".join(
        item.record.target_uri.encode() + repr(item.record.headers).encode() + item.record.block
        for item in items
    )


def stored_bodies(collection: Collection, url: str = URL) -> list[bytes | None]:
    rows = collection.page(url).history()
    snapshots = [collection.snapshots.read(row.visit, url) for row in rows]
    return [snapshot and snapshot.body for snapshot in snapshots]


def visits(collection: Collection, url: str = URL) -> list:
    return [row.visit for row in collection.page(url).history()]


def test_first_last_and_the_last_of_each_period_stay(tmp_path: Path) -> None:
    days = [0, 1, 5, 30, 32, 40, 58, 65]
    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(day, html(f"day {day}")) for day in days])
        pruned = prunable_visits(visits(collection), NOW, "month")
        assert [(visit.time - START).days for visit in pruned] == [1, 5, 32, 40]
        recent = prunable_visits(visits(collection), START + timedelta(days=35), "month")
        assert [(visit.time - START).days for visit in recent] == [1, 5, 32]


def test_bytes_that_a_later_revisit_needs_stay(tmp_path: Path) -> None:
    texts = ["a", "b", "c", "b"]
    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(day, html(text)) for day, text in enumerate(texts)])
        collection.prune(timedelta(days=1), keep="year", apply=True)
        assert stored_bodies(collection) == [html("a"), html("b"), None, html("b")]
        assert collection.check().is_sound


def test_a_304_goes_with_the_version_that_it_refers_to(tmp_path: Path) -> None:
    http = HttpExchange(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    unchanged = HttpExchange(b"HTTP/1.1 304 Not Modified\r\n\r\n")
    with make_collection(tmp_path / "c") as collection:
        record(collection, [
            observe(day, html(text), exchange=http) if text
            else observe(day, outcome=Outcome.NOT_MODIFIED, exchange=unchanged)
            for day, text in enumerate(["a", "", "b", "", "c", ""])
        ])  # fmt: skip
        done = collection.prune(timedelta(days=1), keep="year", apply=True)
        assert done.versions == 1
        there = [
            records.record
            for path in collection.archive_folder.glob("*.gz")
            for records in read_records(path)
        ]
        responses = {f"<{records.id}>" for records in there if records.type == "response"}
        referred = [
            records.field("WARC-Refers-To") for records in there if records.type == "revisit"
        ]
        assert len(referred) == 2
        assert set(referred) <= responses
        assert len(marks(collection)) == 6
        assert collection.check().is_sound


def test_without_apply_nothing_goes(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(day, html(f"day {day}")) for day in range(5)])
        planned = collection.prune(timedelta(days=1), keep="year", apply=False)
        assert (planned.versions, planned.pages, planned.freed_bytes) == (3, 1, 0)
        assert len(bodies(collection)) == 5
        done = collection.prune(timedelta(days=1), keep="year", apply=True)
        assert (done.versions, done.pages) == (3, 1)
        assert done.freed_bytes > 0
        assert len(marks(collection)) == 5


def test_an_unknown_period_is_refused(tmp_path: Path) -> None:
    with (
        make_collection(tmp_path / "c") as collection,
        pytest.raises(UsageError, match="day, week"),
    ):
        collection.prune(timedelta(days=1), keep="decade", apply=False)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    history=st.lists(st.tuples(st.integers(0, 90), st.integers(0, 4)), min_size=1, max_size=12),
    period=st.sampled_from(["day", "week", "month", "year"]),
    age=st.integers(0, 100),
)
def test_after_a_prune_every_version_that_stays_can_be_read(history, period, age) -> None:
    observations = {day: observe(day, html(f"text {kind}")) for day, kind in history}
    with TemporaryDirectory() as folder, make_collection(Path(folder) / "c") as collection:
        record(collection, list(observations.values()))
        before, summary = stored_bodies(collection), page_facts(collection)
        cut = START + timedelta(days=age)
        pruned = {visit.uid for visit in prunable_visits(visits(collection), cut, period)}
        collection.prune(NOW - cut, keep=period, apply=True)
        for visit, old, new in zip(
            visits(collection), before, stored_bodies(collection), strict=True
        ):
            assert new == (None if visit.uid in pruned else old)
        assert page_facts(collection) == summary
        assert collection.check().is_sound


def test_measuring_again_after_a_prune_alters_no_row(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        texts = [html("a", "1"), html("b", "1", "2"), html("c", "3"), html("d", "1", "3")]
        record(collection, [observe(day, text) for day, text in enumerate(texts)])
        collection.prune(timedelta(days=1), keep="year", apply=True)
        assert None in stored_bodies(collection)
        before = page_facts(collection)
        collection.measure_again()
        assert page_facts(collection) == before


def test_a_late_visit_beside_pruned_ones_keeps_links_right(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        texts = [html("a", "1"), html("b", "1", "2"), html("c", "3"), html("d", "1", "3")]
        record(collection, [observe(2 * day, text) for day, text in enumerate(texts)])
        links = [row[-1] for row in page_facts(collection)]
        collection.prune(timedelta(days=1), keep="year", apply=True)
        record(collection, [observe(3, html("late", "9"))])
        after = [row[-1] for row in page_facts(collection)]
        assert after == [*links[:2], ["https://example.org/9"], *links[2:]]


def secret(day: int) -> Observation:
    """Return a capture with its request, both of which hold the marker."""
    time = datetime.fromisoformat(f"2024-02-{day:02}T00:00:00+00:00")
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    body = html(f"{MARKER.decode()} {day}")
    answer = build_response(URL, time, head + body)
    request = build_request(b"GET / HTTP/1.1\r\nCookie: " + MARKER + b"\r\n\r\n", response=answer)
    snapshot = Snapshot(URL, body, 200, (("Content-Type", "text/html"),))
    return Observation(
        URL,
        "",
        time,
        uid_of_record_id(answer.id),
        snapshot,
        status=200,
        raw_record=encode_record(answer),
        companion_records=(encode_record(request),),
    )


def test_a_purge_leaves_no_byte_of_the_page(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        others = [observe(day, html(f"other {day}"), url=OTHER) for day in (31, 33, 90)]
        record(collection, [*others, secret(1), secret(2)])
        assert MARKER in everything(collection)
        said = page_facts(collection, OTHER)
        page = collection.page(URL)
        assert collection.remove([page], purge=True) > 0
        assert MARKER not in everything(collection)
        assert URL.encode() not in everything(collection)
        assert page_facts(collection, OTHER) == said
        assert len(bodies(collection, OTHER)) == 3
        assert collection.check().is_sound
        assert [page.url for page in collection.pages()] == [OTHER]


def test_a_purged_page_can_be_added_again(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(1, html("one")), observe(2, html("two"))])
        collection.remove([collection.page(URL)], purge=True)
        record(collection, [observe(1, html("one"))])
        assert bodies(collection) == [html("one")]
        assert collection.check().is_sound


def captured(url: str, day: int, *, again: bool = False) -> Observation:
    """Return a foreign capture of some bytes, or a revisit that only refers to them."""
    time = START + timedelta(days=day)
    head, body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", html("shared")
    if not again:
        record = build_response(url, time, head + body)
        seen = Snapshot(url, body, 200, (("Content-Type", "text/html"),))
        return Observation(
            url,
            "",
            time,
            uid_of_record_id(record.id),
            seen,
            status=200,
            raw_record=encode_record(record),
        )
    record = build_identical_revisit(url, time, head, RevisitOriginal("", URL, START), sha1(body))
    earlier = record.field("WARC-Payload-Digest")
    raw = encode_record(record)
    return Observation(
        url,
        "",
        time,
        uid_of_record_id(record.id),
        status=200,
        raw_record=raw,
        original_digest=earlier,
    )


def test_a_purge_that_would_take_another_pages_bytes_is_refused(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, [captured(URL, 1)], [captured(OTHER, 2, again=True)])
        with pytest.raises(UsageError, match=f"{OTHER}.*purge these pages together"):
            collection.remove([collection.page(URL)], purge=True)
        assert stored_bodies(collection) == stored_bodies(collection, OTHER) == [html("shared")]
        collection.remove([collection.page(URL), collection.page(OTHER)], purge=True)
        assert list(collection.pages()) == []
        assert b"shared" not in everything(collection)


def test_a_purge_is_allowed_where_the_bytes_are_kept_elsewhere(tmp_path: Path) -> None:
    third = "https://example.org/third"
    with make_collection(tmp_path / "c") as collection:
        record(collection, [captured(URL, 1)], [captured(OTHER, 2, again=True)])
        record(collection, [captured(third, 3)])
        collection.remove([collection.page(URL)], purge=True)
        assert (
            stored_bodies(collection, OTHER) == stored_bodies(collection, third) == [html("shared")]
        )
        assert collection.check().is_sound


def test_a_prune_spares_what_another_pages_revisit_needs(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        own = [observe(day, html(f"day {day}")) for day in (0, 2, 3, 4)]
        record(collection, [*own, captured(URL, 1)], [captured(OTHER, 2, again=True)])
        collection.prune(timedelta(days=1), keep="year", apply=True)
        assert stored_bodies(collection)[1:3] == [html("shared"), None]
        assert stored_bodies(collection, OTHER) == [html("shared")]
        assert collection.check().is_sound


def test_a_removed_page_keeps_its_history(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(1, html("one"))])
        assert collection.remove([collection.page(URL)]) == 0
        assert list(collection.pages()) == []
        collection.add(URL)
        assert bodies(collection) == [html("one")]


@pytest.mark.parametrize("step", ["_write_selected", "note_replacement", "finish_replacement"])
def test_a_failure_between_the_steps_of_a_rewrite_is_made_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(day, html(f"day {day}")) for day in range(5)])
        before = page_facts(collection)
        with monkeypatch.context() as patch:
            patch.setattr(rewrite, step, fail)
            with pytest.raises(KeyboardInterrupt):
                collection.prune(timedelta(days=1), keep="year", apply=True)
        record(collection, [])
        assert collection.check().is_sound
        collection.prune(timedelta(days=1), keep="year", apply=True)
        assert [body is None for body in stored_bodies(collection)] == [
            False,
            True,
            True,
            True,
            False,
        ]
        assert page_facts(collection) == before
        assert len(list(collection.archive_folder.glob("*.warc.gz"))) == 1


def test_a_damaged_file_is_not_rewritten_before_its_repair(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(day, html(f"day {day}")) for day in range(5)])
        location = visits(collection)[2].location
        path = collection.archive_folder / location.file
        content = bytearray(path.read_bytes())
        content[location.offset + 40] ^= 0xFF
        path.write_bytes(content)
        with pytest.raises(DamagedError, match="check --repair"):
            collection.prune(timedelta(days=1), keep="year", apply=True)
        assert path.read_bytes() == content
        collection.repair()
        collection.prune(timedelta(days=1), keep="year", apply=True)
        assert collection.check().is_sound
