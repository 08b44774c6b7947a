"""The searches of one fold: formulas are bred on training pages and validated on other pages."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from freshet.backtest.cycle_crawl import WARM_UP_CYCLES
from freshet.backtest.fitness import NO_FLOOR
from freshet.backtest.folds import PageFolds, split_folds, split_in_half
from freshet.backtest.trace import Trace
from freshet.core.errors import BadInputError
from freshet.formula.expression import Formula
from freshet.learning.evolve.formula_trial import FormulaTrial
from freshet.learning.evolve.genetic_operators import PrimitiveSet
from freshet.learning.evolve.genetic_search import (
    Generation,
    GeneticSearch,
    run_generations,
)
from freshet.learning.evolve.model_selection import ValidatedFormula
from freshet.learning.evolve.task import EvolutionTask

if TYPE_CHECKING:
    from freshet.backtest.gpu.device import ArrayDevice


@dataclass(frozen=True, slots=True)
class FinishedSearch:
    """A finished search: its fold, counted from 0, its seed, and its best formulas."""

    fold: int
    seed: int
    formulas: tuple[ValidatedFormula, ...]


def run_searches(
    trace: Trace,
    task: EvolutionTask,
    fold: int,
    seeds: Sequence[int],
    pool: Executor,
    device: "ArrayDevice | None" = None,
) -> list[FinishedSearch]:
    """Search one fold with some seeds side by side, from the first generation to the last."""
    evaluator = FoldEvaluator(trace, task, split_fold(trace, task, fold), pool, device)
    *_, last = evaluator.generations(seeds)
    return [
        FinishedSearch(fold, seed, formulas)
        for seed, formulas in zip(seeds, evaluator.validate(last), strict=True)
    ]


class FoldEvaluator:
    """Evaluates formulas on the training pages and on the validation pages of a fold."""

    def __init__(
        self,
        trace: Trace,
        task: EvolutionTask,
        split: PageFolds,
        pool: Executor,
        device: "ArrayDevice | None" = None,
    ) -> None:
        self._training = make_trial(trace.select(split.training), task, device)
        self._validation = make_trial(trace.select(split.validation), task, device)
        self._task = task
        self._pool = pool

    def generations(
        self, seeds: Sequence[int], lasts: Sequence[Generation] = ()
    ) -> Iterator[tuple[Generation, ...]]:
        """Yield the generations of some seeds' searches, or those after the last that are done."""
        task, primitives = self._task, PrimitiveSet(self._task.variables)
        searches = [
            GeneticSearch(primitives, seed, task.config, task.initial_formulas) for seed in seeds
        ]
        return run_generations(searches, self._joint_fitnesses, lasts)

    def validate(self, generations: Sequence[Generation]) -> list[tuple[ValidatedFormula, ...]]:
        """Evaluate the best formulas of each search on the validation pages."""
        groups = [
            [self._task.expand_chances(scored.formula) for scored in generation.best]
            for generation in generations
        ]
        fitnesses = self._validation.joint_fitnesses(
            self._pool, [(formulas, NO_FLOOR) for formulas in groups]
        )
        return [
            tuple(
                ValidatedFormula(formula, scored.fitness, fitness)
                for formula, scored, fitness in zip(formulas, generation.best, values, strict=True)
            )
            for formulas, generation, values in zip(groups, generations, fitnesses, strict=True)
        ]

    def _joint_fitnesses(
        self, groups: Sequence[tuple[Sequence[Formula], float]]
    ) -> list[list[float]]:
        expanded = [
            ([self._task.expand_chances(formula) for formula in formulas], floor)
            for formulas, floor in groups
        ]
        return self._training.joint_fitnesses(self._pool, expanded)


def make_trial(
    pages: Trace, task: EvolutionTask, device: "ArrayDevice | None" = None
) -> FormulaTrial:
    """Return a trial of formulas on pages, with the settings of a task."""
    return FormulaTrial(
        pages, task.budget, task.measure, clock=task.clock, seed=task.seed, device=device
    )


def split_fold(trace: Trace, task: EvolutionTask, fold: int) -> PageFolds:
    """Split the pages of a trace by their use; every part must have pages that change."""
    pages = len(trace.pages)
    split = (
        split_folds(pages, fold, seed=task.seed)
        if task.folds
        else split_in_half(pages, seed=task.seed)
    )
    rows_by_use = {"training": split.training, "validation": split.validation}
    if task.folds:
        rows_by_use["test"] = split.test
    for use, rows in rows_by_use.items():
        subject = f"the trace {trace.name!r} has {len(rows)} of {pages} pages for {use}"
        if len(rows) < 2:
            raise BadInputError(
                f"{subject}, which is too few to choose among; use a trace with more pages"
            )
        if not trace.select(rows).changed_bits[WARM_UP_CYCLES:].any():
            raise BadInputError(
                f"{subject}, none with a change after the warm-up; use a trace with more pages or"
                " days"
            )
    return split
