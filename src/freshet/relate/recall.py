"""How many of the truly closest pages an approximate search finds."""

import numpy as np

from freshet.core.content.related_pages import RelatedPages
from freshet.core.types import IndexArray


def neighbour_recall(approximate: RelatedPages, exact: RelatedPages) -> float:
    """Return the share of the exact neighbours that were found; 1 if there are none."""
    if not len(exact.pages):
        return 1.0
    return float(np.isin(_pairs(exact), _pairs(approximate)).mean())


def _pairs(related: RelatedPages) -> IndexArray:
    rows = np.repeat(np.arange(len(related), dtype=np.int64), np.diff(related.starts))
    return rows * (1 << 32) + related.pages
