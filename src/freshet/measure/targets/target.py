"""The interface of targets, and the labels of targets that compare two versions of a page."""

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

import numpy as np

from freshet.core.content.content_grid import NO_VERSION, ContentGrid
from freshet.core.content.sparse_rows import SparseRows
from freshet.core.types import IndexArray, TermCounts

UNKNOWN_LABEL = -1


@runtime_checkable
class Target(Protocol):
    """Something that happens to a page within a number of steps, or does not."""

    @property
    def name(self) -> str:
        """Return the name in tables and settings."""
        ...

    def labels(self, grid: ContentGrid, horizon: int = 1) -> IndexArray:
        """Return, per page and step, 1 if it happens by ``horizon`` steps later, 0 if not.

        It is -1 where it is not known; the last ``horizon`` steps are left out.
        """
        ...


class VersionTarget(ABC):
    """A target that depends only on the two versions; each pair of versions is compared once."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the name in tables and settings."""

    @abstractmethod
    def is_met(self, grid: ContentGrid, before: int, after: int) -> bool:
        """Return whether the target is met between two different versions."""

    def labels(self, grid: ContentGrid, horizon: int = 1) -> IndexArray:
        """Return the labels of all pages and steps; a version compared with itself gives 0."""
        before, after = version_pairs(grid, horizon)
        keys = before.astype(np.int64) * (len(grid.terms) + 1) + after
        is_known = (before != NO_VERSION) & (after != NO_VERSION)
        is_compared = is_known & (before != after)
        pairs, pair_indices = np.unique(keys[is_compared], return_inverse=True)
        results = [self.is_met(grid, *divmod(pair, len(grid.terms) + 1)) for pair in pairs.tolist()]
        labels = np.where(is_known, 0, UNKNOWN_LABEL).astype(np.int32)
        labels[is_compared] = np.array(results, np.int32)[pair_indices]
        return labels


def version_pairs(grid: ContentGrid, horizon: int) -> tuple[IndexArray, IndexArray]:
    """Return the versions at each step that has one ``horizon`` steps later, and those then."""
    check_horizon(horizon)
    if horizon >= grid.step_count:
        empty = np.empty((grid.page_count, 0), np.int32)
        return empty, empty
    return grid.versions[:, :-horizon], grid.versions[:, horizon:]


def check_horizon(horizon: int) -> None:
    """Raise ValueError if a horizon does not lie in the future."""
    if horizon < 1:
        raise ValueError(f"a horizon of {horizon} steps does not lie in the future; give 1 or more")


def row_counts(rows: SparseRows, row: int) -> TermCounts:
    """Return a row of counts as the counts of its columns."""
    columns, counts = rows.row(row)
    return TermCounts(columns.astype(np.uint64), counts.astype(np.uint32))
