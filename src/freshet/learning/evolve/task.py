"""What an evolution is to learn, and how."""

from dataclasses import dataclass, field
from typing import Literal

from freshet.backtest.folds import FOLDS
from freshet.core.errors import UsageError
from freshet.formula.expression import Formula
from freshet.formula.variables import FitnessMeasure, WeightClock
from freshet.learning.evolve.chance_estimates import expand_chances
from freshet.learning.evolve.genetic_search import GPConfig
from freshet.learning.evolve.model_selection import SELECTION_METHODS
from freshet.schedule.model_file import SelectionMethod, TerminalSet
from freshet.schedule.ranked import VARIABLES_BY_TERMINAL_SET

EstimateKind = Literal["rates", "chances"]

ESTIMATE_KINDS: tuple[EstimateKind, ...] = ("rates", "chances")
FITNESS_MEASURES: tuple[FitnessMeasure, ...] = ("ndcg", "changerate")


@dataclass(frozen=True, slots=True)
class EvolutionTask:
    """What to learn, and how.

    ``estimates`` says what NAD to GAD stand for while formulas are bred: rates of change, or the
    chances that follow from them. ``folds`` says how many of the five folds have their turn as the
    test; 0 is none: then all pages are for training and validation, and the place is taken on the
    pages for validation. ``seed`` shares pages out and draws lots; it is also that of the first
    search, and those that follow count up from it.
    """

    terminals: TerminalSet = "all"
    estimates: EstimateKind = "rates"
    measure: FitnessMeasure = "ndcg"
    budget: float = 0.05
    clock: WeightClock = "visit"
    selection: SelectionMethod = "best"
    seed: int = 1
    seeds: int = 5
    folds: int = 1
    ways: GPConfig = field(default_factory=GPConfig)

    @property
    def variables(self) -> tuple[str, ...]:
        """Return what formulas may know of a page."""
        return VARIABLES_BY_TERMINAL_SET[self.terminals]

    @property
    def initial_formulas(self) -> tuple[Formula, ...]:
        """Return what a search begins with: names that are good formulas by themselves."""
        return tuple(Formula((name,)) for name in self.variables if self.terminals == "extended")

    def expand_chances(self, formula: Formula) -> Formula:
        """Return a bred formula as others read it, every estimate a rate."""
        return expand_chances(formula) if self.estimates == "chances" else formula


def check_task(task: EvolutionTask) -> None:
    """Refuse what cannot be learnt."""
    _require(
        task.terminals in VARIABLES_BY_TERMINAL_SET,
        f"terminals {task.terminals!r}",
        " or ".join(VARIABLES_BY_TERMINAL_SET),
    )
    _require(
        task.estimates in ESTIMATE_KINDS,
        f"estimates {task.estimates!r}",
        " or ".join(ESTIMATE_KINDS),
    )
    _require(
        task.measure in FITNESS_MEASURES, f"fitness {task.measure!r}", " or ".join(FITNESS_MEASURES)
    )
    _require(
        task.selection in SELECTION_METHODS,
        f"selection {task.selection!r}",
        " or ".join(SELECTION_METHODS),
    )
    _require(0 < task.budget <= 1, f"budget {task.budget:.4g}", "above 0 and at most 1")
    _require(0 <= task.folds <= FOLDS, f"{task.folds} folds", f"from 0 to {FOLDS}")
    _require(task.seeds >= 1, f"{task.seeds} seeds", "at least 1")
    _require(task.ways.population >= 2, f"population {task.ways.population}", "at least 2")
    _require(task.ways.generations >= 1, f"{task.ways.generations} generations", "at least 1")
    _require(task.ways.kept >= 1, f"{task.ways.kept} kept formulas", "at least 1")


def _require(holds: bool, what: str, wanted: str) -> None:
    if not holds:
        raise UsageError(f"{what}: it must be {wanted}")
