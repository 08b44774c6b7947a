"""The look-around clock, beside plain loops over cells."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS
from freshet.core.types import FloatArray
from freshet.schedule.lookaround import LookAroundClocks
from freshet.schedule.states import PageStates
from tests.schedule.bayes_samples import pages, visits

CELLS = 60


@dataclass(frozen=True, slots=True)
class Seen:
    """A measured look: its end in days, the days since the one before, and what it found."""

    end: float
    gap: float
    changed: bool


def covered(look: Seen, cell: int) -> float:
    """Return how much of a day, which ends with that number, a look covers."""
    return max(0.0, min(look.end, cell) - max(look.end - look.gap, cell - 1))


def plain_paces(looks: list[Seen], cell: int, rate: float) -> dict[int, float]:
    """Return the multiplier of every day of the window, by the recipe."""
    days = range(cell - CELLS, cell)
    every = range(cell - 3 * CELLS, cell + 1)
    pace = dict.fromkeys(every, 1.0)
    for _ in range(3):
        events = dict.fromkeys(days, 0.0)
        for look in (look for look in looks if look.changed):
            total = sum(pace[day] * covered(look, day) for day in every)
            for day in days:
                share = rate * pace[day] * covered(look, day)
                events[day] += share / -math.expm1(-rate * total)
        for day in days:
            exposure = sum(rate * covered(look, day) for look in looks)
            multiplier = (0.3 + events[day]) / (0.3 + exposure)
            pace[day] = min(50.0, max(0.001, multiplier))
    return pace


def rate_of(rate: float) -> object:
    return lambda rows: np.full(len(rows), rate)


def looked(seen: list[Seen]) -> tuple[PageStates, LookAroundClocks]:
    """Return a directory of ten pages, with looks at the first ones and none at the last."""
    states, clock = PageStates(), LookAroundClocks()
    clock.add(states, states.add(pages(range(10))))
    for page, look in enumerate(seen):
        for end in (look.end - look.gap, look.end):
            clock.learn(states, states.add_visits(visits([page], end, look.changed)))
    return states, clock


def ages(
    states: PageStates, clock: LookAroundClocks, passed: FloatArray, day: float
) -> NDArray[np.float64]:
    directories = np.zeros(len(passed), np.int32)
    return clock.effective_ages(directories, passed, day * DAY_SECONDS)


whole = st.builds(
    Seen,
    end=st.integers(50, 99).map(float),
    gap=st.integers(1, 80).map(float),
    changed=st.booleans(),
)
partial = st.builds(
    Seen,
    end=st.integers(50 * 8, 99 * 8).map(lambda eighths: eighths / 8),
    gap=st.integers(1, 80 * 8).map(lambda eighths: eighths / 8),
    changed=st.booleans(),
)


@settings(deadline=None, max_examples=40)
@given(st.lists(whole, max_size=9), st.floats(0.01, 2))
def test_in_cycles_the_age_is_the_sum_of_multipliers_since_the_last_look(
    seen: list[Seen], rate: float
) -> None:
    states, clock = looked(seen)
    clock.refit(states, 100 * DAY_SECONDS, rate_of(rate))
    pace = plain_paces(seen, 100, rate)
    for last in (99, 98, 80, 45):
        expected = sum(pace.get(day, 1.0) for day in range(last + 1, 100)) + 1.0
        found = ages(states, clock, np.array([100.0 - last]), 100.0)
        assert found[0] == pytest.approx(expected, rel=1e-4)


@settings(deadline=None, max_examples=40)
@given(st.lists(partial, max_size=9), st.floats(0.01, 2))
def test_between_days_cells_count_as_far_as_they_are_covered(seen: list[Seen], rate: float) -> None:
    states, clock = looked(seen)
    clock.refit(states, 99.5 * DAY_SECONDS, rate_of(rate))
    pace = plain_paces(seen, 100, rate)
    passed = np.array([0.25, 0.75, 3.125, 70.5])
    found = ages(states, clock, passed, 99.5)
    for age, stretched in zip(passed.tolist(), found.tolist(), strict=True):
        look = Seen(99.5, age, changed=False)
        expected = sum(covered(look, day) * pace.get(day, 1.0) for day in range(20, 101))
        assert stretched == pytest.approx(expected, rel=1e-4)


def test_a_day_on_which_neighbours_changed_makes_the_others_older() -> None:
    states, clock = looked([Seen(90.0, 1.0, changed=True) for _ in range(6)])
    clock.refit(states, 91 * DAY_SECONDS, rate_of(0.05))
    before, after = ages(states, clock, np.array([5.0, 1.0]), 91.0)
    assert before > 12
    assert after == 1.0


def test_small_directories_have_no_clock() -> None:
    states, clock = PageStates(), LookAroundClocks()
    clock.add(states, states.add(pages(range(7))))
    clock.learn(states, states.add_visits(visits([0, 1, 0, 1], [1.0, 1.0, 2.0, 2.0], True)))
    clock.refit(states, 3 * DAY_SECONDS, rate_of(0.05))
    assert ages(states, clock, np.array([3.0]), 3.0).tolist() == [3.0]


def test_looks_leave_the_window_after_sixty_days() -> None:
    states, clock = looked([Seen(10.0, 1.0, changed=True)])
    clock.refit(states, 70 * DAY_SECONDS, rate_of(0.05))
    held = len(clock.state()["clock_row"])
    clock.refit(states, 72 * DAY_SECONDS, rate_of(0.05))
    assert (held, len(clock.state()["clock_row"])) == (1, 0)


def test_only_directories_that_were_looked_at_are_fitted_again_within_a_day() -> None:
    states, clock = PageStates(), LookAroundClocks()
    clock.add(states, states.add(pages(range(20))))
    asked: list[list[int]] = []

    def rates(rows: NDArray[np.intp]) -> FloatArray:
        asked.append(states.ids[rows].tolist())
        return np.full(len(rows), 0.05)

    clock.learn(states, states.add_visits(visits([3, 13, 3, 13], [1.0, 1.0, 2.0, 2.0])))
    clock.refit(states, 2.5 * DAY_SECONDS, rates)
    clock.refit(states, 2.6 * DAY_SECONDS, rates)
    clock.learn(states, states.add_visits(visits([13], 2.7)))
    clock.refit(states, 2.8 * DAY_SECONDS, rates)
    assert asked == [[3, 13], [13]]


def test_fitting_goes_on_another_time_where_there_are_too_many_looks() -> None:
    states, clock = PageStates(), LookAroundClocks(max_looks=2)
    clock.add(states, states.add(pages(range(30))))
    for day in (1.0, 2.0):
        clock.learn(states, states.add_visits(visits([0, 1, 10, 11, 20, 21], day, True)))
    fitted = []
    for _ in range(4):
        clock.refit(states, 4 * DAY_SECONDS, rate_of(0.05))
        fitted.append(len(clock.state()["clock_sums"]))
    assert fitted == [1, 2, 3, 3]


def test_forgotten_pages_take_their_looks_with_them() -> None:
    states, clock = looked([Seen(90.0, 1.0, changed=page % 2 == 0) for page in range(10)])
    clock.keep_rows(states, states.forget(np.array([0, 4])))
    log = clock.state()
    assert states.ids[log["clock_row"]].tolist() == [1, 2, 3, 5, 6, 7, 8, 9]
    assert log["clock_changed"].tolist() == [page % 2 == 0 for page in (1, 2, 3, 5, 6, 7, 8, 9)]
