"""Examples of new links: each interval of each page, with what was known before it."""

from dataclasses import dataclass

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.core.clock import from_epoch
from freshet.core.content.measured_looks import NO_LINK_TOTALS, LinkTotals, MeasuredLooks
from freshet.core.errors import FreshetError
from freshet.core.tables import DAY_SECONDS, BoolArray, PageTable
from freshet.core.types import Float32Array, FloatArray, IndexArray
from freshet.features.outlinks.look_steps import LookGrid, look_features, steps_of_looks
from freshet.learning.collection_looks import concatenate_page_columns, latest_looks
from freshet.predict.outlinks.link_model import LinkSummary

MAX_LINK_LOOKS = 3_000_000
# Weeks are learned from if there are enough of them, else days.
INTERVAL_DAYS, MIN_STEPS, MAX_STEPS = (7.0, 1.0), 8, 30
MIN_COUNTED, MIN_WITH_LINKS = 300, 40
# With fewer sites, pages stand for sites in folds and samples.
MIN_SITES = 10


class TooFewLinksError(FreshetError):
    """There are too few new links to learn from."""


@dataclass(frozen=True, slots=True)
class LinkExamples:
    """Intervals of pages in time order: features known before, and the new links found.

    ``rows`` are positions in the grid, ``steps`` the intervals, and ``sites`` numbers from 0.
    """

    grid: LookGrid
    rows: IndexArray
    steps: IndexArray
    sites: IndexArray
    features: Float32Array
    new_links: FloatArray

    def __len__(self) -> int:
        return len(self.rows)

    def select(self, chosen: BoolArray) -> "LinkExamples":
        """Return some of the examples."""
        columns = (getattr(self, name)[chosen] for name in self.__slots__[1:])
        return LinkExamples(self.grid, *columns)

    def groups(self) -> IndexArray:
        """Return the sites, or the pages if there are few sites."""
        return self.sites if len(np.unique(self.sites)) >= MIN_SITES else self.rows

    def summary(self) -> LinkSummary:
        """Return how many intervals there are, and from when to when."""
        bounds, length = self.grid.bounds, self.grid.interval_days * DAY_SECONDS
        return LinkSummary(
            len(np.unique(self.rows)),
            len(self),
            int(self.new_links.sum()),
            from_epoch(float(bounds[self.steps.min()] - length)),
            from_epoch(float(bounds[self.steps.max()])),
        )


@dataclass(frozen=True, slots=True)
class CollectionLinks:
    """The pages and looks of a collection, the examples made of them, and the links of pages."""

    pages: PageTable
    looks: MeasuredLooks
    examples: LinkExamples
    link_totals: LinkTotals = NO_LINK_TOTALS


def gather_links(catalog: Catalog) -> CollectionLinks:
    """Return the examples of a collection's pages; raise TooFewLinksError if there are too few."""
    pages = concatenate_page_columns(catalog.all_page_columns())
    looks, _ = latest_looks(catalog.look_tables(never_seen_links=True), MAX_LINK_LOOKS)
    looks = looks.select(np.isin(looks.pages, pages.ids))
    return CollectionLinks(pages, looks, link_examples(pages, looks), catalog.link_totals())


def link_examples(pages: PageTable, looks: MeasuredLooks) -> LinkExamples:
    """Return the examples in weeks, or in days if there are too few weeks."""
    span_days = float(np.ptp(looks.times)) / DAY_SECONDS if len(looks) else 0.0
    why = f"the looks span {span_days:.1f} days; at least {MIN_STEPS} are needed"
    for interval_days in INTERVAL_DAYS:
        steps = min(MAX_STEPS, int(span_days / interval_days) + 1)
        if steps < MIN_STEPS:
            continue
        until = float(looks.times.max())
        grid = LookGrid(pages.ids, pages.sites, interval_days, until, steps)
        examples = _examples_of_grid(grid, looks)
        with_links = int(np.count_nonzero(examples.new_links))
        if len(examples) >= MIN_COUNTED and with_links >= MIN_WITH_LINKS:
            return examples
        why = (
            f"new links are known of {len(examples):,} intervals of {interval_days:.0f} days, of "
            f"which {with_links:,} brought some; {MIN_COUNTED} and {MIN_WITH_LINKS} are needed"
        )
    raise TooFewLinksError(why)


def _examples_of_grid(grid: LookGrid, looks: MeasuredLooks) -> LinkExamples:
    steps = steps_of_looks(grid, looks)
    sites = np.unique(grid.sites, return_inverse=True)[1].astype(np.int32)
    parts = []
    for step in range(2, grid.steps):
        counts = steps.new_links.internal[:, step]
        rows = np.flatnonzero(~np.isnan(counts)).astype(np.int32)
        table = look_features(steps, step - 1).values[rows]
        numbers = np.full(len(rows), step, np.int32)
        parts.append((rows, numbers, sites[rows], table, counts[rows].astype(np.float64)))
    columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    return LinkExamples(grid, *columns)
