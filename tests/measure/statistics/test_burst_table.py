"""How many pages change how fast, by pairs of looks."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.measure.statistics.burst_table import INTERVAL_MINUTES, LookPairs, burst_table

NAN = float("nan")


def pair(
    page: int, minutes: float, *, changed: bool, dice: float = 0.5, apart: bool = False
) -> tuple[int, float, bool, float, bool]:
    return page, 60 * minutes, changed, dice if changed else 1.0, apart


def test_no_pairs_make_no_rows() -> None:
    assert burst_table(LookPairs.from_rows([])) == []


def test_any_sample_gives_the_upper_bound_and_all_samples_the_lower() -> None:
    looks = [
        pair(1, 2, changed=True, dice=0.2),
        pair(1, 2, changed=True, dice=0.4),
        pair(2, 2, changed=True, dice=0.9),
        pair(2, 2, changed=False),
        pair(3, 2, changed=False),
        pair(4, 2, changed=False),
    ]
    [row] = burst_table(LookPairs.from_rows(looks))
    assert (row.minutes, row.pages, row.any, row.all) == (2, 4, 0.5, 0.25)
    assert row.mean_dice == pytest.approx(0.5)
    assert row.median_dice == 0.4


def test_looks_count_by_how_far_apart_they_truly_were() -> None:
    looks = [pair(1, minutes, changed=True) for minutes in (0.01, 2.5, 5, 15, 30, 44, 61, 200)]
    rows = burst_table(LookPairs.from_rows(looks))
    assert [(row.minutes, row.pages) for row in rows] == [(0, 1), (2, 1), (16, 1), (32, 1), (60, 1)]


def test_pages_that_stand_still_for_two_minutes_stand_still_at_once() -> None:
    looks = [
        pair(1, 2, changed=True),
        pair(1, 0, changed=True, apart=True),
        pair(2, 2, changed=False),
        pair(3, 2, changed=True),
    ]
    instant, _ = burst_table(LookPairs.from_rows(looks))
    assert (instant.pages, instant.any, instant.apart) == (2, 0.5, 1)


def test_where_nothing_changed_there_is_no_dice() -> None:
    [row] = burst_table(LookPairs.from_rows([pair(1, 16, changed=False)]))
    assert (row.any, row.all) == (0.0, 0.0)
    assert isnan(row.mean_dice)
    assert isnan(row.median_dice)


def test_changes_without_words_leave_dice_to_the_others() -> None:
    looks = [(1, 120.0, True, NAN, False), (2, 120.0, True, 0.25, False)]
    [row] = burst_table(LookPairs.from_rows(looks))
    assert (row.any, row.mean_dice) == (1.0, 0.25)


@given(
    st.lists(
        st.tuples(
            st.integers(1, 5),
            st.sampled_from([60.0 * minutes for minutes in INTERVAL_MINUTES]),
            st.booleans(),
            st.floats(0, 1),
            st.booleans(),
        )
    )
)
def test_the_lower_bound_is_never_above_the_upper(
    looks: list[tuple[int, float, bool, float, bool]],
) -> None:
    for row in burst_table(LookPairs.from_rows(looks)):
        assert 0.0 <= row.all <= row.any <= 1.0
        assert row.apart <= row.pages
        assert np.isnan(row.mean_dice) or 0.0 <= row.mean_dice <= 1.0
