"""The objective ``links``: plans, explanations and forecasts of new links."""

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import pytest

from freshet.archive.observation import Observation
from freshet.cli.crawl_session import planning_for
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.core.settings import load_settings
from freshet.core.types import Snapshot
from freshet.crawl.live_policy import policy_name
from freshet.schedule.links.link_policy import LinkPolicy
from tests.crawl.crawl_samples import NOON, crawling
from tests.record.record_samples import NOW, START, html, make_collection, observe, record

DAYS_AGO = (NOW - START) / timedelta(days=1)
LISTS, QUIET, FLAPS = (f"https://{name}.example/" for name in ("lists", "quiet", "flaps"))


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    """A page with three new links a day, one without, and one whose links come and go."""
    with make_collection(tmp_path / "c") as made:
        for number in range(6):
            day = DAYS_AGO - 6 + number
            new = [f"item-{link}" for link in range(3 * number, 3 * number + 3)]
            flapping = [f"offer-{number % 2}-{link}" for link in range(9)]
            record(
                made,
                [
                    observe(day, html(str(number), *new), url=LISTS),
                    observe(day, html("same"), url=QUIET),
                    observe(day, html(str(number), *flapping), url=FLAPS),
                ],
            )
        yield made


def test_a_plan_for_links_has_the_page_with_new_links_first(collection: Collection) -> None:
    plan = collection.plan(objective="links")
    assert (plan.objective, plan.policy) == ("links", "bayes-links")
    assert plan.choices[0].page.url == LISTS
    assert "new links expected" in plan.choices[0].reason


def test_links_that_come_and_go_count_once(collection: Collection) -> None:
    lists, quiet, flaps = (
        {horizon.days: horizon.new_links for horizon in collection.page(url).forecast().horizons}
        for url in (LISTS, QUIET, FLAPS)
    )
    assert 9 > lists[1.0] > flaps[1.0] > quiet[1.0]


def test_the_forecast_of_new_links_grows_with_time(collection: Collection) -> None:
    forecast = collection.page(LISTS).forecast()
    expected = [horizon.new_links for horizon in forecast.horizons]
    assert all(early < late for early, late in pairwise(expected))
    assert 1 < (forecast.link_rate or 0) < 4


def test_why_says_how_many_new_links_are_expected(collection: Collection) -> None:
    collection.settings = replace(collection.settings, objective="links")
    lines = dict(collection.why(collection.page(LISTS)).lines())
    assert lines["new links by now"].endswith(" expected")
    assert " a day; pages of its host: " in lines["new links"]
    assert lines["plan"] == "for links by bayes-links"


def test_forecast_and_why_say_the_same_of_a_page_without_links(collection: Collection) -> None:
    forecast = collection.page(QUIET).forecast()
    collection.settings = replace(collection.settings, objective="links")
    explanation = collection.why(collection.page(QUIET)).explanation
    assert explanation is not None
    assert explanation.link_rate == pytest.approx(forecast.link_rate)
    assert (explanation.link_rate or 1) <= 0.05


def test_the_forecast_of_changes_does_not_depend_on_the_objective(collection: Collection) -> None:
    before = collection.page(LISTS).forecast()
    collection.settings = replace(collection.settings, objective="links")
    assert collection.page(LISTS).forecast().tomorrow == pytest.approx(before.tomorrow, abs=0.05)


def test_a_crawl_can_be_given_an_objective(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRESHET_POLICY", "age")
    monkeypatch.delenv("FRESHET_OBJECTIVE", raising=False)
    file = tmp_path / "freshet.toml"
    file.write_text("")

    def policy() -> str:
        return policy_name(load_settings(file, os.environ))

    with planning_for("links"):
        assert policy() == "bayes-links"
    assert policy() == "age"
    with planning_for(""):
        assert policy() == "age"


def test_a_crawl_learns_how_many_links_pages_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FRESHET_OBJECTIVE", "links")
    with Collection.create(tmp_path / "c", contact="me@example.org") as made:
        made.add_many([LISTS])
    with crawling(tmp_path / "c", FixedClock(NOON), "100/day") as session:
        snapshot = Snapshot(LISTS, html("a list", "a", "b"), 200, (("content-type", "text/html"),))
        session.record_observations([Observation(LISTS, "", NOON, uuid4().bytes, snapshot)])
        assert isinstance(session.policy, LinkPolicy)
        assert session.policy.page_states.column("page_links").tolist() == [2.0]
