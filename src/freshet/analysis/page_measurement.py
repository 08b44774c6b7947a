"""Pages of a collection measured in batches: the map of its analysis, for any engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from freshet.analysis.page_traits import page_traits
from freshet.analysis.page_versions import read_page_versions
from freshet.archive.catalog.rows import HistoryRow
from freshet.core import __version__
from freshet.core.clock import to_epoch
from freshet.core.types import Page
from freshet.engine.result_cache import Columns
from freshet.measure.statistics.groups import NO_GROUP
from freshet.measure.statistics.page_summary import (
    LookTable,
    PageChangeSummary,
    look_table,
    summaries_from_columns,
    summaries_to_columns,
    summarise_page,
)
from freshet.record.change_criteria import page_mask
from freshet.record.store import CollectionStore

# Raised whenever a measure changes, so that results of the old one are not found again.
MEASURE_VERSION = 5
WORK_NAME = f"measure pages {MEASURE_VERSION}, Freshet {__version__}"


@dataclass(frozen=True, slots=True)
class PageMeasurement:
    """A page's figures, what kind of document it was last, and what its history leaves out."""

    page_id: int
    kind: str
    summary: PageChangeSummary
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class PageBatchMeasurer:
    """Measures the pages that a batch names in its column ``page_id``, in a collection's folder."""

    folder: str

    def __call__(self, batch: Columns) -> Columns:
        """Return the figures of pages, a row each, and all of their looks, for their rates."""
        with CollectionStore.open(Path(self.folder)) as collection:
            pages = collection.catalog.pages_by_id(batch["page"].tolist())
            found = [measure_page(collection, pages[page]) for page in sorted(pages)]
        return _columns([page for page, _ in found], [looks for _, looks in found])


def measure_page(collection: CollectionStore, page: Page) -> tuple[PageMeasurement, LookTable]:
    """Return the figures of one page without its rate, and its looks."""
    rows = collection.catalog.history(page.id)
    read = partial(collection.snapshots.read, url=page.url)
    mask = page_mask(collection, page)
    found = read_page_versions(rows, read, collection.settings.limits, mask=mask)
    looks = looks_in_history(rows)
    summary = summarise_page(looks, traits=page_traits(found, page.url))
    return PageMeasurement(page.id, _kind(rows), summary, found.missing_note), looks


def looks_in_history(rows: Sequence[HistoryRow]) -> LookTable:
    """Return what the looks among a page's visits found."""
    looks = (row for row in rows if row.visit.outcome.is_look)
    return look_table((to_epoch(row.visit.time), row.change) for row in looks)


def measurements_from_columns(columns: Columns) -> list[PageMeasurement]:
    """Read measured pages back from the columns of a batch."""
    names = (columns[name].tolist() for name in ("page", "kind", "left_out"))
    rows = zip(*names, summaries_from_columns(columns), strict=True)
    return [
        PageMeasurement(page, kind, summary, left_out) for page, kind, left_out, summary in rows
    ]


def _columns(pages: Sequence[PageMeasurement], looks: Sequence[LookTable]) -> Columns:
    sizes = [len(found) for found in looks]
    times = [np.empty(0), *(found.times for found in looks)]
    changed = [np.empty(0, np.int8), *(found.changed for found in looks)]
    return {
        "page": np.array([page.page_id for page in pages], np.int64),
        "kind": np.array([page.kind for page in pages], np.str_),
        "left_out": np.array([page.left_out for page in pages], np.str_),
        **summaries_to_columns([page.summary for page in pages]),
        "look_row": np.repeat(np.arange(len(pages), dtype=np.int32), sizes),
        "look_time": np.concatenate(times),
        "look_changed": np.concatenate(changed),
    }


def _kind(rows: Sequence[HistoryRow]) -> str:
    kinds = (str(row.view.kind) for row in reversed(rows) if row.view is not None)
    return next(kinds, NO_GROUP)
