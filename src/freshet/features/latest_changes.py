"""The latest change of a page at each step, and how alike the latest changes of two steps are.

Many pages alternate between a few variants of a text. The direction of the latest change tells
which variant is shown, also after the text around it was edited.
"""

from dataclasses import dataclass

import numpy as np

from freshet.core.content.content_grid import NO_VERSION
from freshet.core.types import FloatArray, HashArray, IndexArray

NO_CHANGE = -1
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class LatestChanges:
    """The latest change of one page that was known at each step.

    ``steps`` is its step, or -1 before the first change; ``cosines[step, step]`` compares the
    differences of the word distributions, and is 0 if one of them is zero.
    """

    steps: IndexArray
    cosines: FloatArray

    @property
    def ages(self) -> IndexArray:
        """Return the steps since the latest change; -1 before the first."""
        ages = np.arange(len(self.steps)) - self.steps
        return np.where(self.steps == NO_CHANGE, NO_CHANGE, ages).astype(np.int32)


def latest_changes(gram: FloatArray, text_hashes: HashArray, versions: IndexArray) -> LatestChanges:
    """Return the latest changes of a page.

    ``versions`` is the latest version known at each step, ``text_hashes`` the hash of its text, and
    ``gram`` has the dot products of the word distributions of any two steps.
    """
    steps = np.arange(len(versions))
    is_change = np.zeros(len(versions), np.bool_)
    is_change[1:] = (text_hashes[1:] != text_hashes[:-1]) & (versions[:-1] != NO_VERSION)
    latest = np.maximum.accumulate(np.where(is_change, steps, NO_CHANGE)).astype(np.int32)
    after, before = np.maximum(latest, 0), np.maximum(latest - 1, 0)
    products = (
        gram[np.ix_(after, after)]
        - gram[np.ix_(after, before)]
        - gram[np.ix_(before, after)]
        + gram[np.ix_(before, before)]
    )
    squares = np.diag(products)
    # Differences of equal large numbers leave rounding errors, which are no change.
    is_distinct = squares > _TINY * (gram[after, after] + gram[before, before])
    norms = np.sqrt(np.where(is_distinct, squares, 0.0))
    divisors = norms[:, None] * norms[None, :]
    cosines = np.divide(products, divisors, out=np.zeros_like(products), where=divisors > 0)
    return LatestChanges(latest, np.clip(cosines, -1.0, 1.0))
