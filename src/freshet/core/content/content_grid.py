"""The content of pages at the steps of a common time grid: what content-based models learn from."""

from dataclasses import dataclass, replace

import numpy as np

from freshet.core.content.sparse_rows import SparseRows
from freshet.core.types import FloatArray, HashArray, IndexArray

NO_VERSION = -1


@dataclass(frozen=True, slots=True)
class ContentGrid:
    """Which version of each page was current at each step; each version is stored once.

    ``versions[page, step]`` is a row of ``terms`` (counts of terms, columns as in ``vocabulary``)
    and of ``links`` (ones for link targets), or NO_VERSION while nothing is known of the page.
    ``text_hashes`` tells whether the texts of two versions differ.
    """

    page_names: tuple[str, ...]
    hosts: HashArray
    times: FloatArray
    versions: IndexArray
    terms: SparseRows
    vocabulary: HashArray
    text_hashes: HashArray
    links: SparseRows

    @property
    def page_count(self) -> int:
        """Return the number of pages."""
        return len(self.page_names)

    @property
    def step_count(self) -> int:
        """Return the number of steps."""
        return len(self.times)

    def until(self, step: int) -> "ContentGrid":
        """Return what was known at a step: the grid without later steps."""
        return replace(self, times=self.times[: step + 1], versions=self.versions[:, : step + 1])

    def select(self, pages: IndexArray) -> "ContentGrid":
        """Return the grid of some pages."""
        return replace(
            self,
            page_names=tuple(self.page_names[page] for page in pages.tolist()),
            hosts=self.hosts[pages],
            versions=self.versions[pages],
        )


def changed_steps(grid: ContentGrid, horizon: int = 1) -> IndexArray:
    """Return, per page and step, 1 if the text differs ``horizon`` steps later, 0 if not.

    It is -1 where one of the two versions is not known; the last ``horizon`` steps are left out.
    """
    before, after = grid.versions[:, :-horizon], grid.versions[:, horizon:]
    hashes = np.append(grid.text_hashes, np.uint64(0))
    differs = (before != after) & (hashes[before] != hashes[after])
    is_known = (before != NO_VERSION) & (after != NO_VERSION)
    return np.where(is_known, differs, NO_VERSION).astype(np.int32)
