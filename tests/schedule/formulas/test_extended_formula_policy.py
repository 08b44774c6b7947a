"""The values of extended variables, and the columns that a policy keeps for them."""

from math import cos, tau
from pathlib import Path

import numpy as np
import pytest

from freshet.core.clock import from_epoch
from freshet.core.tables import DAY_SECONDS, HostCaps, VisitTable
from freshet.formula.expression import FUNCTIONS, INFIX_OPERATORS, parse_formula
from freshet.schedule.cadence import CYCLE_CADENCE
from freshet.schedule.formulas.extended_formula_policy import (
    VARIABLES_BY_TERMINAL_SET,
    ExtendedFormulaPolicy,
)
from freshet.schedule.formulas.formula_policy import FormulaPolicy
from freshet.schedule.policies import FORMULA_VARIABLES, make_policy
from tests.schedule.bayes_samples import bayes_policy, pages, visits

ALL_PAGES = np.arange(60)
REFERENCE = Path(__file__).parents[3] / "docs/reference/formulas.md"


def extended_policy(text: str, count: int = 60) -> ExtendedFormulaPolicy:
    """Return a policy in cycles that knows pages in hosts of four and directories of ten."""
    policy = ExtendedFormulaPolicy(
        text, parse_formula(text, VARIABLES_BY_TERMINAL_SET["extended"]), cadence=CYCLE_CADENCE
    )
    policy.add(pages(range(count), since_day=-1.0))
    return policy


def variable_value(policy: ExtendedFormulaPolicy, name: str, page: int, day: float) -> float:
    evaluation = policy.explain(page, from_epoch(day * DAY_SECONDS)).reckoning
    assert evaluation is not None
    return evaluation.names[name]


def some_days(days: int) -> list[VisitTable]:
    """Return looks at all pages for two days and at a few later, every third of them changed."""
    looks = [ALL_PAGES if day < 2 else ALL_PAGES[day * 5 % 60 :][:9] for day in range(days)]
    return [visits(ids, float(day), ids % 3 == 0) for day, ids in enumerate(looks)]


def test_the_papers_sets_of_variables_are_its_own_and_the_extended_one_has_five_more() -> None:
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


def test_only_a_formula_with_forecast_variables_keeps_a_forecast() -> None:
    assert type(make_policy("t * X")) is FormulaPolicy
    assert type(make_policy("t * rate")) is ExtendedFormulaPolicy


def test_rate_and_chance_are_those_of_the_default_policy_for_changes() -> None:
    policy, default = extended_policy("rate + chance"), bayes_policy("changes", live=False)
    default.add(pages(range(60), since_day=-1.0))
    for looks in some_days(7):
        policy.learn(looks)
        default.learn(looks)
    now = from_epoch(7 * DAY_SECONDS)
    choices, default_choices = (
        policy.choose(now, 60, HostCaps()),
        default.choose(now, 60, HostCaps()),
    )
    for page, chance in zip(
        default_choices.pages.tolist(), default_choices.chances.tolist(), strict=True
    ):
        assert variable_value(policy, "chance", page, 7.0) == pytest.approx(chance, rel=1e-6)
    assert sorted(choices.chances) == pytest.approx(sorted(default_choices.chances), rel=1e-6)
    likelihood = default.page_states.column("likelihood")
    posterior = default._model.posterior
    prior = default._model.prior.rows_for(default.page_states, ALL_PAGES)
    ages = default.page_states.days_since_look(ALL_PAGES, 7 * DAY_SECONDS)
    posteriors = posterior.posteriors(likelihood, ALL_PAGES, ages, prior)
    for page in ALL_PAGES.tolist():
        rate = float(posteriors[page] @ CYCLE_CADENCE.rates)
        assert variable_value(policy, "rate", page, 7.0) == pytest.approx(rate, rel=1e-6)


def test_chance_is_the_same_between_days_as_on_them() -> None:
    policy = extended_policy("chance")
    for looks in some_days(7):
        policy.learn(looks)
    before, on, after = (
        variable_value(policy, "chance", 1, day) for day in (12 - 1e-7, 12.0, 12 + 1e-7)
    )
    assert before == pytest.approx(on, abs=1e-8)
    assert after == pytest.approx(on, abs=1e-8)
    assert before < on < after


def test_in_cycles_the_prior_is_fitted_once_a_week() -> None:
    policy, fitted_days = extended_policy("rate"), []
    for day in range(20):
        policy.choose(from_epoch(day * DAY_SECONDS), 5, HostCaps())
        policy.learn(visits(ALL_PAGES, float(day), ALL_PAGES % 3 == 0))
        fitted_days.append(policy.state()["prior_fitted_at"] / DAY_SECONDS)
    assert fitted_days == [0.0] * 7 + [7.0] * 7 + [14.0] * 6


def test_quiet_counts_from_the_last_change_seen_or_the_first_look() -> None:
    policy = extended_policy("quiet", count=3)
    assert variable_value(policy, "quiet", 0, 1.0) == 0.0
    policy.learn(visits([0, 1, 2], 1.0))
    policy.learn(visits([0, 1], 3.0, [True, False]))
    policy.learn(visits([0, 1], 4.0, True, measured=[True, False]))
    assert [variable_value(policy, "quiet", page, 9.5) for page in (0, 1, 2)] == [5.5, 8.5, 8.5]


def test_weekday_is_the_agreement_of_the_day_with_the_changes_seen() -> None:
    policy = extended_policy("weekday", count=3)
    for day in (3.0, 10.4, 12.0):
        policy.learn(visits([0, 1], day, [day < 11, day > 11]))
    policy.learn(visits([1], 15.0, True))
    assert variable_value(policy, "weekday", 0, 17.9) == pytest.approx(1.0)
    assert variable_value(policy, "weekday", 0, 18.0) == pytest.approx(cos(tau / 7))
    assert variable_value(policy, "weekday", 1, 22.0) == pytest.approx((cos(tau * 3 / 7) + 1) / 2)
    assert variable_value(policy, "weekday", 2, 22.0) == 0.0


def test_around_is_longer_than_the_age_where_the_directory_has_changed_since() -> None:
    policy = extended_policy("around")
    for day in range(12):
        policy.learn(visits(ALL_PAGES, float(day), np.equal(ALL_PAGES, day)))
    for day in (12, 13, 14):
        policy.choose(from_epoch(day * DAY_SECONDS), 0, HostCaps())
        policy.learn(visits(ALL_PAGES[:5], float(day), True))
        policy.learn(visits(ALL_PAGES[10:15], float(day), False))
    policy.choose(from_epoch(15 * DAY_SECONDS), 0, HostCaps())
    changing, unchanging, unseen = (
        variable_value(policy, "around", page, 15.0) for page in (9, 19, 29)
    )
    assert changing > 2 * 4
    assert unchanging < 4
    assert unseen == pytest.approx(4, abs=0.5)


def test_around_is_the_age_in_a_small_directory() -> None:
    policy = extended_policy("around", count=7)
    for day in range(4):
        policy.learn(visits(range(6), float(day), True))
    assert variable_value(policy, "around", 6, 6.0) == 7.0
    assert variable_value(policy, "around", 0, 6.0) == 3.0


def test_an_explanation_changes_no_choice() -> None:
    explained, unasked = extended_policy("chance + around"), extended_policy("chance + around")
    for day, looks in enumerate(some_days(20)):
        if day >= 2:
            now = from_epoch(day * DAY_SECONDS)
            explained.explain(3, from_epoch((day - 0.5) * DAY_SECONDS))
            choices, default_choices = (
                policy.choose(now, 6, HostCaps()) for policy in (explained, unasked)
            )
            assert choices.pages.tolist() == default_choices.pages.tolist()
        for policy in (explained, unasked):
            policy.learn(looks)


def test_an_explanation_has_rates_and_the_values_of_the_variables() -> None:
    policy = extended_policy("chance * 2 + n")
    for looks in some_days(5):
        policy.learn(looks)
    explanation = policy.explain(0, from_epoch(6 * DAY_SECONDS))
    rates = [
        rate
        for rate in (explanation.rate_low, explanation.rate, explanation.rate_high)
        if rate is not None
    ]
    assert len(rates) == 3
    assert rates == sorted(set(rates))
    assert explanation.reckoning is not None
    names = explanation.reckoning.names
    assert sorted(names) == ["chance", "n"]
    assert explanation.chance == pytest.approx(names["chance"])
    assert (
        explanation.value
        == explanation.reckoning.score
        == pytest.approx(names["chance"] * 2 + names["n"])
    )
    assert explanation.due is None


def test_the_reference_lists_every_variable_and_function() -> None:
    text = REFERENCE.read_text("utf-8")
    rows = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
    names = [row for row in rows if row.isidentifier()]
    assert sorted(names) == sorted(FORMULA_VARIABLES)
    assert all(f"`{name}(" in text for name in FUNCTIONS if name not in INFIX_OPERATORS)
    assert all(f"`a {name} b`" in text for name in INFIX_OPERATORS)
