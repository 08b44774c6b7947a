"""A small evolution, complete or stopped, for the tests of learning a formula."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from freshet.backtest.trace import Trace
from freshet.core.errors import StopRequestedError
from freshet.learning.evolve.evolution import EvolutionFiles, EvolutionProgress, evolve
from freshet.learning.evolve.genetic_search import GPConfig
from freshet.learning.evolve.result import EvolutionResult
from freshet.learning.evolve.task import EvolutionTask
from tests.backtest.traces import by_chance, in_groups

CONFIG = GPConfig(population=20, generations=4, kept=6)
TASK = EvolutionTask(budget=0.1, seeds=2, config=CONFIG)
TRACE = in_groups(by_chance(120, 20, seed=3))


@cache
def uninterrupted() -> EvolutionResult:
    """Return the result of an evolution that is not stopped."""
    return evolve(TRACE, TASK)


def files(folder: Path, *, resume: bool = False) -> EvolutionFiles:
    return EvolutionFiles(folder / "model.json", folder / "model.checkpoint", resume)


def stopping_after(progress_log: int) -> Callable[[EvolutionProgress], None]:
    """Return a callback that stops an evolution after some generations, as a signal does."""

    def stop(progress: EvolutionProgress) -> None:
        if progress.steps_done >= progress_log:
            raise StopRequestedError("stopped")

    return stop


def stop_evolution(
    folder: Path, *, after: int, task: EvolutionTask = TASK, trace: Trace = TRACE
) -> Path:
    with pytest.raises(StopRequestedError):
        evolve(trace, task, files=files(folder), on_progress=stopping_after(after))
    return files(folder).checkpoint_path
