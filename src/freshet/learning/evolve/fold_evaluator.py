"""One search: formulas are bred on some pages of a trace, and the best are tried on others."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from freshet.backtest.cycle_crawl import WARM_UP
from freshet.backtest.folds import Shares, halved, shared_out
from freshet.backtest.gpu.device import Device
from freshet.backtest.trace import Trace
from freshet.core.errors import BadInput
from freshet.formula.expression import Formula
from freshet.learning.evolve.formula_trial import Trial
from freshet.learning.evolve.generations import stands
from freshet.learning.evolve.genetic_operators import Language
from freshet.learning.evolve.genetic_search import Search, Stand
from freshet.learning.evolve.model_selection import Judged
from freshet.learning.evolve.task import Task


@dataclass(frozen=True, slots=True)
class Searched:
    """A search that is over: its fold, from 0, its seed, and the formulas that it kept."""

    fold: int
    seed: int
    kept: tuple[Judged, ...]


def searched(trace: Trace, task: Task, fold: int, seed: int, pool: Executor) -> Searched:
    """Search one fold with one seed, from the first generation to the last."""
    ground = Ground(trace, task, shares_of(trace, task, fold), pool)
    *_, last = ground.stands(seed)
    return Searched(fold, seed, ground.judged(last))


class Ground:
    """The pages that formulas are bred on, and those on which the best of them are tried."""

    def __init__(
        self,
        trace: Trace,
        task: Task,
        shares: Shares,
        pool: Executor,
        device: Device | None = None,
    ) -> None:
        uses = (trace.only(places) for places in (shares.training, shares.validation))
        self._training, self._validation = (trial(pages, task, device) for pages in uses)
        self._task = task
        self._pool = pool

    def stands(self, seed: int, begun: Stand | None = None) -> Iterator[Stand]:
        """Yield where the search of a seed stands after each generation that is still to come."""
        task = self._task
        search = Search(Language(task.names), self._fitness, seed, task.ways, task.first)
        return stands(search, begun)

    def judged(self, stand: Stand) -> tuple[Judged, ...]:
        """Try the formulas that were kept on the pages for validation."""
        formulas = [self._task.written_out(each.formula) for each in stand.best]
        found = self._validation.all(self._pool, formulas)
        return tuple(
            Judged(formula, each.fitness, fitness)
            for formula, each, fitness in zip(formulas, stand.best, found, strict=True)
        )

    def _fitness(self, formulas: Sequence[Formula], floor: float) -> list[float]:
        written = [self._task.written_out(formula) for formula in formulas]
        return self._training.all(self._pool, written, floor)


def trial(pages: Trace, task: Task, device: Device | None = None) -> Trial:
    """Return what tries formulas on pages in the way of a task."""
    return Trial(pages, task.budget, task.measure, clock=task.clock, seed=task.seed, device=device)


def shares_of(trace: Trace, task: Task, fold: int) -> Shares:
    """Share the pages of a trace out, each use having something to find."""
    pages = len(trace.pages)
    shares = (
        shared_out(pages, fold, seed=task.seed) if task.folds else halved(pages, seed=task.seed)
    )
    uses = {"training": shares.training, "validation": shares.validation}
    if task.folds:
        uses["test"] = shares.test
    for use, some in uses.items():
        what = f"the trace {trace.name!r}, shared out: {len(some)} of {pages} pages for {use}"
        if len(some) < 2:
            raise BadInput(f"{what} leave nothing to choose; bring more pages")
        if not trace.only(some).changed_bits[WARM_UP:].any():
            raise BadInput(f"{what} have no change after the warm-up; bring more pages or days")
    return shares
