"""All policies by name, and policies made from formulas."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial

from freshet.core.errors import UsageError
from freshet.core.own_classes import is_own_class, load_class
from freshet.core.policy import Policy
from freshet.core.setting_checks import looks_like_formula
from freshet.core.tables import DAY_SECONDS
from freshet.formula.expression import Formula, parse_formula
from freshet.formula.variables import PAPER_VARIABLES, WeightClock
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.cadence import CONTINUOUS_CADENCE, CYCLE_CADENCE
from freshet.schedule.formulas.extended_formula_policy import (
    IMPORTANCE_VARIABLE,
    VARIABLES_BY_TERMINAL_SET,
    ExtendedFormulaPolicy,
)
from freshet.schedule.formulas.formula_policy import FormulaPolicy
from freshet.schedule.links.link_policy import LinkPolicy
from freshet.schedule.links.link_rankings import (
    ContentChangeRateRule,
    LastLinksRule,
    LinkChangeRateRule,
    MeanLinksRule,
)
from freshet.schedule.mixture.guarded_policy import GuardedPolicy
from freshet.schedule.own_policy import POLICY_METHODS, with_checks
from freshet.schedule.page_states import RevisitDelays
from freshet.schedule.rules.basic_rules import AgeRule, RandomRule
from freshet.schedule.rules.interval_rules import (
    NUTCH_STEPS,
    STORMCRAWLER_STEPS,
    AdaptiveIntervalRule,
)
from freshet.schedule.rules.ranking_rule import RankingRule
from freshet.schedule.rules.rate_rules import ChangeRateRule, SmoothedRateRule, WeightedEstimateRule
from freshet.schedule.threads.timeliness_policy import TimelinessPolicy

RULE_POLICIES: Mapping[str, Callable[..., RankingRule]] = {
    "rand": RandomRule,
    "age": AgeRule,
    "cg": ChangeRateRule,
    "nad": partial(WeightedEstimateRule, estimate="NAD"),
    "sad": partial(WeightedEstimateRule, estimate="SAD"),
    "aad": partial(WeightedEstimateRule, estimate="AAD"),
    "gad": partial(WeightedEstimateRule, estimate="GAD"),
    "smoothed-rate": SmoothedRateRule,
    "nutch": partial(AdaptiveIntervalRule, steps=NUTCH_STEPS),
    "stormcrawler": partial(AdaptiveIntervalRule, steps=STORMCRAWLER_STEPS),
}
LINK_RULE_POLICIES: Mapping[str, Callable[..., RankingRule]] = {
    "nnl-pr": LastLinksRule,
    "nnl-av": MeanLinksRule,
    "lcr": LinkChangeRateRule,
    "ccr": ContentChangeRateRule,
}
CYCLE_RULE_POLICIES: Mapping[str, Callable[..., RankingRule]] = {
    "nad-cycle": partial(WeightedEstimateRule, estimate="NAD", clock="cycle"),
    "sad-cycle": partial(WeightedEstimateRule, estimate="SAD", clock="cycle"),
    "aad-cycle": partial(WeightedEstimateRule, estimate="AAD", clock="cycle"),
    "gad-cycle": partial(WeightedEstimateRule, estimate="GAD", clock="cycle"),
}
BAYES_POLICIES: Mapping[str, Callable[..., Policy]] = {
    "bayes-changes": partial(BayesPolicy, objective="changes"),
    "bayes-freshness": partial(BayesPolicy, objective="freshness"),
}
GUARDED_POLICIES: Mapping[str, Callable[..., Policy]] = {
    "guarded-changes": partial(GuardedPolicy, objective="changes"),
    "guarded-freshness": partial(GuardedPolicy, objective="freshness"),
}
LINK_FORECAST_POLICY = "bayes-links"
LINK_POLICIES: Mapping[str, Callable[..., Policy]] = {LINK_FORECAST_POLICY: LinkPolicy}
THREAD_POLICY = "bayes-timeliness"
THREAD_POLICIES: Mapping[str, Callable[..., Policy]] = {THREAD_POLICY: TimelinessPolicy}
FORECASTING_POLICIES = {**GUARDED_POLICIES, **BAYES_POLICIES}
POLICY_NAMES = (*RULE_POLICIES, *BAYES_POLICIES, *GUARDED_POLICIES)
LINK_POLICY_NAMES = (*LINK_RULE_POLICIES, *LINK_POLICIES)
THREAD_POLICY_NAMES = tuple(THREAD_POLICIES)
CYCLE_POLICY_NAMES = tuple(CYCLE_RULE_POLICIES)
ALL_POLICY_NAMES = (*POLICY_NAMES, *LINK_POLICY_NAMES, *THREAD_POLICY_NAMES, *CYCLE_POLICY_NAMES)
FORMULA_VARIABLES = (*VARIABLES_BY_TERMINAL_SET["extended"], IMPORTANCE_VARIABLE)
MAX_SHOWN_LETTERS = 80


@dataclass(frozen=True, slots=True)
class FormulaRanking:
    """A formula that ranks pages, the clock of its weights, and its name as a policy."""

    formula: Formula
    clock: WeightClock = "visit"
    name: str = ""

    @property
    def title(self) -> str:
        """Return the name, or the formula's text if there is none."""
        return self.name or str(self.formula)


def make_policy(
    name: str | FormulaRanking,
    *,
    seed: int = 0,
    live: bool = False,
    page_interval: float = 0.0,
    longest_backoff_days: float = 30.0,
) -> Policy:
    """Return a new policy without pages, by its name or formula.

    A ``live`` policy works in continuous time, others in cycles. ``page_interval`` is the least
    number of seconds between two visits of a page.
    """
    delays = RevisitDelays(
        page_interval, longest_backoff_seconds=longest_backoff_days * DAY_SECONDS
    )
    cadence = CONTINUOUS_CADENCE if live else CYCLE_CADENCE
    models = {**FORECASTING_POLICIES, **LINK_POLICIES, **THREAD_POLICIES}
    if isinstance(name, str) and name in models:
        return models[name](name, cadence=cadence, seed=seed, delays=delays)
    rules = {**RULE_POLICIES, **LINK_RULE_POLICIES, **CYCLE_RULE_POLICIES}
    if isinstance(name, str) and name in rules:
        return rules[name](name, seed=seed, delays=delays)
    if isinstance(name, str) and is_own_policy(name):
        return _make_own_policy(name, seed=seed, delays=delays)
    ranking = FormulaRanking(parse_policy_formula(name)) if isinstance(name, str) else name
    title, formula, clock = ranking.title, ranking.formula, ranking.clock
    if formula.variables <= set(PAPER_VARIABLES):
        return FormulaPolicy(title, formula, clock=clock, seed=seed, delays=delays)
    return ExtendedFormulaPolicy(
        title, formula, cadence=cadence, clock=clock, seed=seed, delays=delays
    )


def is_own_policy(name: str) -> bool:
    """Whether a name is that of a user's policy: an entry point or ``module:Class``."""
    return name not in ALL_POLICY_NAMES and is_own_class(name, "freshet.policies")


def _make_own_policy(name: str, *, seed: int, delays: RevisitDelays) -> Policy:
    policy_class = load_class(name, "freshet.policies", POLICY_METHODS)
    try:
        policy: Policy = with_checks(policy_class, name)(name, seed=seed, delays=delays)
    except Exception as error:
        raise UsageError(
            f"policy {name!r} cannot be made: {type(error).__name__}: {error}"
        ) from error
    return policy


def parse_policy_formula(text: str, names: tuple[str, ...] = ALL_POLICY_NAMES) -> Formula:
    """Parse a formula that ranks pages; text that looks like a policy's name is refused.

    >>> str(parse_policy_formula("t*X"))
    't * X'
    """
    if not looks_like_formula(text):
        raise UsageError(unknown_policy_message(text, names))
    return parse_formula(text, FORMULA_VARIABLES)


def unknown_policy_message(name: str, names: tuple[str, ...]) -> str:
    """Return the error message for an unknown policy, with the closest name.

    >>> unknown_policy_message("nutsch", ("age", "nutch"))
    "'nutsch' is not a policy; did you mean nutch? There are age, nutch, formulas (t * X), \
model files (mine.json) and own classes (module:Class)"
    >>> unknown_policy_message("Nad", ("sad", "nad"))[:40]
    "'Nad' is not a policy; did you mean nad?"
    """
    matches = get_close_matches(name[:MAX_SHOWN_LETTERS].casefold(), names, n=1)
    hint = f"did you mean {matches[0]}? There are" if matches else "there are"
    shown = name[:MAX_SHOWN_LETTERS]
    others = "formulas (t * X), model files (mine.json) and own classes (module:Class)"
    return f"{shown!r} is not a policy; {hint} {', '.join(names)}, {others}"
