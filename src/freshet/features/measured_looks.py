"""Looks at the steps of a grid, and their times in days."""

import numpy as np

from freshet.core.content.content_grid import NO_VERSION, ContentGrid
from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.tables import DAY_SECONDS
from freshet.core.types import FloatArray, IndexArray


def looks_of_grid(
    grid: ContentGrid, labels: IndexArray, words: FloatArray | None = None
) -> MeasuredLooks:
    """Return one look per page and step of a grid, in time order.

    ``labels`` says for each page and step but the last whether the page changes by the next step:
    1, 0, or -1 where that is not known; ``words`` how many words change.
    """
    pages, steps = np.nonzero(grid.versions.T != NO_VERSION)[::-1]
    versions = grid.versions[pages, steps]
    results = np.where(steps > 0, labels[pages, np.maximum(steps - 1, 0)], NO_VERSION)
    totals = np.append(grid.terms.row_sums(), np.nan)
    unknown = np.full(len(pages), np.nan)
    changed_words = unknown if words is None else words[pages, np.maximum(steps - 1, 0)]
    return MeasuredLooks(
        pages.astype(np.int32),
        grid.times[steps],
        results != NO_VERSION,
        results == 1,
        grid.text_hashes[versions],
        np.where(steps > 0, changed_words, np.nan),
        unknown,
        unknown,
        totals[versions],
    )


def days(times: FloatArray) -> FloatArray:
    """Return times in days since 1970."""
    return times / DAY_SECONDS
