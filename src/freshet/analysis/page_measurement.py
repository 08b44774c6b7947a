"""Measure the pages of a collection in batches, the map step of its analysis."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from freshet.analysis.analysis_scope import WHOLE_HISTORY, AnalysisPeriod
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
from freshet.record.collection_store import CollectionStore

# Increased whenever a measure changes, so that cached results of the old one are not used.
MEASURE_VERSION = 7
WORK_NAME = f"measure pages {MEASURE_VERSION}, Freshet {__version__}"


@dataclass(frozen=True, slots=True)
class PageMeasurement:
    """A page's figures, the kind of its last document, and what its history lacks."""

    page_id: int
    kind: str
    summary: PageChangeSummary
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class PageBatchMeasurer:
    """Measures the pages of a batch, given by its column ``page``, in a collection's folder."""

    folder: str
    period: AnalysisPeriod = WHOLE_HISTORY

    def __call__(self, batch: Columns) -> Columns:
        """Return the figures of pages, one row each, and all of their looks for the rates."""
        with CollectionStore.open(Path(self.folder)) as collection:
            pages = collection.catalog.pages_by_id(batch["page"].tolist())
            measured_pages = [
                measure_page(collection, pages[page_id], self.period) for page_id in sorted(pages)
            ]
        return _columns(
            [page_id for page_id, _ in measured_pages], [looks for _, looks in measured_pages]
        )


def measure_page(
    collection: CollectionStore, page: Page, period: AnalysisPeriod = WHOLE_HISTORY
) -> tuple[PageMeasurement, LookTable]:
    """Return the figures of one page in a period without its rate, and its looks."""
    rows = period.rows(collection.catalog, page.id)
    read_snapshot = partial(collection.snapshots.read, url=page.url)
    mask = page_mask(collection, page)
    versions = read_page_versions(rows, read_snapshot, collection.settings.limits, mask=mask)
    looks = looks_in_history(rows)
    summary = summarise_page(looks, traits=page_traits(versions, page.url, whole=period.is_limited))
    return PageMeasurement(page.id, _last_kind(rows), summary, versions.missing_note), looks


def looks_in_history(rows: Sequence[HistoryRow]) -> LookTable:
    """Return the looks among a page's visits as a table."""
    looks = (row for row in rows if row.visit.outcome.is_look)
    return look_table((to_epoch(row.visit.time), row.change) for row in looks)


def measurements_from_columns(columns: Columns) -> list[PageMeasurement]:
    """Read measured pages back from the columns of a batch."""
    columns_by_row = (columns[name].tolist() for name in ("page", "kind", "left_out"))
    rows = zip(*columns_by_row, summaries_from_columns(columns), strict=True)
    return [
        PageMeasurement(page_id, kind, summary, left_out)
        for page_id, kind, left_out, summary in rows
    ]


def _columns(pages: Sequence[PageMeasurement], looks: Sequence[LookTable]) -> Columns:
    look_counts = [len(look_rows) for look_rows in looks]
    times = [np.empty(0), *(look_rows.times for look_rows in looks)]
    changed = [np.empty(0, np.int8), *(look_rows.changed for look_rows in looks)]
    return {
        "page": np.array([page.page_id for page in pages], np.int64),
        "kind": np.array([page.kind for page in pages], np.str_),
        "left_out": np.array([page.left_out for page in pages], np.str_),
        **summaries_to_columns([page.summary for page in pages]),
        "look_row": np.repeat(np.arange(len(pages), dtype=np.int32), look_counts),
        "look_time": np.concatenate(times),
        "look_changed": np.concatenate(changed),
    }


def _last_kind(rows: Sequence[HistoryRow]) -> str:
    kinds = (str(row.view.kind) for row in reversed(rows) if row.view is not None)
    return next(kinds, NO_GROUP)
