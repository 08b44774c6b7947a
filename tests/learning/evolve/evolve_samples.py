"""A small evolution, whole or stopped, for the tests of learning a formula."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from freshet.backtest.trace import Trace
from freshet.core.errors import StopRequestedError
from freshet.learning.evolve.evolution import (
    EvolutionFiles,
    EvolutionProgress,
    EvolutionResult,
    EvolutionTask,
    evolve,
)
from freshet.learning.evolve.genetic_search import GPConfig
from tests.backtest.traces import by_chance, in_groups

WAYS = GPConfig(population=20, generations=4, kept=6)
TASK = EvolutionTask(budget=0.1, seeds=2, ways=WAYS)
TRACE = in_groups(by_chance(120, 20, seed=3))


@cache
def whole() -> EvolutionResult:
    """Return what an evolution finds that nobody stops."""
    return evolve(TRACE, TASK)


def files(folder: Path, *, resume: bool = False) -> EvolutionFiles:
    return EvolutionFiles(folder / "model.json", folder / "model.checkpoint", resume)


def stopping_after(steps: int) -> Callable[[EvolutionProgress], None]:
    """Return what stops an evolution after some generations, as a signal does."""

    def watch(step: EvolutionProgress) -> None:
        if step.steps_done >= steps:
            raise StopRequestedError("stopped")

    return watch


def stopped(folder: Path, *, after: int, task: EvolutionTask = TASK, trace: Trace = TRACE) -> Path:
    with pytest.raises(StopRequestedError):
        evolve(trace, task, files=files(folder), watch=stopping_after(after))
    return files(folder).checkpoint_path
