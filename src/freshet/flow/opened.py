"""A collection with every verb as a method: what ``freshet.open()`` gives."""

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from freshet.core.types import Page
from freshet.flow.add import Added, add_pages
from freshet.flow.check import Report, check, repair
from freshet.flow.collection import Collection
from freshet.flow.exports import export
from freshet.flow.imports import Imported, bring
from freshet.flow.measure import measure_again
from freshet.flow.prune import Thinning, prune
from freshet.flow.remove import remove
from freshet.flow.status import Status, status_of

Progress = Callable[[int, int], None]


def _silent(done: int, total: int) -> None:
    """Show no progress."""


class OpenedCollection(Collection):
    """A collection whose methods do what the commands do."""

    def add_many(self, urls: Sequence[str], *, tags: tuple[str, ...] = ()) -> Added:
        """Add live pages, many at once."""
        return add_pages(self, urls, tags=tags)

    def remove(self, pages: Sequence[Page], *, purge: bool = False) -> int:
        """Take pages off the live list; ``purge`` deletes rows and bytes; return bytes freed."""
        return remove(self, pages, purge=purge)

    def bring(
        self, kind: str, path: str | Path, *, progress: Progress = _silent, **options: Any
    ) -> Imported:
        """Import an outside history: warc, git, csv, bing or parquet."""
        return bring(self, kind, Path(path), progress=progress, **options)

    def export(self, kind: str, path: str | Path, *, source: str | None = None) -> int:
        """Write visits (parquet, cdxj) or changes (csv, changes) to a file; return the rows."""
        return export(self, kind, Path(path), source=source)

    def status(self, *, days: int = 7) -> Status:
        """Return what the collection holds and how it grows."""
        return status_of(self, days=days)

    def check(self, *, progress: Progress = _silent) -> Report:
        """Verify every record and row."""
        return check(self, progress=progress)

    def repair(self, *, progress: Progress = _silent) -> Report:
        """Mend what can be mended, then verify."""
        return repair(self, progress=progress)

    def measure_again(self, pages: Iterable[Page] | None = None) -> int:
        """Compare stored versions anew; return how many visits were measured."""
        return measure_again(self, self.pages() if pages is None else pages)

    def prune(
        self, older_than: timedelta, *, keep: str = "month", source: str | None = None, apply: bool
    ) -> Thinning:
        """Thin old versions; without ``apply`` only say what would go."""
        return prune(self, older_than=older_than, keep=keep, source=source, apply=apply)
