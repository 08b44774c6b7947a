"""One search: formulas are bred on some pages of a trace, and the best are tried on others."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from freshet.backtest.cycle_crawl import WARM_UP_CYCLES
from freshet.backtest.folds import PageFolds, split_folds, split_in_half
from freshet.backtest.gpu.device import ArrayDevice
from freshet.backtest.trace import Trace
from freshet.core.errors import BadInputError
from freshet.formula.expression import Formula
from freshet.learning.evolve.formula_trial import FormulaTrial
from freshet.learning.evolve.generations import run_generations
from freshet.learning.evolve.genetic_operators import PrimitiveSet
from freshet.learning.evolve.genetic_search import Generation, GeneticSearch
from freshet.learning.evolve.model_selection import ValidatedFormula
from freshet.learning.evolve.task import EvolutionTask


@dataclass(frozen=True, slots=True)
class FinishedSearch:
    """A search that is over: its fold, from 0, its seed, and the formulas that it kept."""

    fold: int
    seed: int
    formulas: tuple[ValidatedFormula, ...]


def run_search(
    trace: Trace, task: EvolutionTask, fold: int, seed: int, pool: Executor
) -> FinishedSearch:
    """Search one fold with one seed, from the first generation to the last."""
    ground = FoldEvaluator(trace, task, split_fold(trace, task, fold), pool)
    *_, last = ground.generations(seed)
    return FinishedSearch(fold, seed, ground.validate(last))


class FoldEvaluator:
    """The pages that formulas are bred on, and those on which the best of them are tried."""

    def __init__(
        self,
        trace: Trace,
        task: EvolutionTask,
        shares: PageFolds,
        pool: Executor,
        device: ArrayDevice | None = None,
    ) -> None:
        uses = (trace.select(places) for places in (shares.training, shares.validation))
        self._training, self._validation = (make_trial(pages, task, device) for pages in uses)
        self._task = task
        self._pool = pool

    def generations(self, seed: int, begun: Generation | None = None) -> Iterator[Generation]:
        """Yield where the search of a seed stands after each generation that is still to come."""
        task = self._task
        search = GeneticSearch(
            PrimitiveSet(task.variables), self._fitness, seed, task.ways, task.initial_formulas
        )
        return run_generations(search, begun)

    def validate(self, stand: Generation) -> tuple[ValidatedFormula, ...]:
        """Try the formulas that were kept on the pages for validation."""
        formulas = [self._task.expand_chances(each.formula) for each in stand.best]
        found = self._validation.fitnesses(self._pool, formulas)
        return tuple(
            ValidatedFormula(formula, each.fitness, fitness)
            for formula, each, fitness in zip(formulas, stand.best, found, strict=True)
        )

    def _fitness(self, formulas: Sequence[Formula], floor: float) -> list[float]:
        written = [self._task.expand_chances(formula) for formula in formulas]
        return self._training.fitnesses(self._pool, written, floor)


def make_trial(
    pages: Trace, task: EvolutionTask, device: ArrayDevice | None = None
) -> FormulaTrial:
    """Return what tries formulas on pages in the way of a task."""
    return FormulaTrial(
        pages, task.budget, task.measure, clock=task.clock, seed=task.seed, device=device
    )


def split_fold(trace: Trace, task: EvolutionTask, fold: int) -> PageFolds:
    """Share the pages of a trace out, each use having something to find."""
    pages = len(trace.pages)
    shares = (
        split_folds(pages, fold, seed=task.seed)
        if task.folds
        else split_in_half(pages, seed=task.seed)
    )
    uses = {"training": shares.training, "validation": shares.validation}
    if task.folds:
        uses["test"] = shares.test
    for use, some in uses.items():
        what = f"the trace {trace.name!r}, shared out: {len(some)} of {pages} pages for {use}"
        if len(some) < 2:
            raise BadInputError(f"{what} leave nothing to choose; bring more pages")
        if not trace.select(some).changed_bits[WARM_UP_CYCLES:].any():
            raise BadInputError(
                f"{what} have no change after the warm-up; bring more pages or days"
            )
    return shares
