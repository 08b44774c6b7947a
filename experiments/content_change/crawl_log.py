"""What a crawl has seen of pages whose full history is recorded."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from freshet.core.content.content_grid import NO_VERSION, ContentGrid
from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray, HashArray, IndexArray
from freshet.features.kernels.row_pairs import count_differences

UNKNOWN = -1


class CrawlLog:
    """The looks of a crawl; nothing else of the recorded pages is shown.

    A recorded gap has the version before it. Before its first recorded version a page has no text:
    looks find nothing, and it does not count for the freshness.
    """

    def __init__(self, recorded: ContentGrid) -> None:
        self.recorded = recorded
        self._live = last_known_versions(recorded.versions)
        self._seen = np.full(self._live.shape, NO_VERSION, np.int32)
        self._copies = np.full(recorded.page_count, NO_VERSION, np.int32)
        self._lengths = recorded.terms.row_sums()
        self.last_looks = np.zeros(recorded.page_count, np.int32)

    def look(self, step: int, pages: IndexArray) -> MeasuredLooks:
        """Look at pages, store their versions, and return what the looks found."""
        terms = self.recorded.terms
        hashes = np.append(self.recorded.text_hashes, np.uint64(0))
        old, new = self._copies[pages], self._live[pages, step]
        measured = (old != NO_VERSION) & (new != NO_VERSION)
        changed = measured & (hashes[old] != hashes[new])
        words = np.where(measured, 0.0, np.nan)
        words[changed] = count_differences(
            terms.starts, terms.columns, terms.values, old[changed], new[changed]
        ).sum(axis=1)
        self._seen[pages, step] = self._copies[pages] = new
        self.last_looks[pages] = step
        unknown = np.full(len(pages), np.nan)
        times = np.full(len(pages), self.recorded.times[step])
        return MeasuredLooks(
            pages, times, measured, changed, hashes[new], words, unknown, unknown,
            np.append(self._lengths, np.nan)[new],
        )  # fmt: skip

    def known_grid(self, step: int) -> ContentGrid:
        """Return the looks before a step as a grid, in which nothing is known of the step."""
        versions = self._seen[:, : step + 1].copy()
        versions[:, step] = NO_VERSION
        return replace(self.recorded, times=self.recorded.times[: step + 1], versions=versions)

    def fresh_pages(self, step: int) -> BoolArray:
        """Return which copies have the live text at a step."""
        hashes = self.recorded.text_hashes
        is_fresh: BoolArray = hashes[self._copies] == hashes[self._live[:, step]]
        return is_fresh & (self._copies != NO_VERSION)

    def freshness(self, step: int) -> float:
        """Return the share of copies that have the live text at a step, of pages that have one."""
        is_live = self._live[:, step] != NO_VERSION
        return float(self.fresh_pages(step)[is_live].mean()) if is_live.any() else 1.0


def last_known_versions(versions: IndexArray) -> IndexArray:
    """Return the last version known at each step; NO_VERSION before the first one.

    >>> last_known_versions(np.array([[-1, 4, -1, 5]])).tolist()
    [[-1, 4, 4, 5]]
    """
    steps = np.where(versions != NO_VERSION, np.arange(versions.shape[1]), 0)
    last_steps = np.maximum.accumulate(steps, axis=1)
    return np.take_along_axis(versions, last_steps, axis=1).astype(np.int32)


def labels_of_looks(versions: IndexArray, text_hashes: HashArray) -> IndexArray:
    """Return the daily labels that follow from looks with gaps between them.

    If two consecutive looks found the same text, no day between them has a change. If not, the last
    of these days has one, and nothing is known of the others.

    >>> hashes = np.array([5, 6], np.uint64)
    >>> labels_of_looks(np.array([[0, -1, 0, -1, -1, 1, -1]]), hashes).tolist()
    [[0, 0, -1, -1, 1, -1]]
    """
    labels = np.full((len(versions), versions.shape[1] - 1), UNKNOWN, np.int32)
    for row, page_versions in zip(labels, versions, strict=True):
        looks = np.flatnonzero(page_versions != NO_VERSION)
        for first, second in pairwise(looks):
            before, after = text_hashes[page_versions[[first, second]]]
            if before == after:
                row[first:second] = 0
            else:
                row[second - 1] = 1
    return labels


def chance_since(daily_chances: FloatArray, days: IndexArray) -> FloatArray:
    """Return the chance of a change within some days, given the chance of each day.

    >>> chance_since(np.array([0.5]), np.array([2])).tolist()
    [0.75]
    """
    return np.asarray(1 - (1 - daily_chances) ** days, np.float64)
