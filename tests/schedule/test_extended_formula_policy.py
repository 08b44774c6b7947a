"""What the extended names of a formula stand for, and that a policy keeps what they need."""

from math import cos, tau
from pathlib import Path

import numpy as np
import pytest

from freshet.core.clock import from_epoch
from freshet.core.tables import DAY_SECONDS, HostCaps, VisitTable
from freshet.formula.expression import FUNCTIONS, INFIX_OPERATORS, parse_formula
from freshet.schedule.cadence import CYCLE_CADENCE
from freshet.schedule.ranked import (
    VARIABLES_BY_TERMINAL_SET,
    ExtendedFormulaPolicy,
    FormulaPolicy,
    make_formula_policy,
)
from tests.schedule.bayes_samples import pages, visits
from tests.schedule.bayes_samples import policy as bayes

EVERYTHING = np.arange(60)
REFERENCE = Path(__file__).parents[2] / "docs/reference/formulas.md"


def foreseeing(text: str, count: int = 60) -> ExtendedFormulaPolicy:
    """Return a policy in cycles that knows pages in hosts of four and directories of ten."""
    made = ExtendedFormulaPolicy(
        text, parse_formula(text, VARIABLES_BY_TERMINAL_SET["extended"]), cadence=CYCLE_CADENCE
    )
    made.add(pages(range(count), since_day=-1.0))
    return made


def told(policy: ExtendedFormulaPolicy, name: str, page: int, day: float) -> float:
    reckoning = policy.explain(page, from_epoch(day * DAY_SECONDS)).reckoning
    assert reckoning is not None
    return reckoning.names[name]


def some_days(days: int) -> list[VisitTable]:
    """Return looks at all pages for two days and at a few later, every third of them changed."""
    looks = [EVERYTHING if day < 2 else EVERYTHING[day * 5 % 60 :][:9] for day in range(days)]
    return [visits(ids, float(day), ids % 3 == 0) for day, ids in enumerate(looks)]


def test_the_papers_sets_of_names_are_its_own_and_the_extended_one_has_five_more() -> None:
    assert VARIABLES_BY_TERMINAL_SET["basic"] == ("n", "X", "t")
    assert VARIABLES_BY_TERMINAL_SET["all"] == ("n", "X", "t", "CG", "NAD", "SAD", "AAD", "GAD")
    assert VARIABLES_BY_TERMINAL_SET["extended"][:8] == VARIABLES_BY_TERMINAL_SET["all"]
    assert sorted(VARIABLES_BY_TERMINAL_SET["extended"][8:]) == [
        "around",
        "chance",
        "quiet",
        "rate",
        "weekday",
    ]


def test_only_a_formula_that_asks_for_a_forecast_keeps_one() -> None:
    assert (
        type(make_formula_policy(parse_formula("t * X", VARIABLES_BY_TERMINAL_SET["all"])))
        is FormulaPolicy
    )
    assert (
        type(make_formula_policy(parse_formula("t * rate", VARIABLES_BY_TERMINAL_SET["extended"])))
        is ExtendedFormulaPolicy
    )


def test_rate_and_chance_are_those_of_the_default_policy_for_changes() -> None:
    policy, default = foreseeing("rate + chance"), bayes("changes", live=False)
    default.add(pages(range(60), since_day=-1.0))
    for looks in some_days(7):
        policy.learn(looks)
        default.learn(looks)
    now = from_epoch(7 * DAY_SECONDS)
    mine, its = policy.choose(now, 60, HostCaps()), default.choose(now, 60, HostCaps())
    for page, chance in zip(its.pages.tolist(), its.chances.tolist(), strict=True):
        assert told(policy, "chance", page, 7.0) == pytest.approx(chance, rel=1e-9)
    assert sorted(mine.chances) == pytest.approx(sorted(its.chances), rel=1e-9)
    likelihood = default.page_states.column("likelihood")
    learning = default._forecasts.posterior
    prior = default._forecasts.prior.rows_for(default.page_states, EVERYTHING)
    ages = default.page_states.days_since_look(EVERYTHING, 7 * DAY_SECONDS)
    posteriors = learning.posteriors(likelihood, EVERYTHING, ages, prior)
    for page in EVERYTHING.tolist():
        rate = float(posteriors[page] @ CYCLE_CADENCE.rates)
        assert told(policy, "rate", page, 7.0) == pytest.approx(rate, rel=1e-9)


def test_chance_is_the_same_between_days_as_on_them() -> None:
    policy = foreseeing("chance")
    for looks in some_days(7):
        policy.learn(looks)
    before, on, after = (told(policy, "chance", 1, day) for day in (12 - 1e-7, 12.0, 12 + 1e-7))
    assert before == pytest.approx(on, abs=1e-8)
    assert after == pytest.approx(on, abs=1e-8)
    assert before < on < after


def test_in_cycles_the_prior_is_learnt_once_a_week() -> None:
    policy, learnt = foreseeing("rate"), []
    for day in range(20):
        policy.choose(from_epoch(day * DAY_SECONDS), 5, HostCaps())
        policy.learn(visits(EVERYTHING, float(day), EVERYTHING % 3 == 0))
        learnt.append(policy.state()["prior_learnt"] / DAY_SECONDS)
    assert learnt == [0.0] * 7 + [7.0] * 7 + [14.0] * 6


def test_quiet_counts_from_the_last_change_seen_or_the_first_look() -> None:
    policy = foreseeing("quiet", count=3)
    assert told(policy, "quiet", 0, 1.0) == 0.0
    policy.learn(visits([0, 1, 2], 1.0))
    policy.learn(visits([0, 1], 3.0, [True, False]))
    policy.learn(visits([0, 1], 4.0, True, measured=[True, False]))
    assert [told(policy, "quiet", page, 9.5) for page in (0, 1, 2)] == [5.5, 8.5, 8.5]


def test_weekday_says_how_well_the_day_agrees_with_the_changes_seen() -> None:
    policy = foreseeing("weekday", count=3)
    for day in (3.0, 10.4, 12.0):
        policy.learn(visits([0, 1], day, [day < 11, day > 11]))
    policy.learn(visits([1], 15.0, True))
    assert told(policy, "weekday", 0, 17.9) == pytest.approx(1.0)
    assert told(policy, "weekday", 0, 18.0) == pytest.approx(cos(tau / 7))
    assert told(policy, "weekday", 1, 22.0) == pytest.approx((cos(tau * 3 / 7) + 1) / 2)
    assert told(policy, "weekday", 2, 22.0) == 0.0


def test_around_is_longer_than_the_age_where_the_directory_has_changed_since() -> None:
    policy = foreseeing("around")
    for day in range(12):
        policy.learn(visits(EVERYTHING, float(day), np.equal(EVERYTHING, day)))
    for day in (12, 13, 14):
        policy.choose(from_epoch(day * DAY_SECONDS), 0, HostCaps())
        policy.learn(visits(EVERYTHING[:5], float(day), True))
        policy.learn(visits(EVERYTHING[10:15], float(day), False))
    policy.choose(from_epoch(15 * DAY_SECONDS), 0, HostCaps())
    lively, still, unseen = (told(policy, "around", page, 15.0) for page in (9, 19, 29))
    assert lively > 2 * 4
    assert still < 4
    assert unseen == pytest.approx(4, abs=0.5)


def test_around_is_the_age_in_a_small_directory() -> None:
    policy = foreseeing("around", count=7)
    for day in range(4):
        policy.learn(visits(range(6), float(day), True))
    assert told(policy, "around", 6, 6.0) == 7.0
    assert told(policy, "around", 0, 6.0) == 3.0


def test_asking_why_alters_no_choice() -> None:
    asked, other = foreseeing("chance + around"), foreseeing("chance + around")
    for day, looks in enumerate(some_days(20)):
        if day >= 2:
            now = from_epoch(day * DAY_SECONDS)
            asked.explain(3, from_epoch((day - 0.5) * DAY_SECONDS))
            mine, its = (each.choose(now, 6, HostCaps()) for each in (asked, other))
            assert mine.pages.tolist() == its.pages.tolist()
        for each in (asked, other):
            each.learn(looks)


def test_an_explanation_tells_rates_and_what_the_names_stand_for() -> None:
    policy = foreseeing("chance * 2 + n")
    for looks in some_days(5):
        policy.learn(looks)
    found = policy.explain(0, from_epoch(6 * DAY_SECONDS))
    rates = [rate for rate in (found.rate_low, found.rate, found.rate_high) if rate is not None]
    assert len(rates) == 3
    assert rates == sorted(set(rates))
    assert found.reckoning is not None
    names = found.reckoning.names
    assert sorted(names) == ["chance", "n"]
    assert found.chance == pytest.approx(names["chance"])
    assert found.value == found.reckoning.score == pytest.approx(names["chance"] * 2 + names["n"])
    assert found.due is None


def test_the_reference_tells_of_every_name_and_function() -> None:
    told = REFERENCE.read_text("utf-8")
    rows = [line.split("`")[1] for line in told.splitlines() if line.startswith("| `")]
    names = [row for row in rows if row.isidentifier()]
    assert sorted(names) == sorted(VARIABLES_BY_TERMINAL_SET["extended"])
    assert all(f"`{name}(" in told for name in FUNCTIONS if name not in INFIX_OPERATORS)
    assert all(f"`a {name} b`" in told for name in INFIX_OPERATORS)
