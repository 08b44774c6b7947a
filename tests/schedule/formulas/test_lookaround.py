"""The look-around clocks, beside plain loops over days."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS
from freshet.core.types import FloatArray
from freshet.schedule.formulas.lookaround import LookAroundClocks
from freshet.schedule.page_states import DIRECTORY_COLUMN, PageStates
from tests.schedule.bayes_samples import pages, visits

WINDOW_DAYS = 60


@dataclass(frozen=True, slots=True)
class MeasuredLook:
    """A measured look: its time in days, days since the previous look, and result."""

    end: float
    gap: float
    changed: bool


def covered(look: MeasuredLook, day: int) -> float:
    """Return the part of a day that a look covers; a day is named by its end."""
    return max(0.0, min(look.end, day) - max(look.end - look.gap, day - 1))


def plain_multipliers(looks: list[MeasuredLook], end_day: int, rate: float) -> dict[int, float]:
    """Return the multiplier of each day of the window, by the definition."""
    days = range(end_day - WINDOW_DAYS, end_day)
    all_days = range(end_day - 3 * WINDOW_DAYS, end_day + 1)
    multipliers = dict.fromkeys(all_days, 1.0)
    for _ in range(3):
        events = dict.fromkeys(days, 0.0)
        for look in (look for look in looks if look.changed):
            total = sum(multipliers[day] * covered(look, day) for day in all_days)
            for day in days:
                share = rate * multipliers[day] * covered(look, day)
                events[day] += share / -math.expm1(-rate * total)
        for day in days:
            exposure = sum(rate * covered(look, day) for look in looks)
            multiplier = (0.3 + events[day]) / (0.3 + exposure)
            multipliers[day] = min(50.0, max(0.001, multiplier))
    return multipliers


def constant_rate(rate: float) -> object:
    return lambda rows: np.full(len(rows), rate)


def states_and_clocks(looks: list[MeasuredLook]) -> tuple[PageStates, LookAroundClocks]:
    """Return a directory of ten pages, with looks at the first ones and none at the last."""
    states, clocks = PageStates(None, DIRECTORY_COLUMN), LookAroundClocks()
    clocks.add(states, states.add(pages(range(10))))
    for page, look in enumerate(looks):
        for end in (look.end - look.gap, look.end):
            clocks.learn(states, states.add_visits(visits([page], end, look.changed)))
    return states, clocks


def effective_ages_of(
    states: PageStates, clocks: LookAroundClocks, ages: FloatArray, day: float
) -> NDArray[np.float64]:
    directories = np.zeros(len(ages), np.int32)
    return clocks.effective_ages(directories, ages, day * DAY_SECONDS)


whole_day_looks = st.builds(
    MeasuredLook,
    end=st.integers(50, 99).map(float),
    gap=st.integers(1, 80).map(float),
    changed=st.booleans(),
)
partial_day_looks = st.builds(
    MeasuredLook,
    end=st.integers(50 * 8, 99 * 8).map(lambda eighths: eighths / 8),
    gap=st.integers(1, 80 * 8).map(lambda eighths: eighths / 8),
    changed=st.booleans(),
)


@settings(deadline=None, max_examples=40)
@given(st.lists(whole_day_looks, max_size=9), st.floats(0.01, 2))
def test_in_cycles_the_age_is_the_sum_of_multipliers_since_the_last_look(
    looks: list[MeasuredLook], rate: float
) -> None:
    states, clocks = states_and_clocks(looks)
    clocks.refit(states, 100 * DAY_SECONDS, constant_rate(rate))
    multipliers = plain_multipliers(looks, 100, rate)
    for last in (99, 98, 80, 45):
        expected = sum(multipliers.get(day, 1.0) for day in range(last + 1, 100)) + 1.0
        effective_ages = effective_ages_of(states, clocks, np.array([100.0 - last]), 100.0)
        assert effective_ages[0] == pytest.approx(expected, rel=1e-4)


@settings(deadline=None, max_examples=40)
@given(st.lists(partial_day_looks, max_size=9), st.floats(0.01, 2))
def test_days_count_in_proportion_to_their_covered_part(
    looks: list[MeasuredLook], rate: float
) -> None:
    states, clocks = states_and_clocks(looks)
    clocks.refit(states, 99.5 * DAY_SECONDS, constant_rate(rate))
    multipliers = plain_multipliers(looks, 100, rate)
    ages = np.array([0.25, 0.75, 3.125, 70.5])
    effective_ages = effective_ages_of(states, clocks, ages, 99.5)
    for age, stretched in zip(ages.tolist(), effective_ages.tolist(), strict=True):
        look = MeasuredLook(99.5, age, changed=False)
        expected = sum(covered(look, day) * multipliers.get(day, 1.0) for day in range(20, 101))
        assert stretched == pytest.approx(expected, rel=1e-4)


def test_a_day_on_which_neighbours_changed_makes_the_others_older() -> None:
    states, clocks = states_and_clocks([MeasuredLook(90.0, 1.0, changed=True) for _ in range(6)])
    clocks.refit(states, 91 * DAY_SECONDS, constant_rate(0.05))
    before, after = effective_ages_of(states, clocks, np.array([5.0, 1.0]), 91.0)
    assert before > 12
    assert after == 1.0


def test_small_directories_have_no_clock() -> None:
    states, clocks = PageStates(None, DIRECTORY_COLUMN), LookAroundClocks()
    clocks.add(states, states.add(pages(range(7))))
    clocks.learn(states, states.add_visits(visits([0, 1, 0, 1], [1.0, 1.0, 2.0, 2.0], True)))
    clocks.refit(states, 3 * DAY_SECONDS, constant_rate(0.05))
    assert effective_ages_of(states, clocks, np.array([3.0]), 3.0).tolist() == [3.0]


def test_looks_leave_the_window_after_sixty_days() -> None:
    states, clocks = states_and_clocks([MeasuredLook(10.0, 1.0, changed=True)])
    clocks.refit(states, 70 * DAY_SECONDS, constant_rate(0.05))
    look_count = len(clocks.state()["clock_row"])
    clocks.refit(states, 72 * DAY_SECONDS, constant_rate(0.05))
    assert (look_count, len(clocks.state()["clock_row"])) == (1, 0)


def test_only_directories_that_were_looked_at_are_fitted_again_within_a_day() -> None:
    states, clocks = PageStates(None, DIRECTORY_COLUMN), LookAroundClocks()
    clocks.add(states, states.add(pages(range(20))))
    requested_pages: list[list[int]] = []

    def rates(rows: NDArray[np.intp]) -> FloatArray:
        requested_pages.append(states.ids[rows].tolist())
        return np.full(len(rows), 0.05)

    clocks.learn(states, states.add_visits(visits([3, 13, 3, 13], [1.0, 1.0, 2.0, 2.0])))
    clocks.refit(states, 2.5 * DAY_SECONDS, rates)
    clocks.refit(states, 2.6 * DAY_SECONDS, rates)
    clocks.learn(states, states.add_visits(visits([13], 2.7)))
    clocks.refit(states, 2.8 * DAY_SECONDS, rates)
    assert requested_pages == [[3, 13], [13]]


def test_a_later_call_fits_the_rest_if_there_are_too_many_looks() -> None:
    states, clocks = PageStates(None, DIRECTORY_COLUMN), LookAroundClocks(max_looks=2)
    clocks.add(states, states.add(pages(range(30))))
    for day in (1.0, 2.0):
        clocks.learn(states, states.add_visits(visits([0, 1, 10, 11, 20, 21], day, True)))
    fitted = []
    for _ in range(4):
        clocks.refit(states, 4 * DAY_SECONDS, constant_rate(0.05))
        fitted.append(len(clocks.state()["clock_sums"]))
    assert fitted == [1, 2, 3, 3]


def test_the_looks_of_forgotten_pages_are_removed() -> None:
    states, clocks = states_and_clocks([
        MeasuredLook(90.0, 1.0, changed=page % 2 == 0) for page in range(10)
    ])
    clocks.keep_rows(states, states.forget(np.array([0, 4])))
    log = clocks.state()
    assert states.ids[log["clock_row"]].tolist() == [1, 2, 3, 5, 6, 7, 8, 9]
    assert log["clock_changed"].tolist() == [page % 2 == 0 for page in (1, 2, 3, 5, 6, 7, 8, 9)]
