"""Examples to learn from: each look of a collection, with what was known before it."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from freshet.archive.catalog.catalog import Catalog
from freshet.core.clock import from_epoch
from freshet.core.content.measured_looks import MeasuredLooks, concatenate_looks
from freshet.core.progress import ProgressCallback
from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray, IndexArray
from freshet.features.visit_features import FeatureArray, VisitFeatures
from freshet.learning.change_model.default_forecast import (
    concatenate_page_columns,
    default_chances,
)
from freshet.predict.boosted_correction import CorrectionExamples
from freshet.predict.change_model import LookSummary
from freshet.schedule.page_states import ranks_within_groups

# Of more looks the latest ones are learned from.
MAX_EXAMPLES = 1_000_000
# A host has at most this many training examples, or as many as the mean of all hosts.
MIN_HOST_EXAMPLES = 3_000


@dataclass(frozen=True, slots=True)
class ChangeExamples:
    """Looks in time order that were compared with the one before.

    ``pages`` and ``hosts`` are numbers from 0, ``chances`` those of the default forecast.
    """

    pages: IndexArray
    hosts: IndexArray
    times: FloatArray
    features: FeatureArray
    chances: FloatArray
    changed: BoolArray

    def __len__(self) -> int:
        return len(self.pages)

    def __getitem__(self, rows: slice | NDArray[np.intp] | BoolArray) -> "ChangeExamples":
        return ChangeExamples(*(getattr(self, name)[rows] for name in self.__slots__))

    @property
    def inputs(self) -> CorrectionExamples:
        """Return what a correction is trained on."""
        return CorrectionExamples(self.features, self.chances, self.changed)

    def balanced(self, seed: int) -> "ChangeExamples":
        """Return examples of which no host has far more than others; the rest is left out.

        The pages of a large host change together: many of its looks teach little about others.
        """
        order = np.random.default_rng(seed).permutation(len(self))
        host_count = max(1, len(np.unique(self.hosts)))
        limit = max(MIN_HOST_EXAMPLES, len(self) // host_count)
        return self[np.sort(order[ranks_within_groups(self.hosts[order]) < limit])]

    def summary(self) -> LookSummary:
        """Return how many looks there are, and from when to when."""
        return LookSummary(
            len(np.unique(self.pages)),
            len(np.unique(self.hosts)),
            len(self),
            int(self.changed.sum()),
            from_epoch(float(self.times[0])),
            from_epoch(float(self.times[-1])),
        )


def gather_examples(
    catalog: Catalog, policy_name: str, progress: ProgressCallback
) -> ChangeExamples:
    """Return the examples of a collection's pages, imported ones too."""
    pages = concatenate_page_columns(catalog.all_page_columns())
    looks = concatenate_looks(list(catalog.look_tables()))
    looks = looks.select(np.isin(looks.pages, pages.ids)).in_time_order()
    chances = default_chances(policy_name, pages, looks, progress)
    _, hosts = np.unique(pages.hosts, return_inverse=True)
    return examples_of_looks(looks, np.searchsorted(pages.ids, looks.pages), hosts, chances)


def examples_of_looks(
    looks: MeasuredLooks,
    rows: NDArray[np.intp],
    hosts: NDArray[np.intp],
    chances: FloatArray,
) -> ChangeExamples:
    """Return the examples of looks in time order, given each look's page and each page's host."""
    pages = rows.astype(np.int32)
    page_hosts = hosts.astype(np.int32)
    features = VisitFeatures(page_hosts).add_looks(replace(looks, pages=pages))
    examples = ChangeExamples(
        pages, page_hosts[pages], looks.times, features, chances, looks.changed
    )
    compared = np.flatnonzero(looks.measured & np.isfinite(chances))
    return examples[compared[-MAX_EXAMPLES:]]
