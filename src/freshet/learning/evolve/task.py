"""The task of an evolution: objective and settings."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal

from freshet.backtest.fitness import parse_fitness
from freshet.backtest.folds import FOLDS
from freshet.core.errors import UsageError
from freshet.formula.expression import Formula, FormulaToken
from freshet.formula.variables import WEIGHTED_ESTIMATES, WeightClock
from freshet.learning.evolve.genetic_search import GPConfig
from freshet.learning.evolve.model_selection import SELECTION_METHODS
from freshet.schedule.formulas.extended_formula_policy import (
    IMPORTANCE_VARIABLE,
    VARIABLES_BY_TERMINAL_SET,
)
from freshet.schedule.model_file import SelectionMethod, TerminalSet

EstimateKind = Literal["rates", "chances"]

ESTIMATE_KINDS: tuple[EstimateKind, ...] = ("rates", "chances")


@dataclass(frozen=True, slots=True)
class EvolutionTask:
    """The settings of an evolution.

    ``estimates`` is the meaning of NAD to GAD during the search: change rates, or the chances of a
    change that follow from them. ``folds`` is how many of the five folds serve as test pages, one
    after another; with 0 all pages are for training and validation, and policies are compared on
    the validation pages. ``seed`` is the seed of the page split, of tie breaks and of the first
    search; later searches count up from it. With ``planted``, the first generation of a search with
    extended variables has every variable as a formula of its own.
    """

    terminals: TerminalSet = "all"
    estimates: EstimateKind = "rates"
    measure: str = "ndcg"
    budget: float = 0.05
    clock: WeightClock = "visit"
    selection: SelectionMethod = "best"
    seed: int = 1
    seeds: int = 5
    folds: int = 1
    config: GPConfig = field(default_factory=GPConfig)
    planted: bool = True

    @property
    def variables(self) -> tuple[str, ...]:
        """Return the variables that formulas may use; importance if the fitness weighs by it."""
        variables = VARIABLES_BY_TERMINAL_SET[self.terminals]
        weighs = parse_fitness(self.measure).weighted_freshness > 0
        return (*variables, IMPORTANCE_VARIABLE) if weighs else variables

    @property
    def initial_formulas(self) -> tuple[Formula, ...]:
        """Return the formulas that are planted: variables that rank well on their own."""
        planted = self.terminals == "extended" and self.planted
        return tuple(Formula((name,)) for name in self.variables if planted)

    def expand_chances(self, formula: Formula) -> Formula:
        """Return a formula of the search in its general form, in which every estimate is a rate."""
        return expand_chances(formula) if self.estimates == "chances" else formula


def expand_chances(formula: Formula) -> Formula:
    """Return a formula with 1 - exp(-rate * t) in place of every weighted estimate.

    As rules of their own NAD, SAD, AAD and GAD rank pages by that chance (Santos et al. 2015,
    section 5.1). A search may use that meaning; in all other formulas the estimates are rates.

    >>> str(expand_chances(Formula(("*", "X", "NAD"))))
    'X * (1 - exp(0 - NAD * t))'
    """
    tokens: list[FormulaToken] = []
    for token in formula.tokens:
        is_estimate = token in WEIGHTED_ESTIMATES
        tokens += ("-", 1.0, "exp", "-", 0.0, "*", token, "t") if is_estimate else (token,)
    return Formula(tuple(tokens))


def check_task(task: EvolutionTask) -> None:
    """Refuse settings outside their range."""
    config = task.config
    _require_one_of("terminals", task.terminals, VARIABLES_BY_TERMINAL_SET)
    _require_one_of("estimates", task.estimates, ESTIMATE_KINDS)
    parse_fitness(task.measure)
    _require_one_of("selection", task.selection, SELECTION_METHODS)
    _require(0 < task.budget <= 1, f"budget {task.budget:.4g}", "above 0 and at most 1")
    _require(0 <= task.folds <= FOLDS, f"{task.folds} folds", f"from 0 to {FOLDS}")
    _require(task.seeds >= 1, f"{task.seeds} seeds", "at least 1")
    _require(config.population >= 2, f"population {config.population}", "at least 2")
    _require(config.generations >= 1, f"{config.generations} generations", "at least 1")
    _require(config.kept >= 1, f"{config.kept} kept formulas", "at least 1")


def _require_one_of(setting: str, value: str, allowed: Collection[str]) -> None:
    _require(value in allowed, f"{setting} {value!r}", " or ".join(allowed))


def _require(holds: bool, setting: str, requirement: str) -> None:
    if not holds:
        raise UsageError(f"{setting}: it must be {requirement}")
