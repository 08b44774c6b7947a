"""What every engine does: map a pure function over batches of columns."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.engine.result_cache import Columns as Columns
from freshet.engine.result_cache import ResultCache

BatchFunction = Callable[[Columns], Columns]
"""A pure function of a batch that another process can import by its name."""


class Engine(Protocol):
    """Maps work over batches, on one machine or on many."""

    def map(
        self,
        function: BatchFunction,
        batches: Iterable[Columns],
        *,
        cache: ResultCache | None = None,
        total: int = 0,
        progress: ProgressCallback = ignore_progress,
    ) -> Iterator[Columns]:
        """Yield the result of every batch, in the order of the batches.

        Batches are drawn as they are needed, so that only a few of them are ever held. With
        ``cache`` the results of finished batches are found again by the next run.
        """
        ...
