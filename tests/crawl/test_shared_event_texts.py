"""`why` and `forecast` say what a site's shared events, regularity and exploration contribute."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from freshet.archive.observation import Observation
from freshet.collection.collection import Collection
from freshet.core.local_time import format_recent
from freshet.crawl.why import ScheduleExplanation
from tests.record.record_samples import NOW, START, html, make_collection, observe, record

DAYS_AGO = (NOW - START) / timedelta(days=1)
PAGES = 12


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    with make_collection(tmp_path / "c") as made:
        yield made


def url(number: int) -> str:
    return f"https://docs.example.org/{number}"


class LookRecorder:
    """Records looks at pages in one transaction."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._observations: list[Observation] = []

    def look(self, days_ago: float, pages: Iterable[int], text: str) -> None:
        day = DAYS_AGO - days_ago
        self._observations += [
            observe(day + number / 1e4, html(f"{text} {number}"), url=url(number))
            for number in pages
        ]

    def __enter__(self) -> "LookRecorder":
        return self

    def __exit__(self, *_: object) -> None:
        record(self._collection, self._observations)


def look_until_release(collection: Collection) -> None:
    """Look at all pages for ten days, then find 9 of 11 changed on the last day."""
    with LookRecorder(collection) as recorder:
        for days_ago in range(11, 1, -1):
            recorder.look(days_ago, range(PAGES), "old")
        recorder.look(0.2, range(9), "new")
        recorder.look(0.2, range(9, 11), "old")


def why(collection: Collection, number: int) -> ScheduleExplanation:
    return collection.why(collection.page(url(number)))


def test_a_page_not_seen_since_a_release_of_its_site_has_probably_changed(
    collection: Collection,
) -> None:
    look_until_release(collection)
    report = why(collection, 11)
    lines, explanation = dict(report.lines()), report.explanation
    event = explanation.shared_event
    assert (event.changed, event.looked) == (9, 11)
    since = NOW - timedelta(seconds=NOW.timestamp() - event.since)
    assert lines["its site"] == (
        f"9 of 11 pages of this site looked at since {format_recent(since, NOW)} had changed"
    )
    assert lines["changed with it"] == (
        f"{event.chance:.0%} likely; such changes count less for the page's own rate"
    )
    assert timedelta(0) < NOW - since <= timedelta(days=2)
    assert 0.5 < event.chance <= explanation.chance
    assert explanation.rate < 0.1


def test_a_page_seen_since_a_release_does_not_take_it_for_its_own_rate(
    collection: Collection,
) -> None:
    look_until_release(collection)
    report = why(collection, 0)
    explanation = report.explanation
    assert (explanation.shared_event.changed, explanation.shared_event.looked) == (9, 11)
    lines = dict(report.lines())
    assert lines["changed with it"].startswith("this page has been looked at since")
    frequent = replace(report, explanation=replace(explanation, event_rate=0.5))
    assert dict(frequent.lines())["its site"] == (
        f"{lines['its site']}; many pages of this site change together about every 2 days"
    )
    assert explanation.changes == 1
    assert explanation.rate < 0.1


def test_looks_before_the_release_on_the_same_day_are_not_counted(collection: Collection) -> None:
    with LookRecorder(collection) as recorder:
        for days_ago in range(11, 1, -1):
            recorder.look(days_ago, range(PAGES), "old")
        for number in range(PAGES):
            recorder.look(0.3 - number / 50, [number], "old" if number < 4 else "new")
    report = why(collection, 1)
    event = report.explanation.shared_event
    assert (event.changed, event.looked) == (8, 8)
    assert NOW.timestamp() - event.since == pytest.approx(86_400 * (0.3 - 3 / 50), abs=300)
    assert not event.is_seen
    assert report.explanation.chance > 0.5


def test_a_forecast_names_the_release_beside_the_page_s_own_rate(collection: Collection) -> None:
    look_until_release(collection)
    forecast = collection.page(url(11)).forecast()
    own, site, likely = forecast.sentence.split("; ")
    assert own == "no change seen in 9 compared looks"
    assert site.startswith("9 of 11 pages of this site looked at since ")
    assert likely.endswith("likely to have changed by tomorrow")
    seen = collection.page(url(0)).forecast()
    assert seen.shared_event.is_seen
    assert "9 of 11" not in seen.sentence


def test_without_a_release_nothing_is_said_of_the_site(collection: Collection) -> None:
    with LookRecorder(collection) as recorder:
        for days_ago in range(8, 0, -1):
            recorder.look(days_ago, range(PAGES), "old")
    report = why(collection, 1)
    assert report.explanation.shared_event is None
    assert {"its site", "changed with it"}.isdisjoint(dict(report.lines()))
    assert collection.page(url(1)).forecast().site_changes == ""


def test_a_site_that_never_changed_is_not_said_to_change(collection: Collection) -> None:
    with LookRecorder(collection) as recorder:
        for days_ago in range(308, 300, -1):
            recorder.look(days_ago, range(PAGES), "old")
    quiet = f"no change seen at any page of this site in {7 * PAGES} compared looks"
    assert dict(why(collection, 1).lines())["its site"] == quiet
    assert collection.page(url(1)).forecast().site_changes == quiet


def test_pages_that_change_on_their_own_days_are_no_shared_event(collection: Collection) -> None:
    with LookRecorder(collection) as recorder:
        for days_ago in range(14, 0, -1):
            for remainder in range(6):
                pages = range(remainder, PAGES, 6)
                recorder.look(days_ago, pages, f"edition {(days_ago + remainder) // 6}")
    assert why(collection, 1).explanation.shared_event is None


def test_a_site_that_is_often_redesigned_is_said_to_be(collection: Collection) -> None:
    with LookRecorder(collection) as recorder:
        for days_ago in range(20, 8, -1):
            recorder.look(days_ago, range(PAGES), f"design {days_ago // 2}")
        for days_ago in range(8, 0, -1):
            recorder.look(days_ago, range(PAGES), "last design")
    lines = dict(why(collection, 1).lines())
    assert lines["its site"].startswith("many pages of this site change together about every ")
    assert " by itself (90 %: " in lines["changes"]


def test_a_regular_page_is_said_to_be(collection: Collection) -> None:
    moments = [0.25 * step for step in range(9)]
    for _ in range(3):
        gaps = (1.0, 1.25, 2.25, 2.5, 3.5, 3.75, 4.75, 5.0, 6.0)
        moments += [moments[-1] + gap for gap in gaps]
    start = moments[-1] + 0.1
    with LookRecorder(collection) as recorder:
        for moment in moments:
            recorder.look(start - moment, [1], f"edition of day {int(moment + 0.6)}")
    report = why(collection, 1)
    assert report.explanation.is_regular
    assert ", regularly (90 %: " in dict(report.lines())["changes"]
    assert "regularly" in collection.page(url(1)).forecast().sentence


def test_a_sentinel_says_what_it_is_looked_at_for(collection: Collection) -> None:
    look_until_release(collection)
    report = why(collection, 1)
    explanation = replace(report.explanation, value=0.5, multiplier=1.0, exploration_value=0.6)
    lines = dict(replace(report, explanation=explanation).lines())
    assert lines["exploration"] == "looked at to learn whether the whole site has changed"
    explanation = replace(explanation, exploration_value=0.4)
    assert "exploration" not in dict(replace(report, explanation=explanation).lines())


def test_the_weights_of_mixed_policies_are_listed(collection: Collection) -> None:
    look_until_release(collection)
    report = why(collection, 1)
    explanation = replace(report.explanation, weights={"default": 0.98, "nutch": 0.02})
    lines = dict(replace(report, explanation=explanation).lines())
    assert lines["visits chosen by"] == "default 98%, nutch 2%"


def test_looks_minutes_apart_do_not_count_the_pages_of_a_release(collection: Collection) -> None:
    minute = 1 / 1440
    with LookRecorder(collection) as recorder:
        for step in range(40, 0, -1):
            recorder.look(step * minute, range(PAGES - 1), f"release {step // 7}")
    report = why(collection, 1)
    assert report.explanation.shared_event is None
    assert "changed with it" not in dict(report.lines())


def test_a_release_of_which_looks_are_no_longer_stored_is_not_counted(
    collection: Collection,
) -> None:
    look_until_release(collection)
    with LookRecorder(collection) as recorder:
        for step in range(58):
            recorder.look(0.15 - step / 500, [0], "new")
    assert why(collection, 11).explanation.shared_event is None


def test_changes_of_a_few_pages_are_not_counted_as_a_release(collection: Collection) -> None:
    with LookRecorder(collection) as recorder:
        for days_ago in range(11, 1, -1):
            recorder.look(days_ago, range(PAGES), "old")
        recorder.look(0.2, range(4), "new")
        recorder.look(0.2, range(4, 11), "old")
    assert why(collection, 11).explanation.shared_event is None
