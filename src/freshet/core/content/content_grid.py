"""The content of pages at the steps of a common time grid: what content-based models learn from."""

from dataclasses import dataclass, field, replace

import numpy as np

from freshet.core.content.sparse_rows import SparseRows
from freshet.core.types import FloatArray, HashArray, IndexArray

NO_VERSION = -1
NO_PAGE = -1


def _no_targets() -> IndexArray:
    return np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class ContentGrid:
    """Which version of each page was current at each step; each version is stored once.

    ``versions[page, step]`` is a row of ``terms`` (counts of terms, columns as in ``vocabulary``)
    and of ``links`` (ones for link targets), or NO_VERSION while nothing is known of the page.
    ``text_hashes`` tells whether the texts of two versions differ. ``link_targets`` has the page
    to which each column of ``links`` leads, or NO_PAGE; it is empty if no page is linked.
    """

    page_names: tuple[str, ...]
    hosts: HashArray
    times: FloatArray
    versions: IndexArray
    terms: SparseRows
    vocabulary: HashArray
    text_hashes: HashArray
    links: SparseRows
    link_targets: IndexArray = field(default_factory=_no_targets)

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

    def between(self, first: int, last: int) -> "ContentGrid":
        """Return the grid of the steps from ``first`` to ``last``, both included."""
        steps = slice(first, last + 1)
        return replace(self, times=self.times[steps], versions=self.versions[:, steps])

    def last_versions(self) -> IndexArray:
        """Return the last known version of each page, or NO_VERSION."""
        steps = np.where(self.versions != NO_VERSION, np.arange(self.step_count), -1)
        last_steps = steps.max(axis=1, initial=-1)
        padded = np.column_stack([self.versions, np.full(self.page_count, NO_VERSION)])
        last_versions: IndexArray = padded[np.arange(self.page_count), last_steps]
        return last_versions.astype(np.int32)

    def select(self, pages: IndexArray) -> "ContentGrid":
        """Return the grid of some pages; links to other pages lose their targets."""
        new_indices = np.full(self.page_count + 1, NO_PAGE, np.int32)
        new_indices[pages] = np.arange(len(pages))
        return replace(
            self,
            page_names=tuple(self.page_names[page] for page in pages.tolist()),
            hosts=self.hosts[pages],
            versions=self.versions[pages],
            link_targets=new_indices[self.link_targets],
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


def find_link_targets(link_hashes: HashArray, page_hashes: HashArray) -> IndexArray:
    """Return the page to which each link leads, or NO_PAGE, by the hashes of their URLs.

    >>> find_link_targets(np.array([7, 8], np.uint64), np.array([9, 7], np.uint64)).tolist()
    [1, -1]
    """
    if not len(page_hashes):
        return np.full(len(link_hashes), NO_PAGE, np.int32)
    order = np.argsort(page_hashes, kind="stable")
    ranks = np.searchsorted(page_hashes[order], link_hashes)
    pages = order[np.minimum(ranks, len(order) - 1)]
    return np.where(page_hashes[pages] == link_hashes, pages, NO_PAGE).astype(np.int32)
