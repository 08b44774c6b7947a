"""What every engine does: map a pure function over batches of columns."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from freshet.core.progress import Progress, silent
from freshet.engine.result_cache import Columns as Columns
from freshet.engine.result_cache import Kept

Work = Callable[[Columns], Columns]
"""A pure function of a batch that another process can import by its name."""


class Engine(Protocol):
    """Maps work over batches, on one machine or on many."""

    def map(
        self,
        work: Work,
        batches: Iterable[Columns],
        *,
        kept: Kept | None = None,
        total: int = 0,
        progress: Progress = silent,
    ) -> Iterator[Columns]:
        """Yield the result of every batch, in the order of the batches.

        Batches are drawn as they are needed, so that only a few of them are ever held. With
        ``kept`` the results of finished batches are found again by the next run.
        """
        ...
