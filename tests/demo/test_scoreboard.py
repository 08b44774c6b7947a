"""How the race is scored."""

from datetime import timedelta

import pytest

from freshet.core.clock import from_epoch, to_epoch
from freshet.demo.demo_collection import DemoCollection
from freshet.demo.scoreboard import DemoScoreboard
from tests.demo.conftest import DAYS, START

END = START + timedelta(days=DAYS)
DAY = timedelta(days=1)


@pytest.fixture
def race(stage: DemoCollection) -> DemoScoreboard:
    return DemoScoreboard(stage, START, END, budget_per_day=20)


def page_of_kind(stage: DemoCollection, kind: str) -> int:
    return next(page for page in stage.web_indices if stage.kind(page) == kind)


def share_of(stage: DemoCollection, page: int) -> float:
    """Return a page's share of all importance."""
    weights = stage.page_table.importance
    return float(weights[stage.web_indices[page]] / weights.sum())


def test_a_copy_of_a_changed_page_is_news_and_one_of_an_unchanged_page_is_not(
    race: DemoScoreboard, stage: DemoCollection
) -> None:
    news = page_of_kind(stage, "news")
    changed = float(stage.web.change_times(stage.web_indices[news])[0])
    assert not race.record_visit(news, changed - 2)
    assert not race.record_visit(news, changed - 1)
    assert race.record_visit(news, changed + 1)
    standing = race.scores(from_epoch(changed + 2))[0]
    assert (standing.visits, standing.changes_found) == (3, 1)
    assert standing.fresh_now == pytest.approx(share_of(stage, news))


def test_freshness_counts_from_when_all_have_met_the_pages(
    race: DemoScoreboard, stage: DemoCollection
) -> None:
    static = page_of_kind(stage, "static")
    race.scores(START + DAY)
    race.record_visit(static, to_epoch(START + 2 * DAY))
    standing = race.scores(START + 5 * DAY)[0]
    assert standing.freshness == pytest.approx(share_of(stage, static) * 3 / 4)


def test_visits_that_fail_or_come_after_the_end_take_no_copy(
    race: DemoScoreboard, stage: DemoCollection
) -> None:
    static = page_of_kind(stage, "static")
    assert not race.record_visit(static, None)
    assert not race.record_visit(static, to_epoch(END) + 1)
    standing = race.scores(END + DAY)[0]
    assert (standing.visits, standing.changes_found, standing.fresh_now) == (2, 0, 0.0)


def test_the_race_ends_with_the_time_of_the_web(race: DemoScoreboard) -> None:
    assert race.scores(END + DAY) == race.scores(END + 2 * DAY)
