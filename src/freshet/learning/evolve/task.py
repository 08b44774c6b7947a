"""What an evolution is to learn, and how."""

from dataclasses import dataclass, field
from typing import Literal

from freshet.backtest.folds import FOLDS
from freshet.core.errors import UsageError
from freshet.formula.expression import Formula
from freshet.formula.variables import Clock, Measure
from freshet.learning.evolve.chance_estimates import written_out
from freshet.learning.evolve.genetic_search import Ways
from freshet.learning.evolve.model_selection import SELECTIONS
from freshet.schedule.model_file import Selection, Terminals
from freshet.schedule.ranked import NAMES

Estimates = Literal["rates", "chances"]

ESTIMATES: tuple[Estimates, ...] = ("rates", "chances")
MEASURES: tuple[Measure, ...] = ("ndcg", "changerate")


@dataclass(frozen=True, slots=True)
class Task:
    """What to learn, and how.

    ``estimates`` says what NAD to GAD stand for while formulas are bred: rates of change, or the
    chances that follow from them. ``folds`` says how many of the five folds have their turn as the
    test; 0 is none: then all pages are for training and validation, and the place is taken on the
    pages for validation. ``seed`` shares pages out and draws lots; it is also that of the first
    search, and those that follow count up from it.
    """

    terminals: Terminals = "all"
    estimates: Estimates = "rates"
    measure: Measure = "ndcg"
    budget: float = 0.05
    clock: Clock = "visit"
    selection: Selection = "best"
    seed: int = 1
    seeds: int = 5
    folds: int = 1
    ways: Ways = field(default_factory=Ways)

    @property
    def names(self) -> tuple[str, ...]:
        """Return what formulas may know of a page."""
        return NAMES[self.terminals]

    @property
    def first(self) -> tuple[Formula, ...]:
        """Return what a search begins with: names that are good formulas by themselves."""
        return tuple(Formula((name,)) for name in self.names if self.terminals == "extended")

    def written_out(self, formula: Formula) -> Formula:
        """Return a bred formula as others read it, every estimate a rate."""
        return written_out(formula) if self.estimates == "chances" else formula


def check(task: Task) -> None:
    """Refuse what cannot be learnt."""
    _require(task.terminals in NAMES, f"terminals {task.terminals!r}", " or ".join(NAMES))
    _require(task.estimates in ESTIMATES, f"estimates {task.estimates!r}", " or ".join(ESTIMATES))
    _require(task.measure in MEASURES, f"fitness {task.measure!r}", " or ".join(MEASURES))
    _require(task.selection in SELECTIONS, f"selection {task.selection!r}", " or ".join(SELECTIONS))
    _require(0 < task.budget <= 1, f"budget {task.budget:.4g}", "above 0 and at most 1")
    _require(0 <= task.folds <= FOLDS, f"{task.folds} folds", f"from 0 to {FOLDS}")
    _require(task.seeds >= 1, f"{task.seeds} seeds", "at least 1")
    _require(task.ways.population >= 2, f"population {task.ways.population}", "at least 2")
    _require(task.ways.generations >= 1, f"{task.ways.generations} generations", "at least 1")
    _require(task.ways.kept >= 1, f"{task.ways.kept} kept formulas", "at least 1")


def _require(holds: bool, what: str, wanted: str) -> None:
    if not holds:
        raise UsageError(f"{what}: it must be {wanted}")
