"""The scores of Freshet and the baselines."""

from datetime import timedelta

import pytest

from freshet.core.clock import from_epoch, to_epoch
from freshet.demo.demo_collection import DemoCollection
from freshet.demo.scoreboard import DemoScoreboard
from tests.demo.conftest import DAYS, START

END = START + timedelta(days=DAYS)
DAY = timedelta(days=1)


@pytest.fixture
def scoreboard(demo_collection: DemoCollection) -> DemoScoreboard:
    return DemoScoreboard(demo_collection, START, END, budget_per_day=20)


def page_of_kind(demo_collection: DemoCollection, kind: str) -> int:
    return next(page for page in demo_collection.web_indices if demo_collection.kind(page) == kind)


def share_of(demo_collection: DemoCollection, page: int) -> float:
    """Return a page's share of all importance."""
    weights = demo_collection.page_table.importance
    return float(weights[demo_collection.web_indices[page]] / weights.sum())


def test_a_copy_of_a_changed_page_is_news_and_one_of_an_unchanged_page_is_not(
    scoreboard: DemoScoreboard, demo_collection: DemoCollection
) -> None:
    news = page_of_kind(demo_collection, "news")
    changed = float(demo_collection.web.change_times(demo_collection.web_indices[news])[0])
    assert not scoreboard.record_visit(news, changed - 2)
    assert not scoreboard.record_visit(news, changed - 1)
    assert scoreboard.record_visit(news, changed + 1)
    score = scoreboard.scores(from_epoch(changed + 2))[0]
    assert (score.visits, score.changes_found) == (3, 1)
    assert score.fresh_now == pytest.approx(share_of(demo_collection, news))


def test_freshness_counts_after_the_first_day(
    scoreboard: DemoScoreboard, demo_collection: DemoCollection
) -> None:
    static = page_of_kind(demo_collection, "static")
    scoreboard.scores(START + DAY)
    scoreboard.record_visit(static, to_epoch(START + 2 * DAY))
    score = scoreboard.scores(START + 5 * DAY)[0]
    assert score.freshness == pytest.approx(share_of(demo_collection, static) * 3 / 4)


def test_failed_or_late_visits_refresh_no_copy(
    scoreboard: DemoScoreboard, demo_collection: DemoCollection
) -> None:
    static = page_of_kind(demo_collection, "static")
    assert not scoreboard.record_visit(static, None)
    assert not scoreboard.record_visit(static, to_epoch(END) + 1)
    score = scoreboard.scores(END + DAY)[0]
    assert (score.visits, score.changes_found, score.fresh_now) == (2, 0, 0.0)


def test_scoring_ends_with_the_time_of_the_web(scoreboard: DemoScoreboard) -> None:
    assert scoreboard.scores(END + DAY) == scoreboard.scores(END + 2 * DAY)
