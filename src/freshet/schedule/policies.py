"""Every policy by its name, or by the formula that it ranks by."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial

from freshet.core.errors import UsageError
from freshet.core.policy import Policy
from freshet.core.settings import looks_like_formula
from freshet.core.tables import DAY_SECONDS
from freshet.formula.expression import Formula, parse
from freshet.formula.variables import Clock
from freshet.schedule import ranked
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.cadence import CONTINUOUS, CYCLES
from freshet.schedule.ranking_rules import (
    NUTCH,
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
    "nad": partial(Weighted, estimate="NAD"),
    "sad": partial(Weighted, estimate="SAD"),
    "aad": partial(Weighted, estimate="AAD"),
    "gad": partial(Weighted, estimate="GAD"),
    "nutch": partial(Adaptive, steps=NUTCH),
    "stormcrawler": partial(Adaptive, steps=STORMCRAWLER),
}
BY_CYCLE: Mapping[str, Callable[..., Rule]] = {
    "nad-cycle": partial(Weighted, estimate="NAD", clock="cycle"),
    "sad-cycle": partial(Weighted, estimate="SAD", clock="cycle"),
    "aad-cycle": partial(Weighted, estimate="AAD", clock="cycle"),
    "gad-cycle": partial(Weighted, estimate="GAD", clock="cycle"),
}
BAYES: Mapping[str, Callable[..., Policy]] = {
    "bayes-changes": partial(BayesPolicy, objective="changes"),
    "bayes-freshness": partial(BayesPolicy, objective="freshness"),
}
NAMES = (*RULES, *BAYES)
VARIANTS = tuple(BY_CYCLE)
KNOWN = (*NAMES, *VARIANTS)
FORMULA_NAMES = ranked.NAMES["extended"]
SHOWN_LETTERS = 80


@dataclass(frozen=True, slots=True)
class Ranking:
    """A formula to rank pages by, the clock of its weights, and the name that it goes by."""

    formula: Formula
    clock: Clock = "visit"
    name: str = ""

    @property
    def title(self) -> str:
        """Return its name: the formula as it is usually written, where none was given."""
        return self.name or str(self.formula)


def make(
    name: str | Ranking,
    *,
    seed: int = 0,
    live: bool = False,
    page_interval: float = 0.0,
    longest_backoff_days: float = 30.0,
) -> Policy:
    """Return the policy of that name or formula, which knows no page yet.

    A ``live`` one works in continuous time, others in cycles; ``page_interval`` is the least number
    of seconds between two visits of a page.
    """
    waits = Waits(page_interval, longest_backoff=longest_backoff_days * DAY_SECONDS)
    if isinstance(name, str) and name in BAYES:
        cadence = CONTINUOUS if live else CYCLES
        return BAYES[name](name, cadence=cadence, seed=seed, waits=waits)
    rules = {**RULES, **BY_CYCLE}
    if isinstance(name, str) and name in rules:
        return rules[name](name, seed=seed, waits=waits)
    wanted = name if isinstance(name, Ranking) else Ranking(formula_of(name))
    return ranked.make(
        wanted.formula, name=wanted.name, clock=wanted.clock, seed=seed, waits=waits, live=live
    )


def formula_of(text: str, names: tuple[str, ...] = KNOWN) -> Formula:
    """Read a formula that ranks pages; what is rather a misspelt name is refused as one.

    >>> str(formula_of("t*X"))
    't * X'
    """
    if not looks_like_formula(text):
        raise UsageError(unknown(text, names))
    return parse(text, FORMULA_NAMES)


def unknown(name: str, names: tuple[str, ...]) -> str:
    """Say that there is no such policy, and which one may be meant.

    >>> unknown("nutsch", ("age", "nutch"))
    "'nutsch' is no policy; did you mean nutch? There are age, nutch, formulas such as t * X"
    >>> unknown("Nad", ("sad", "nad"))
    "'Nad' is no policy; did you mean nad? There are sad, nad, formulas such as t * X"
    """
    near = get_close_matches(name[:SHOWN_LETTERS].casefold(), names, n=1)
    meant = f"did you mean {near[0]}? There are" if near else "there are"
    return (
        f"{name[:SHOWN_LETTERS]!r} is no policy; {meant} {', '.join(names)}, formulas such as t * X"
    )
