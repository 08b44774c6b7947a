"""How far a default policy is above or below the best rule, in every setting of the figures.

A setting is a trace, a start (warm or cold) and a budget. Each policy is judged by the measure of
its own objective. The best rule may be another one in each setting.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from experiments.wild.evaluation import WildRow
from experiments.wild.variants import REFERENCES

JUDGED_POLICIES = ("bayes-changes", "bayes-freshness", "guarded-changes", "guarded-freshness")
# The required margin above the best rule, by measure.
REQUIRED_MARGINS = {"changerate": 0.03, "freshness": 0.01}


@dataclass(frozen=True, slots=True)
class RuleMargin:
    """A policy and the best rule in one setting, by the measure of the policy's objective."""

    trace: str
    start: str
    budget: float
    policy: str
    measure: str
    value: float
    rule: str
    rule_value: float

    @property
    def margin(self) -> float:
        """Return how much the policy is above the rule."""
        return self.value - self.rule_value

    @property
    def is_met(self) -> bool:
        """Return whether the margin is the required one, or more."""
        return self.margin >= REQUIRED_MARGINS[self.measure]


def policy_measure(policy: str) -> str:
    """Return the measure of a policy's objective.

    >>> policy_measure("guarded-changes"), policy_measure("bayes-freshness")
    ('changerate', 'freshness')
    """
    return "changerate" if policy.endswith("-changes") else "freshness"


def rule_margins(rows: Sequence[WildRow]) -> Iterator[RuleMargin]:
    """Yield the margin of every default policy in every setting that has rules."""
    settings = dict.fromkeys((row.trace, row.start, row.budget) for row in rows)
    for setting in settings:
        here = {row.policy: row for row in rows if (row.trace, row.start, row.budget) == setting}
        rules = [row for row in here.values() if is_rule(row.policy)]
        for policy in JUDGED_POLICIES:
            if policy in here and rules:
                measure = policy_measure(policy)
                values = {row.policy: float(getattr(row, measure)) for row in rules}
                best = max(values, key=values.__getitem__)
                value = float(getattr(here[policy], measure))
                yield RuleMargin(*setting, policy, measure, value, best, values[best])


def is_rule(policy: str) -> bool:
    """Return whether a policy is a simple rule: no default, no part of one and no reference.

    >>> is_rule("nutch"), is_rule("bayes-changes without waiting"), is_rule("known-rate")
    (True, False, False)
    """
    return policy not in REFERENCES and not policy.startswith(JUDGED_POLICIES)
