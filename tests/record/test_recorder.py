"""Observations become visits, and each look is compared with the one before it."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.archive.observation import Observation
from freshet.archive.warc.read import read_record
from freshet.collection.collection import Collection
from freshet.core.types import Change, Outcome, Snapshot
from tests.record.record_samples import (
    START,
    URL,
    bodies,
    html,
    make_collection,
    marks,
    observe,
    record,
    uid_of,
)


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    with make_collection(tmp_path / "c") as opened:
        yield opened


def record_types(collection: Collection) -> list[str]:
    locations = [row.visit.location for row in collection.page(URL).history()]
    return [
        read_record(
            collection.archive_folder / location.file, location.offset, location.length
        ).type
        for location in locations
        if location
    ]


def test_a_first_look_is_the_reference(collection: Collection) -> None:
    record(collection, [observe(1, html("one", "a"))])
    [row] = collection.page(URL).history()
    assert row.change is None
    assert row.view.title == "t"
    assert collection.catalog.links_at(row.visit.page) == {"https://example.org/a"}


def test_a_second_text_is_a_change_with_its_links(collection: Collection) -> None:
    record(collection, [observe(1, html("one", "a", "b")), observe(2, html("two", "b", "c"))])
    first, second = collection.page(URL).history()
    change = second.change
    assert (change.changed, change.bytes, change.text, change.links) == (True, True, True, True)
    assert (change.new_internal, change.new_external, change.never_seen) == (1, 0, 1)
    assert (second.removed_links, second.since) == (1, first.visit.id)


def test_a_link_that_comes_back_was_seen_before(collection: Collection) -> None:
    texts = [html("one", "a"), html("two"), html("three", "a", "b")]
    record(collection, [observe(day, body) for day, body in enumerate(texts)])
    last = collection.page(URL).history()[-1].change
    assert (last.new_internal, last.never_seen) == (2, 1)


def test_the_same_bytes_become_a_revisit_that_reads_back(collection: Collection) -> None:
    record(
        collection, [observe(1, html("one")), observe(2, html("one"))], [observe(3, html("one"))]
    )
    assert record_types(collection) == ["resource", "revisit", "revisit"]
    assert bodies(collection) == [html("one")] * 3
    assert marks(collection) == [(Outcome.OK, None), (Outcome.OK, False), (Outcome.OK, False)]


def test_the_same_bytes_of_two_pages_are_kept_for_each(collection: Collection) -> None:
    other_url = "https://example.org/other"
    record(collection, [observe(1, html("one")), observe(2, html("one"), url=other_url)])
    assert bodies(collection) == bodies(collection, other_url) == [html("one")]
    assert record_types(collection) == ["resource"]


def test_a_page_that_is_gone_and_comes_back_has_changed(collection: Collection) -> None:
    missing = observe(2, b"<h1>Not found</h1>", status=404)
    record(collection, [observe(1, html("one")), missing, observe(3, html("one"))])
    assert marks(collection) == [(Outcome.OK, None), (Outcome.GONE, None), (Outcome.OK, True)]


@pytest.mark.parametrize("reopen", [False, True])
def test_a_failure_does_not_hide_that_a_page_was_gone(collection: Collection, reopen: bool) -> None:
    before = [observe(1, html("one")), observe(2, outcome=Outcome.GONE, status=410)]
    before += [observe(3, outcome=Outcome.TIMEOUT)]
    after = [observe(4, html("one"))]
    if reopen:
        record(collection, before)
        record(collection, after)
    else:
        record(collection, before + after)
    assert marks(collection)[-1] == (Outcome.OK, True)


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (b"", Outcome.EMPTY),
        (b"<title>Just a moment...</title>", Outcome.CAPTCHA),
        (b"<title>Page not found</title><p>Page not found</p>", Outcome.SOFT_404),
    ],
)
def test_an_answer_without_content_is_an_outcome_and_not_a_look(
    collection: Collection, body: bytes, outcome: Outcome
) -> None:
    record(collection, [observe(1, html("one")), observe(2, body), observe(3, html("one"))])
    assert marks(collection) == [(Outcome.OK, None), (outcome, None), (Outcome.OK, False)]
    assert len(collection.page(URL).versions) == 2


def test_not_modified_is_a_look_that_found_nothing(collection: Collection) -> None:
    still = observe(2, outcome=Outcome.NOT_MODIFIED, status=304)
    record(collection, [observe(1, html("one")), still, observe(3, html("two"))])
    rows = collection.page(URL).history()
    assert [changed for _, changed in marks(collection)] == [None, False, True]
    assert rows[1].since == rows[2].since == rows[0].visit.id
    assert rows[1].visit.location is None


def test_not_modified_without_a_look_before_compares_nothing(collection: Collection) -> None:
    record(collection, [observe(1, outcome=Outcome.NOT_MODIFIED)])
    assert marks(collection) == [(Outcome.NOT_MODIFIED, None)]


def test_a_reported_observation_keeps_its_change(collection: Collection) -> None:
    reported_change = Change(True, new_external=3)
    record(
        collection,
        [
            observe(1, outcome=Outcome.REPORTED),
            observe(2, outcome=Outcome.REPORTED, change=reported_change),
        ],
    )
    rows = collection.page(URL).history()
    assert [row.change for row in rows] == [None, reported_change]
    assert [row.visit.location for row in rows] == [None, None]


def test_reported_observations_leave_the_comparison_of_looks_alone(
    collection: Collection,
) -> None:
    report = observe(2, outcome=Outcome.REPORTED, change=Change(True))
    record(collection, [observe(1, html("one")), report], [observe(3, html("one"))])
    assert [changed for _, changed in marks(collection)] == [None, True, False]


def test_a_final_url_is_the_base_of_links_and_a_move_is_a_fact(
    collection: Collection,
) -> None:
    relative = b"<p>some words to read here</p><a href='x'>x</a>"
    moved = "https://example.org/deep/news"
    record(collection, [observe(1, relative), observe(2, relative, final_url=moved)])
    first, second = collection.page(URL).history()
    assert second.visit.final_url == moved
    assert second.change.moved
    assert collection.catalog.links_at(first.visit.page) == {"https://example.org/deep/x"}


def test_importance_becomes_a_setting_of_the_page(collection: Collection) -> None:
    record(collection, [observe(1, outcome=Outcome.REPORTED, importance=2.5)])
    assert collection.settings_for(collection.page(URL)).importance == 2.5


def test_a_visit_that_is_known_is_not_doubled(collection: Collection) -> None:
    batch = [observe(1, html("one")), observe(2, html("two"))]
    with collection.recording() as recorder:
        first = recorder.record(batch)
        again = recorder.record(batch)
        twice = recorder.record([observe(3, html("x")), observe(3, html("x"))])
    assert (first.visit_count, again.visit_count, twice.visit_count) == (2, 0, 1)
    assert (again.known_count, twice.known_count) == (2, 1)
    assert len(bodies(collection)) == 3
    assert collection.check().is_sound


def test_an_observation_without_a_usable_url_is_returned(collection: Collection) -> None:
    bad = Observation("", "", START, uid_of("bad"), Snapshot("", b"x"))
    with collection.recording() as recorder:
        batch = recorder.record([bad, observe(1, html("one"))])
    assert (batch.visit_count, batch.known_count, batch.unusable) == (1, 0, (bad,))


def test_counts_as_decides_what_changed(collection: Collection) -> None:
    page = collection.add(URL)
    collection.change_settings(page, [("counts_as", "links")])
    texts = [html("one", "a"), html("two", "a"), html("two", "b")]
    record(collection, [observe(day, body) for day, body in enumerate(texts)])
    rows = collection.page(URL).history()
    assert [row.change.changed for row in rows[1:]] == [False, True]
    assert [row.change.text for row in rows[1:]] == [True, False]


def test_sources_that_alternate_share_few_files(collection: Collection) -> None:
    batch = [observe(day, html(f"day {day}"), source="ab"[day % 2]) for day in range(20)]
    record(collection, batch)
    assert len(list(collection.archive_folder.glob("*.warc.gz"))) == 2
    assert collection.check().is_sound


def test_a_version_whose_bytes_are_lost_still_counts_its_links(
    collection: Collection,
) -> None:
    record(collection, [observe(1, html("one", "a", "b"))])
    [row] = collection.page(URL).history()
    (collection.archive_folder / row.visit.location.file).unlink()
    collection.repair()
    record(collection, [observe(2, html("two", "b", "c"))])
    expected = {"https://example.org/b", "https://example.org/c"}
    assert collection.catalog.links_at(row.visit.page) == expected


@settings(max_examples=20, deadline=None, derandomize=True)
@given(cut=st.integers(0, 6))
def test_reopening_anywhere_gives_the_same_changes(tmp_path_factory, cut: int) -> None:
    observations = [observe(day, html(f"word{day // 2}", "a")) for day in range(6)]
    with make_collection(tmp_path_factory.mktemp("m") / "c") as collection:
        record(collection, observations[:cut])
        record(collection, observations[cut:])
        assert [changed for _, changed in marks(collection)] == [
            None, False, True, False, True, False,
        ]  # fmt: skip


def test_recorded_visits_are_returned_in_order(collection: Collection) -> None:
    other_url = "https://example.org/other"
    with collection.recording() as recorder:
        first = recorder.record([
            observe(1, html("one", "a")),
            observe(0, html("other"), url=other_url),
        ])
        again = recorder.record([
            observe(3, outcome=Outcome.TIMEOUT),
            observe(2, html("two", "b")),
            observe(1, html("one", "a")),
        ])
    assert [change for _, change in first.recorded_visits] == [None, None]
    (look, change), (failure, nothing) = again.recorded_visits
    assert (look.outcome, failure.outcome, nothing) == (Outcome.OK, Outcome.TIMEOUT, None)
    assert (change.changed, change.new_link_count) == (True, 1)
    assert look.page == collection.page(URL).id
    assert (again.visit_count, again.known_count) == (2, 1)


def test_a_late_visit_is_returned_with_the_change_found_at_its_place_in_time(
    collection: Collection,
) -> None:
    with collection.recording() as recorder:
        recorder.record([observe(day, html(f"day {day}")) for day in (1, 5)])
        late = recorder.record([observe(3, html("day 1")), observe(6, html("day 5"))])
    assert [change.changed for _, change in late.recorded_visits] == [False, False]
    assert [row.change.changed for row in collection.page(URL).history()[1:]] == [
        False, True, False,
    ]  # fmt: skip


def test_reported_observations_are_returned_too(collection: Collection) -> None:
    report = observe(1, change=Change(True), outcome=Outcome.REPORTED)
    with collection.recording() as recorder:
        [(visit, change)] = recorder.record([report]).recorded_visits
    assert (visit.outcome, change) == (Outcome.REPORTED, Change(True))


def test_a_page_removed_while_it_was_fetched_keeps_its_visit(collection: Collection) -> None:
    page = collection.add(URL)
    with collection.recording() as recorder:
        recorder.record([observe(1, html("one"))])
        collection.remove([page])
        batch = recorder.record([observe(2, html("two")), observe(2, html("x"), url=URL + "/x")])
    assert batch.visit_count == 2
    assert [other_url.url for other_url in collection.pages()] == [URL + "/x"]
    assert len(collection.page(URL, removed=True).history()) == 2


@pytest.mark.parametrize(
    ("observation", "why"),
    [
        (observe(1, html("one")), ""),
        (observe(1, b"<html><script>x()</script></html>"), "needs a browser that runs scripts"),
        (observe(1, b"gone", status=404), "status 404"),
        (observe(1, outcome=Outcome.REFUSED, why="private address"), "private address"),
        (observe(1, outcome=Outcome.TIMEOUT, why="w" * 300), "w" * 200),
    ],
)
def test_a_visit_without_content_has_a_reason(
    collection: Collection, observation: Observation, why: str
) -> None:
    record(collection, [observation])
    [row] = collection.page(URL).history()
    assert row.visit.why == why


def test_a_visit_ends_its_lease_when_it_is_recorded(collection: Collection) -> None:
    page = collection.add(URL)
    collection.catalog.request_visits([page.id], START)
    with collection.recording() as recorder:
        collection.catalog.lease_pages("crawl", [page.id], START, collection.clock.now())
        recorder.record([observe(1, outcome=Outcome.TIMEOUT)])
    assert collection.catalog.leases() == collection.catalog.requested_pages() == []
