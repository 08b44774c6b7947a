import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.backtest.threads.visit_measures import WINDOW, measure_visits

minutes = st.lists(st.integers(1, 120), min_size=1, max_size=12)


@given(minutes, minutes)
def test_windows_are_counted_minute_by_minute(post_list: list[int], visit_list: list[int]) -> None:
    posts, visits = np.sort(post_list).astype(float), np.sort(visit_list).astype(float)
    inside = visits[visits <= posts[-1]]
    missed = with_posts = alarms = windows = 0
    for first in range(int(posts[-1]) - WINDOW + 1):
        post_count, visit_count = (
            int(((times >= first) & (times < first + WINDOW)).sum()) for times in (posts, inside)
        )
        windows += 1
        with_posts += post_count > 0
        missed += post_count > 0 and post_count > visit_count
        alarms += visit_count > post_count
    measures = measure_visits(posts, visits, 0.0)
    assert measures.miss == pytest.approx(missed / with_posts if with_posts else 0.0)
    assert measures.false_alarm == pytest.approx(alarms / windows if windows else 0.0)


def test_a_crawler_that_never_visits_has_an_error_of_one_half() -> None:
    measures = measure_visits(np.array([100.0, 300.0]), np.zeros(0), 0.0)
    assert (measures.miss, measures.false_alarm, measures.error) == (1.0, 0.0, 0.5)


def test_pairs_of_events_are_scored() -> None:
    measures = measure_visits(np.array([0.0, 200.0]), np.array([100.0, 200.0]), 0.0)
    post_visit = (1 - np.exp(-1.0)) + (1 - np.exp(0.0))
    assert measures.pair_score == pytest.approx(post_visit / 3)
    assert measures.normalised_miss == pytest.approx(100.0 / 200.0)
    assert measures.normalised_false_alarm == pytest.approx(2 / 198)
