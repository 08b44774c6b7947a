"""The k highest scores, with ties broken by a hash."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from freshet.schedule.top_k import tie_breaker, top_k

scores = st.lists(st.sampled_from([0.0, 0.5, 1.0, float("inf")]) | st.floats(0, 1), max_size=30)


@given(scores, st.integers(-1, 35), st.integers(0, 3))
def test_the_best_are_those_of_a_plain_sort_by_score_and_tie_break(
    scores: list[float], k: int, seed: int
) -> None:
    ids = np.arange(len(scores)) * 7
    tie_breaks = tie_breaker(seed)(ids)
    plain = sorted(
        range(len(scores)), key=lambda position: (-scores[position], int(tie_breaks[position]))
    )
    chosen = top_k(np.array(scores, np.float64), k, lambda positions: tie_breaks[positions])
    assert chosen.tolist() == plain[: max(0, k)]


def test_tie_breaks_depend_on_the_seed_and_the_moment_and_not_on_the_order_of_pages() -> None:
    ids = np.array([3, -1, 2**62], np.int64)
    tie_breaks = tie_breaker(1, 86_400.0)(ids)
    assert tie_breaker(1, 86_400.0)(ids[::-1].copy()).tolist() == tie_breaks[::-1].tolist()
    assert tie_breaker(2, 86_400.0)(ids).tolist() != tie_breaks.tolist()
    assert tie_breaker(1, 172_800.0)(ids).tolist() != tie_breaks.tolist()


def test_every_page_wins_a_tie_equally_often() -> None:
    ids, equal_scores = np.arange(10), np.zeros(10)
    wins = np.zeros(10)
    for moment in range(2_000):
        break_ties = tie_breaker(5, float(moment))
        wins[
            top_k(
                equal_scores, 3, lambda positions, break_ties=break_ties: break_ties(ids[positions])
            )
        ] += 1
    assert np.all(np.abs(wins - 600) < 5 * np.sqrt(2_000 * 0.3 * 0.7))
