"""Reduction of semantic vectors to a few numbers for learners, by feature agglomeration."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.cluster import FeatureAgglomeration

from freshet.core.errors import UsageError
from freshet.core.types import Float32Array, IndexArray

REDUCED_DIMENSIONS = 20
_MAX_FITTED_PAGES = 20_000


@dataclass(frozen=True, slots=True)
class FeatureGroups:
    """A fitted reduction: the group of each dimension. It is a plain array, so it can be stored.

    The reduced vector has the mean over the dimensions of each group, as scikit-learn's
    ``FeatureAgglomeration`` has it.
    """

    groups: IndexArray
    group_count: int

    def transform(self, vectors: Float32Array) -> Float32Array:
        """Return the reduced vectors, a column for each group."""
        if vectors.ndim != 2 or vectors.shape[1] != len(self.groups):
            raise UsageError(
                f"vectors of shape {vectors.shape} cannot be reduced: the groups were fitted to"
                f" {len(self.groups)} dimensions"
            )
        sizes = np.bincount(self.groups, minlength=self.group_count)
        means = np.zeros((len(self.groups), self.group_count), np.float32)
        means[np.arange(len(self.groups)), self.groups] = 1 / sizes[self.groups]
        reduced: Float32Array = vectors.astype(np.float32, copy=False) @ means
        return reduced


def fit_feature_groups(
    vectors: ArrayLike, count: int = REDUCED_DIMENSIONS, *, seed: int = 0
) -> FeatureGroups:
    """Group the dimensions of vectors whose values are alike over the pages (Ward's method).

    With more than 20,000 pages the groups are fitted to a random sample of them.
    """
    table = np.asarray(vectors, np.float32)
    if table.ndim != 2 or not table.size:
        raise UsageError("groups of dimensions need at least one page with a vector")
    if not np.isfinite(table).all():
        raise UsageError("groups of dimensions cannot be fitted to numbers that are not finite")
    if count >= table.shape[1]:
        return FeatureGroups(np.arange(table.shape[1], dtype=np.int32), table.shape[1])
    if len(table) > _MAX_FITTED_PAGES:
        rng = np.random.default_rng(seed)
        table = table[np.sort(rng.choice(len(table), _MAX_FITTED_PAGES, replace=False))]
    labels = FeatureAgglomeration(count).fit(table).labels_
    return FeatureGroups(labels.astype(np.int32), count)
