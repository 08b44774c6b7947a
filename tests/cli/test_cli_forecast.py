"""Forecasts in words: rate and chance agree, and pages that fail have none."""

from datetime import UTC, datetime, timedelta
from math import exp
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.archive.observation import Observation
from freshet.collection.collection import Collection
from freshet.core.clock import SystemClock
from freshet.core.types import Outcome, Page, Snapshot
from freshet.crawl.forecast import ForecastHorizon, PageForecast
from tests.cli.cli_runs import Run

NOW = datetime(2026, 11, 15, tzinfo=UTC)
URL = "https://example.org/news"
HTML = (("content-type", "text/html"),)
WORDS = "the river rose in spring and the fields along it were green again that year"


def visit(minutes_ago: float, words: str = "", outcome: Outcome | None = None) -> Observation:
    """Return a visit of the page that showed some words, or failed."""
    time = SystemClock().now() - timedelta(minutes=minutes_ago)
    body = f"<html><title>t</title><body><p>{WORDS} {words}</p></body></html>".encode()
    snapshot = None if outcome else Snapshot(URL, body, 200, HTML)
    uid = f"{minutes_ago:016.3f}".encode()
    if outcome:
        return Observation(URL, "", time, uid, None, outcome=outcome, why="no answer in 60 s")
    return Observation(URL, "", time, uid, snapshot, status=200)


def record(path: Path, *observations: Observation) -> None:
    with Collection.open(path) as opened:
        opened.add(URL)
        with opened.recording() as recorder:
            recorder.record(list(observations))


@pytest.mark.parametrize("gap", [0.2, 5.0, 600.0])
def test_how_often_and_how_likely_do_not_contradict_each_other(
    run: Run, empty: Path, gap: float
) -> None:
    record(empty, *(visit(0.01 + gap * n, str(n)) for n in (3, 2, 1, 0)))
    page_forecast = run("forecast", URL, "--json").json
    tomorrow = next(item["changed"] for item in page_forecast["horizons"] if item["days"] == 1)
    assert (page_forecast["change_days"] < 1) == (tomorrow > 0.633)
    assert page_forecast["changes"] == 3


def test_a_page_that_changes_at_every_look_changes_every_5_minutes_or_less(
    run: Run, empty: Path
) -> None:
    record(empty, *(visit(0.01 + 2 * n, str(n)) for n in range(200, -1, -1)))
    assert "changes every 5 minutes or less; 200 changes in" in run("forecast", URL).out


def test_a_page_never_seen_to_change_is_said_to_be_so(run: Run, empty: Path) -> None:
    record(empty, *(visit(0.01 + 5 * n) for n in range(10, -1, -1)))
    output = run("forecast", URL).out
    assert "no change seen in 10 compared looks; the chance of one comes mostly from" in output
    assert "every" not in output


def test_before_two_looks_the_rate_is_that_of_pages_like_it(run: Run, empty: Path) -> None:
    record(empty, visit(1.0))
    output = run("forecast", URL).out
    assert "not known yet; these are the probabilities of similar pages" in output
    assert "every" not in output
    output = run("why", URL).out
    assert "not known yet" in output


def test_after_few_looks_it_is_said_that_the_rate_is_not_well_known(run: Run, empty: Path) -> None:
    record(empty, visit(3.0, "a"), visit(2.0, "b"), visit(1.0, "c"))
    output = run("forecast", URL).out
    assert "not well known yet, " in output
    assert " minutes by 2 comparisons; 2 changes in 2" in output.replace(" or less", "")


@given(
    change_days=st.floats(1e-3, 2000), tomorrow=st.floats(0, 1), age=st.floats(0, 100),
    looks=st.integers(0, 50),
)  # fmt: skip
def test_an_interval_is_named_only_where_it_agrees_with_the_chance_by_tomorrow(
    change_days: float, tomorrow: float, age: float, looks: int
) -> None:
    page = Page(1, URL, "", "example.org", "example.org", "example.org/", NOW)
    last = NOW - timedelta(days=age)
    horizons = (ForecastHorizon(1.0, NOW + timedelta(days=1), tomorrow),)
    page_forecast = PageForecast(
        page, NOW, last, looks, 0, 1.0, 1.0, 1.0, horizons, change_days, change_days
    )
    by_interval = 1 - exp(-(age + 1) / change_days)
    if "every" in page_forecast.sentence:
        assert looks
        assert abs(tomorrow - by_interval) < 0.11


def test_a_page_that_fails_has_no_forecast_but_what_stands_in_its_way(
    run: Run, empty: Path
) -> None:
    record(empty, visit(9.0, "a"), visit(6.0, "b"), visit(3.0, outcome=Outcome.TIMEOUT))
    output = run("forecast", URL).out
    assert "no forecast: its last visit showed no content: " in output
    assert "timeout (no answer in 60 s)" in output
    assert "%" not in output
    explained = run("why", URL).out
    assert "changed by now" not in explained
    assert "about every" not in explained
    assert run("forecast", URL, "--json").json["obstacle"].startswith("its last visit showed no")


def test_why_says_of_an_imported_page_that_it_is_a_history(run: Run, empty: Path) -> None:
    Path("seen.csv").write_text(f"page,time,changed\n{URL},2026-01-01,1\n", "utf-8")
    run("import", "csv", "seen.csv")
    result = run("why", URL)
    assert result.code == 0
    assert "it is a history imported from seen; 'freshet add' keeps it fresh" in result.out
    assert run("why", "https://example.org/unknown").code == 3


def test_why_explains_the_visits_for_another_objective(run: Run, empty: Path) -> None:
    record(empty, visit(2.0), visit(1.0))
    assert "for links by bayes-links" in run("why", URL, "--objective", "links").out
    assert "for freshness by " in run("why", URL).out
    assert run("why", URL, "--objective", "fame").code == 2
