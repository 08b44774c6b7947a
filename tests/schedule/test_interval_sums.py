"""Sums over intervals, beside a plain computation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.schedule.kernels.interval_sums import add_interval, bin_totals

BIN_COUNT = 6
times = st.floats(-3, BIN_COUNT + 3)


@settings(deadline=None)
@given(st.lists(st.tuples(times, times, st.floats(0, 5)), max_size=6))
def test_an_interval_adds_to_each_bin_in_proportion_to_the_part_it_covers(
    intervals: list[tuple[float, float, float]],
) -> None:
    steps, corrections = np.zeros(BIN_COUNT + 1), np.zeros(BIN_COUNT)
    for begin, end, amount in intervals:
        add_interval(steps, corrections, (begin, end), amount)
    expected = [
        sum(
            amount * max(0.0, min(end, index + 1) - max(begin, index))
            for begin, end, amount in intervals
        )
        for index in range(BIN_COUNT)
    ]
    assert bin_totals(steps, corrections).tolist() == pytest.approx(expected, abs=1e-9)
