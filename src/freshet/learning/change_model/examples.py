"""Examples to learn from: each look of a collection, with what was known before it.

A model that learned from looks at one pace does worse when the crawl becomes slower. Therefore
there are also examples of a slower crawl, imagined by leaving out looks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from freshet.archive.catalog.catalog import Catalog
from freshet.core.clock import from_epoch
from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.progress import ProgressCallback
from freshet.core.tables import HOUR_SECONDS, BoolArray, PageTable
from freshet.core.types import FloatArray, IndexArray
from freshet.features.look_features import LOOK_FEATURE_NAMES, LookFeatures
from freshet.features.visit_features import FeatureArray
from freshet.learning.change_model.default_forecast import default_chances
from freshet.learning.change_model.look_selection import thin_looks
from freshet.learning.collection_looks import concatenate_page_columns, latest_looks
from freshet.predict.chance_correction import CorrectionExamples
from freshet.predict.change_model import LookSummary
from freshet.schedule.page_states import ranks_within_groups

# Of more looks the latest ones are read; of these, the latest compared ones are examples.
MAX_LOOKS, MAX_EXAMPLES = 3_000_000, 1_000_000
# Features are computed for this many looks at a time, and kept for examples only.
LOOKS_PER_BLOCK = 100_000
# The default forecast is fitted every hour, as in a crawl, as long as no more pages are fitted.
MAX_PAGE_FITS = 50_000_000
THINNING_SEED = 1
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
        return ChangeExamples(*(getattr(self, name)[rows] for name in COLUMNS))

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


COLUMNS = ChangeExamples.__slots__


@dataclass(frozen=True, slots=True)
class CollectionExamples:
    """The examples of a collection: of its looks, and of a slower crawl.

    ``left_out`` is the number of looks that are too old to be examples.
    """

    observed: ChangeExamples
    slower: ChangeExamples
    left_out: int

    def training(self, until: float = np.inf) -> ChangeExamples:
        """Return the examples before a time in time order, those of the slower crawl too."""
        parts = [part[part.times < until] for part in (self.observed, self.slower)]
        joined = ChangeExamples(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS)
        )
        return joined[np.argsort(joined.times, kind="stable")]


def gather_examples(
    catalog: Catalog, policy_name: str, progress: ProgressCallback
) -> CollectionExamples:
    """Return the examples of a collection's pages, imported ones too."""
    pages = concatenate_page_columns(catalog.all_page_columns())
    looks, left_out = latest_looks(catalog.look_tables(), MAX_LOOKS)
    looks = looks.select(np.isin(looks.pages, pages.ids))
    return examples_of_looks(pages, looks, policy_name, progress, left_out=left_out)


def examples_of_looks(
    pages: PageTable,
    looks: MeasuredLooks,
    policy_name: str,
    progress: ProgressCallback,
    *,
    left_out: int = 0,
) -> CollectionExamples:
    """Return the examples of looks in time order; ``left_out`` are the looks not among them."""
    slower = thin_looks(looks, THINNING_SEED)
    total = len(looks) + len(slower)
    hourly_since = first_hourly_time(looks, len(pages))

    def examples_of(part: MeasuredLooks, done: int) -> ChangeExamples:
        chances = default_chances(
            policy_name,
            pages,
            part,
            lambda count, _: progress(done + count, total),
            hourly_since=hourly_since,
        )
        return _to_examples(pages, part, chances)

    observed = examples_of(looks, 0)
    slower_examples = examples_of(slower, len(looks))
    if len(observed) == MAX_EXAMPLES:
        first_time = observed.times[0]
        slower_examples = slower_examples[slower_examples.times >= first_time]
        left_out += int(np.count_nonzero(looks.measured & (looks.times < first_time)))
    return CollectionExamples(observed, slower_examples, left_out)


def first_hourly_time(looks: MeasuredLooks, page_count: int) -> float:
    """Return the time since which the default forecast is fitted every hour.

    It is the time of the first example, or a later one in a large collection.
    """
    example_times = looks.times[looks.measured][-MAX_EXAMPLES:]
    hours = np.unique(np.floor(example_times / HOUR_SECONDS))
    most_hours = max(1, MAX_PAGE_FITS // max(1, page_count))
    return float(hours[-most_hours:][0] * HOUR_SECONDS) if len(hours) else np.inf


def _to_examples(pages: PageTable, looks: MeasuredLooks, chances: FloatArray) -> ChangeExamples:
    """Return the latest looks that were compared, with the features before each."""
    _, page_hosts = np.unique(pages.hosts, return_inverse=True)
    hosts = page_hosts.astype(np.int32)
    rows = np.searchsorted(pages.ids, looks.pages).astype(np.int32)
    compared = np.flatnonzero(looks.measured & np.isfinite(chances))[-MAX_EXAMPLES:]
    features = np.empty((len(compared), len(LOOK_FEATURE_NAMES)), np.float32)
    builder = LookFeatures(hosts)
    for block in _time_blocks(looks.times):
        block_looks = replace(looks.select(block), pages=rows[block])
        block_features = builder.add_looks(block_looks)
        first, end = np.searchsorted(compared, (block.start, block.stop))
        features[first:end] = block_features[compared[first:end] - block.start]
    pages_compared = rows[compared]
    return ChangeExamples(
        pages_compared,
        hosts[pages_compared],
        looks.times[compared],
        features,
        chances[compared],
        looks.changed[compared],
    )


def _time_blocks(times: FloatArray) -> Iterator[slice]:
    """Yield blocks of sorted times; looks at one time are in one block."""
    start = 0
    while start < len(times):
        last = min(start + LOOKS_PER_BLOCK, len(times)) - 1
        end = int(np.searchsorted(times, times[last], side="right"))
        yield slice(start, end)
        start = end
