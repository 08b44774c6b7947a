"""Every policy by its name."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial

from freshet.core.errors import UsageError
from freshet.core.policy import Policy
from freshet.core.tables import DAY_SECONDS
from freshet.schedule.bayes import BayesPolicy
from freshet.schedule.cadence import CONTINUOUS, CYCLES
from freshet.schedule.rules import (
    AAD,
    GAD,
    NAD,
    NUTCH,
    SAD,
    STORMCRAWLER,
    Adaptive,
    Age,
    Cho,
    Rand,
    Rule,
    Weighted,
)
from freshet.schedule.states import Waits

RULES: Mapping[str, Callable[..., Rule]] = {
    "rand": Rand,
    "age": Age,
    "cg": Cho,
    "nad": partial(Weighted, weights=NAD),
    "sad": partial(Weighted, weights=SAD),
    "aad": partial(Weighted, weights=AAD),
    "gad": partial(Weighted, weights=GAD),
    "nutch": partial(Adaptive, steps=NUTCH),
    "stormcrawler": partial(Adaptive, steps=STORMCRAWLER),
}
BY_CYCLE: Mapping[str, Callable[..., Rule]] = {
    "nad-cycle": partial(Weighted, weights=NAD, clock="cycle"),
    "sad-cycle": partial(Weighted, weights=SAD, clock="cycle"),
    "aad-cycle": partial(Weighted, weights=AAD, clock="cycle"),
    "gad-cycle": partial(Weighted, weights=GAD, clock="cycle"),
}
BAYES: Mapping[str, Callable[..., Policy]] = {
    "bayes-changes": partial(BayesPolicy, objective="changes"),
    "bayes-freshness": partial(BayesPolicy, objective="freshness"),
}
NAMES = (*RULES, *BAYES)
VARIANTS = tuple(BY_CYCLE)


def make(
    name: str,
    *,
    seed: int = 0,
    live: bool = False,
    page_interval: float = 0.0,
    longest_backoff_days: float = 30.0,
) -> Policy:
    """Return the policy of that name, which knows no page yet.

    A ``live`` one works in continuous time, others in cycles; ``page_interval`` is the least number
    of seconds between two visits of a page.
    """
    waits = Waits(page_interval, longest_backoff=longest_backoff_days * DAY_SECONDS)
    if name in BAYES:
        cadence = CONTINUOUS if live else CYCLES
        return BAYES[name](name, cadence=cadence, seed=seed, waits=waits)
    rules = {**RULES, **BY_CYCLE}
    if name not in rules:
        raise UsageError(unknown(name, (*NAMES, *VARIANTS)))
    return rules[name](name, seed=seed, waits=waits)


def unknown(name: str, names: tuple[str, ...]) -> str:
    """Say that there is no such policy, and which one may be meant.

    >>> unknown("nutsch", ("age", "nutch"))
    "'nutsch' is no policy; did you mean nutch? There are age, nutch"
    """
    near = get_close_matches(name, names, n=1)
    meant = f"did you mean {near[0]}? There are" if near else "there are"
    return f"{name!r} is no policy; {meant} {', '.join(names)}"
