"""The policies that are compared: all of the program, references, the default without parts."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

from experiments.wild.ablation import ABLATED_PARTS
from freshet.backtest.continuous.comparison import make_live_selector
from freshet.backtest.continuous.ground_truth import GroundTruth
from freshet.backtest.cycle_crawl import Selector
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.policies import POLICY_NAMES

ROUND_ROBIN = "age"
# They know the mean rate of every page; other policies may do better.
REFERENCES = ("known-rate-changes", "known-rate")
DEFAULTS = ("bayes-changes", "bayes-freshness")
RULES = (ROUND_ROBIN, "nutch", "stormcrawler")


@dataclass(frozen=True, slots=True)
class PolicyVariant:
    """A policy under a name; ``make`` takes the ground truth and a seed."""

    name: str
    make: Callable[[GroundTruth, int], Selector]


def compared_policies(*, all_rules: bool = True) -> list[PolicyVariant]:
    """Return the default policies, all rules or only those of crawlers, and the references."""
    names = POLICY_NAMES if all_rules else (*RULES, *DEFAULTS)
    return [named_policy(name) for name in (*names, *REFERENCES)]


def named_policy(name: str) -> PolicyVariant:
    """Return a policy of the program, or an oracle, by its name."""
    return PolicyVariant(name, lambda truth, seed: make_live_selector(name, truth, seed))


def ablated_policies() -> list[PolicyVariant]:
    """Return the default policies, each without one of its parts."""
    return [
        PolicyVariant(f"{name} without {part}", partial(_make_without, name, part))
        for name, part in product(DEFAULTS, ABLATED_PARTS)
    ]


def _make_without(name: str, part: str, truth: GroundTruth, seed: int) -> Selector:
    policy = make_live_selector(name, truth, seed)
    assert isinstance(policy, BayesPolicy)
    ABLATED_PARTS[part](policy)
    return policy


def all_variants() -> dict[str, PolicyVariant]:
    """Return every variant by its name."""
    return {variant.name: variant for variant in (*compared_policies(), *ablated_policies())}
