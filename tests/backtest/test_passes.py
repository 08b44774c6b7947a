"""The compiled loops over copies and times, against plain loops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from freshet.backtest.kernels import copies as kernels


@given(st.integers(1, 70), st.integers(1, 12), st.integers(0, 2**32))
def test_changes_are_counted_for_the_copy_of_each_page(pages: int, cycles: int, seed: int) -> None:
    changed = np.random.default_rng(seed).random((cycles, pages)) < 0.2
    stale = np.zeros(pages, np.bool_)
    since, counts = np.zeros(pages, np.int32), np.zeros(pages, np.int32)
    sums = np.zeros(pages, np.int64)
    for number, row in enumerate(changed):
        before = stale.copy()
        told = kernels.apply_changes(np.packbits(row), number, stale, (since, counts, sums))
        assert told == (row.sum(), (row & ~before).sum())
    assert stale.tolist() == changed.any(axis=0).tolist()
    assert counts.tolist() == changed.sum(axis=0).tolist()
    assert sums.tolist() == (np.arange(cycles) @ changed).tolist()
    assert since[stale].tolist() == changed.argmax(axis=0)[stale].tolist()


@given(st.integers(1, 40), st.integers(0, 2**32))
def test_sums_go_over_stale_copies_alone(pages: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    stale, since, weights = rng.random(pages) < 0.4, rng.integers(0, 9, pages), rng.random(pages)
    count, cycles, weight = kernels.sum_stale_copies(stale, since, weights)
    assert (count, cycles) == (stale.sum(), since[stale].sum())
    assert np.isclose(weight, weights[stale].sum())


@given(
    st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=5), st.integers(-1, 10)
)
def test_the_next_change_is_the_first_one_after_a_moment(
    days: list[list[int]], moment: int
) -> None:
    times = np.array([float(day) for page in days for day in sorted(page)])
    starts = np.concatenate([[0], np.cumsum([len(page) for page in days])]).astype(np.int64)
    places = np.arange(len(days))
    at, when = kernels.find_next_changes(times, starts, places, float(moment))
    for page, known in enumerate(days):
        later = sorted(day for day in known if day > moment)
        assert when[page] == (later[0] if later else np.inf)
        assert starts[page + 1] - at[page] == len(later)
