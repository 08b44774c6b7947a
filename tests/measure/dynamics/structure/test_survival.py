import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.version_series import build_series
from freshet.measure.dynamics.structure.dom_history import dom_history, grid_timeline
from freshet.measure.dynamics.structure.survival import (
    SURVIVAL_HORIZONS,
    ElementSurvival,
    element_survival,
)
from tests.measure.dynamics.structure.trees import DAY, HOUR, Tree, dom_of, history

NAMES = "abcd"


def survival_of(
    versions: list[Tree | None], step: float = HOUR, *, grid: float = 0
) -> ElementSurvival:
    series = history(versions, step)
    return element_survival(dom_history(series, grid_timeline(series, grid or None)))


def tree(present: str) -> Tree:
    return {f"/{name}[0]": name for name in present}


def test_the_share_is_of_those_that_survived_the_first_hour():
    survival = survival_of([tree("abcd"), tree("abc"), tree("ab"), tree("ab")])
    assert survival.elements == 3
    assert survival.shares[0] == pytest.approx(2 / 3)
    assert survival.first_step == HOUR


def test_an_element_that_comes_back_stays_gone():
    versions = [tree("ab"), tree("ab"), tree("a"), tree("ab"), *[tree("ab")] * 30]
    assert survival_of(versions).shares[:2] == (0.5, 0.5)


def test_elements_that_come_later_do_not_count():
    assert survival_of([tree("a"), tree("a"), tree("abcd"), tree("abcd")]).shares[0] == 1.0


def test_horizons_beyond_the_history_are_unknown():
    shares = survival_of([tree("a")] * 26).shares
    assert shares == (1.0, 1.0, None, None, None, None)


def test_a_horizon_in_a_gap_is_unknown_and_one_after_it_is_known():
    times = [0, HOUR, 2 * HOUR, *(8 * DAY + hour * HOUR for hour in range(30 * 24))]
    shown = [0] * len(times)
    series = build_series(times, shown, [], [dom_of(tree("ab"))])
    shares = element_survival(dom_history(series, grid_timeline(series))).shares
    assert shares[:4] == (1.0, None, None, 1.0)


def test_on_a_day_grid_the_first_day_takes_the_place_of_the_first_hour():
    survival = survival_of([tree("abcd"), tree("ab"), *[tree("a")] * 40], DAY)
    assert survival.first_step == DAY
    assert survival.elements == 2
    assert survival.shares == (None, None, 0.5, 0.5, 0.5, 0.5)


@pytest.mark.parametrize("versions", [[], [None], [tree("a")], [tree("")] * 9, [tree("a"), None]])
def test_a_history_that_tells_nothing_gives_no_shares(versions: list[Tree | None]):
    assert survival_of(versions).shares == (None,) * len(SURVIVAL_HORIZONS)


VERSIONS = st.lists(st.sets(st.sampled_from(NAMES)).map("".join), min_size=1, max_size=8)


@given(VERSIONS)
def test_survival_never_rises_and_stays_between_none_and_all(present: list[str]):
    horizons = tuple(HOUR * hours for hours in range(2, 9))
    series = history([tree("".join(sorted(names))) for names in present])
    survival = element_survival(dom_history(series, grid_timeline(series)), horizons)
    known_shares = [share for share in survival.shares if share is not None]
    assert all(0 <= share <= 1 for share in known_shares)
    assert known_shares == sorted(known_shares, reverse=True)


@given(VERSIONS)
def test_survival_agrees_with_following_each_element(present: list[str]):
    survival = survival_of([tree("".join(sorted(names))) for names in present], grid=HOUR)
    if len(present) < 2:
        assert survival.shares[0] is None
        return
    remaining = set(present[0]) & set(present[1])
    assert survival.elements == len(remaining)
    if remaining and len(present) > 2:
        assert survival.shares[0] == pytest.approx(
            len(remaining & set(present[2])) / len(remaining)
        )
