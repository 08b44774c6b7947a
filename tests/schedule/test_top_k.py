"""The k best of many, with ties by lot."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from freshet.schedule.top_k import tie_breaker, top_k

scores = st.lists(st.sampled_from([0.0, 0.5, 1.0, float("inf")]) | st.floats(0, 1), max_size=30)


@given(scores, st.integers(-1, 35), st.integers(0, 3))
def test_the_best_are_those_of_a_plain_sort_by_score_and_lot(
    scores: list[float], k: int, seed: int
) -> None:
    ids = np.arange(len(scores)) * 7
    lots = tie_breaker(seed)(ids)
    plain = sorted(range(len(scores)), key=lambda place: (-scores[place], int(lots[place])))
    found = top_k(np.array(scores, np.float64), k, lambda places: lots[places])
    assert found.tolist() == plain[: max(0, k)]


def test_lots_follow_the_seed_and_the_moment_and_not_the_order_of_pages() -> None:
    ids = np.array([3, -1, 2**62], np.int64)
    lots = tie_breaker(1, 86_400.0)(ids)
    assert tie_breaker(1, 86_400.0)(ids[::-1].copy()).tolist() == lots[::-1].tolist()
    assert tie_breaker(2, 86_400.0)(ids).tolist() != lots.tolist()
    assert tie_breaker(1, 172_800.0)(ids).tolist() != lots.tolist()


def test_every_page_wins_a_tie_equally_often() -> None:
    ids, even = np.arange(10), np.zeros(10)
    wins = np.zeros(10)
    for moment in range(2_000):
        draw = tie_breaker(5, float(moment))
        wins[top_k(even, 3, lambda places, draw=draw: draw(ids[places]))] += 1
    assert np.all(np.abs(wins - 600) < 5 * np.sqrt(2_000 * 0.3 * 0.7))
