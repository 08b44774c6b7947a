"""A small evolution, whole or stopped, for the tests of learning a formula."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from freshet.backtest.trace import Trace
from freshet.core.errors import Interrupted
from freshet.learning.evolve.evolution import Evolved, Files, Step, Task, evolve
from freshet.learning.evolve.genetic_search import Ways
from tests.backtest.traces import by_chance, in_groups

WAYS = Ways(population=20, generations=4, kept=6)
TASK = Task(budget=0.1, seeds=2, ways=WAYS)
TRACE = in_groups(by_chance(120, 20, seed=3))


@cache
def whole() -> Evolved:
    """Return what an evolution finds that nobody stops."""
    return evolve(TRACE, TASK)


def files(folder: Path, *, resume: bool = False) -> Files:
    return Files(folder / "model.json", folder / "model.checkpoint", resume)


def stopping_after(steps: int) -> Callable[[Step], None]:
    """Return what stops an evolution after some generations, as a signal does."""

    def watch(step: Step) -> None:
        if step.done >= steps:
            raise Interrupted("stopped")

    return watch


def stopped(folder: Path, *, after: int, task: Task = TASK, trace: Trace = TRACE) -> Path:
    with pytest.raises(Interrupted):
        evolve(trace, task, files=files(folder), watch=stopping_after(after))
    return files(folder).checkpoint
