import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.version_series import build_series
from freshet.measure.dynamics.structure.dom_history import look_timeline
from freshet.measure.dynamics.structure.element_history import element_history
from freshet.measure.dynamics.structure.survival import (
    SURVIVAL_HORIZONS,
    ElementSurvival,
    element_survival,
)
from tests.measure.dynamics.structure.trees import DAY, HOUR, Tree, dom_of, elements_of

NAMES = "abcd"


def survival_of(versions: list[Tree | None], step: float = HOUR) -> ElementSurvival:
    return element_survival(elements_of(versions, step=step))


def tree(present: str) -> Tree:
    return {f"/{name}[0]": name for name in present}


def test_the_share_is_of_those_that_survived_the_first_hour():
    survival = survival_of([tree("abcd"), tree("abc"), tree("ab"), tree("ab")])
    assert survival.elements == 3
    assert survival.shares[0] == pytest.approx(2 / 3)
    assert survival.first_step == HOUR


def test_an_element_lives_to_its_last_report_and_without_a_break_to_its_first_absence():
    versions = [tree("ab"), tree("ab"), tree("a"), tree("ab"), *[tree("ab")] * 30]
    survival = survival_of(versions)
    assert survival.shares[:2] == (1.0, 1.0)
    assert survival.unbroken_shares[:2] == (0.5, 0.5)


def test_an_element_that_is_back_after_the_horizon_was_alive_at_it():
    versions = [tree("abc"), tree("abc"), tree("a"), *[tree("a")] * 20, tree("ab"), tree("ab")]
    assert survival_of(versions).shares[:2] == (2 / 3, 2 / 3)


def test_reports_after_five_weeks_do_not_count():
    versions = [tree("ab"), tree("ab"), *[tree("a")] * 34, tree("ab"), tree("ab")]
    survival = survival_of(versions, DAY)
    assert survival.shares == (None, None, 0.5, 0.5, 0.5, 0.5)


def test_the_papers_elements_both_live_through_a_change_of_their_text():
    foo_bar = {"/a[0]": "foo", "/a[0]/b[0]": "bar"}
    foo_baz = {"/a[0]": "foo", "/a[0]/b[0]": "baz"}
    survival = survival_of([foo_bar, foo_baz, foo_baz])
    assert (survival.elements, survival.shares[0]) == (2, 1.0)


def test_elements_that_come_later_do_not_count():
    assert survival_of([tree("a"), tree("a"), tree("abcd"), tree("abcd")]).shares[0] == 1.0


def test_horizons_beyond_the_history_are_unknown():
    shares = survival_of([tree("a")] * 26).shares
    assert shares == (1.0, 1.0, None, None, None, None)


def test_a_horizon_in_a_gap_is_unknown_and_one_after_it_is_known():
    times = [0, HOUR, 2 * HOUR, *(8 * DAY + hour * HOUR for hour in range(30 * 24))]
    shown = [0] * len(times)
    series = build_series(times, shown, [], [dom_of(tree("ab"))])
    shares = element_survival(element_history(series, look_timeline(series))).shares
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
    elements = elements_of([tree("".join(sorted(names))) for names in present])
    survival = element_survival(elements, horizons)
    for shares in (survival.shares, survival.unbroken_shares):
        known_shares = [share for share in shares if share is not None]
        assert all(0 <= share <= 1 for share in known_shares)
        assert known_shares == sorted(known_shares, reverse=True)


@given(VERSIONS)
def test_survival_agrees_with_following_each_element(present: list[str]):
    horizons = tuple(HOUR * hours for hours in range(2, 9))
    elements = elements_of([tree("".join(sorted(names))) for names in present])
    survival = element_survival(elements, horizons)
    reports = {
        name: [hour for hour, names in enumerate(present) if name in names] for name in present[0]
    }
    unbroken = {
        name: next((hour for hour, names in enumerate(present) if name not in names), len(present))
        for name in present[0]
    }
    alive = [hours[-1] for hours in reports.values() if hours[-1] >= 1]
    whole = [hour - 1 for hour in unbroken.values() if hour - 1 >= 1]
    expected, expected_unbroken = (
        tuple(
            sum(last >= hour for last in lasts) / len(lasts) if alive and lasts else None
            for hour in range(2, len(present))
        )
        for lasts in (alive, whole)
    )
    assert survival.elements == (len(alive) if len(present) > 1 else 0)
    known_horizons = max(len(present) - 2, 0)
    assert survival.shares[:known_horizons] == expected
    assert survival.unbroken_shares[:known_horizons] == expected_unbroken
    assert not any(survival.shares[known_horizons:])
