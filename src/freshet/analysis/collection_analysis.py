"""How the pages of a whole collection change: a map over its pages and a reduce.

Pages are measured in batches by an engine, and only the figures of each page stay in memory; of
very large collections, those of a random sample of pages. Results of finished batches are cached in
the collection's folder, so that an interrupted analysis continues, and a repeated one measures only
batches in which a page has new visits. Page ids define the batches, so that the growth of one page
does not move another page to another batch.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from freshet.analysis.analysis_scope import WHOLE_COLLECTION, AnalysisScope
from freshet.analysis.bursts import collection_burst_table
from freshet.analysis.figure_collector import FigureCollector, GroupedFigures
from freshet.analysis.page_groups import GROUPINGS, group_labels, group_sort_key
from freshet.analysis.page_measurement import (
    WORK_NAME,
    PageBatchMeasurer,
    PageMeasurement,
    measurements_from_columns,
)
from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import PageTotals
from freshet.core.clock import to_epoch
from freshet.core.errors import NotFoundError, UsageError
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.tables import PageIdArray
from freshet.core.types import FloatArray, IndexArray, Page
from freshet.engine.local import LocalEngine
from freshet.engine.result_cache import Columns, ResultCache, read_result
from freshet.measure.statistics.burst_table import BurstInterval
from freshet.measure.statistics.groups import (
    GroupSummary,
    GroupTest,
    Histogram,
    group_table,
    group_tests,
    make_histogram,
    summarise_group,
)
from freshet.measure.statistics.page_summary import PageFigures, with_rate
from freshet.record.collection_store import CollectionStore

RESULTS_FOLDER = "analysis"
ALL_PAGES = "all"
# Consecutive page ids share a batch; a page with many visits is a batch of its own.
PAGES_PER_BATCH, MIN_VISITS_FOR_OWN_BATCH = 32, 100
# Each process needs a quarter of the gigabyte that an analysis may use.
MAX_PROCESSES = 2
MAX_GROUPS = 1_000
INTERVAL_EDGES: FloatArray = np.geomspace(0.1, 100_000, 49)
DICE_EDGES: FloatArray = np.linspace(0, 1, 21)


@dataclass(frozen=True, slots=True)
class CollectionAnalysis:
    """How the pages of a collection change.

    ``total`` is the table's row for all pages together. ``figures`` are those of the pages in
    ``page_ids``: all ``pages`` of them, or a sample of very many. A page in several groups, as by
    tags, counts in each. ``left_out_groups`` is the number of groups that are smaller than those in
    the table. ``bursts`` has the shares of pages that change within an hour (Table 2), of pages
    with bursts; it is empty where the analysis is limited to a tag, a source or a period.
    """

    by: str
    pages: int
    total: GroupSummary
    groups: tuple[GroupSummary, ...]
    left_out_groups: int
    tests: tuple[GroupTest, ...]
    intervals: Histogram
    dice: Histogram
    bursts: tuple[BurstInterval, ...]
    page_ids: PageIdArray
    figures: PageFigures
    rates: NDArray[np.float32]
    result_files: tuple[Path, ...]

    @property
    def is_sample(self) -> bool:
        """Whether the figures are those of a sample of the pages."""
        return len(self.page_ids) < self.pages

    def page_measurements(self) -> Iterator[PageMeasurement]:
        """Yield the figures of every page, by id, from the cached results."""
        rates = iter(self.rates.tolist())
        for path in self.result_files:
            columns = read_result(path)
            if columns is None:
                raise NotFoundError(f"{path} does not exist any more; analyse the collection again")
            for page in measurements_from_columns(columns):
                yield replace(page, summary=with_rate(page.summary, next(rates)))


def analyse_collection(
    collection: CollectionStore,
    *,
    by: str = "tld",
    scope: AnalysisScope = WHOLE_COLLECTION,
    engine: LocalEngine | None = None,
    progress: ProgressCallback = ignore_progress,
) -> CollectionAnalysis:
    """Measure the pages and looks in the scope, and compare their groups."""
    if by not in GROUPINGS:
        raise UsageError(f"pages cannot be grouped by {by!r}; choose one of {', '.join(GROUPINGS)}")
    cache = ResultCache(collection.path / RESULTS_FOLDER / _cache_folder(scope), WORK_NAME)
    collector, result_files = FigureCollector(), list[Path]()
    total = _count_pages(collection, scope)
    batches_in_work: deque[tuple[Path, dict[int, Page]]] = deque()
    pages_in_batches = _batches(collection, scope)
    batches = _batch_columns(pages_in_batches, batches_in_work, cache, collection.catalog)
    measure = PageBatchMeasurer(str(collection.path.absolute()), scope.period)
    for columns in (engine or default_engine()).map(measure, batches, cache=cache):
        path, pages_by_id = batches_in_work.popleft()
        pages = [pages_by_id[page] for page in columns["page"].tolist()]
        kinds = columns["kind"].tolist()
        labels = group_labels(by, pages, kinds, collection.catalog, collection.settings)
        collector.add_batch(columns, pages, labels)
        result_files.append(path)
        progress(collector.page_count, max(total, collector.page_count))
    cache.clear(set(result_files))
    bursts = () if scope != WHOLE_COLLECTION else collection_burst_table(collection)
    return _analysis(by, collector, result_files, bursts)


def default_engine(processes: int = 0) -> LocalEngine:
    """Return the engine of an analysis, with at most two processes by default."""
    return LocalEngine(processes or min(MAX_PROCESSES, LocalEngine().processes))


def _analysis(
    by: str,
    collector: FigureCollector,
    result_files: Sequence[Path],
    bursts: Sequence[BurstInterval],
) -> CollectionAnalysis:
    grouped = collector.figures()
    names, group_numbers, rows = _largest_groups(collector.group_numbers, grouped)
    figures = grouped.figures[rows]
    groups = group_table(names, group_numbers, figures)
    ordered = sorted(groups, key=lambda row: group_sort_key(row.name, row.pages))
    return CollectionAnalysis(
        by=by,
        pages=collector.page_count,
        total=summarise_group(ALL_PAGES, grouped.figures),
        groups=tuple(ordered),
        left_out_groups=len(collector.group_numbers) - len(names),
        tests=group_tests(names, group_numbers, figures),
        intervals=make_histogram(grouped.figures.interval_hours, INTERVAL_EDGES),
        dice=make_histogram(grouped.figures.dice_mean, DICE_EDGES),
        bursts=tuple(bursts),
        page_ids=grouped.ids,
        figures=grouped.figures,
        rates=collector.rates(),
        result_files=tuple(result_files),
    )


def _largest_groups(
    names: Iterable[str], grouped: GroupedFigures
) -> tuple[list[str], IndexArray, IndexArray]:
    """Return the largest groups, and the group and the row of figures of their members."""
    all_names = list(names)
    sizes = np.bincount(grouped.member_groups, minlength=len(all_names))
    largest = np.sort(np.argsort(-sizes, kind="stable")[:MAX_GROUPS])
    new_numbers = np.full(len(all_names), -1, np.int32)
    new_numbers[largest] = np.arange(len(largest))
    is_member = new_numbers[grouped.member_groups] >= 0
    return (
        [all_names[number] for number in largest],
        new_numbers[grouped.member_groups[is_member]],
        grouped.member_rows[is_member],
    )


def _cache_folder(scope: AnalysisScope) -> str:
    """Return the cache folder of a scope; each has its own results.

    >>> _cache_folder(WHOLE_COLLECTION)
    'all'
    >>> _cache_folder(AnalysisScope(tag="news")) == _cache_folder(AnalysisScope(source="news"))
    False
    """
    if scope == WHOLE_COLLECTION:
        return ALL_PAGES
    return blake2b(repr(scope).encode(), digest_size=8).hexdigest()


def _count_pages(collection: CollectionStore, scope: AnalysisScope) -> int:
    if scope.tag is None and scope.source is None:
        return collection.catalog.counts().pages
    return sum(1 for _ in collection.catalog.pages(tag=scope.tag, source=scope.source))


def _batches(collection: CollectionStore, scope: AnalysisScope) -> Iterator[Sequence[PageTotals]]:
    """Yield pages with their totals by id, in batches."""
    pages = collection.catalog.pages(tag=scope.tag, source=scope.source)
    for _, batch in groupby(collection.catalog.page_totals(pages), _batch_of):
        yield list(batch)


def _batch_of(row: PageTotals) -> tuple[int, int]:
    """Return the key that the pages of a batch share."""
    has_own_batch = row.visits >= MIN_VISITS_FOR_OWN_BATCH
    return (row.page.id - 1) // PAGES_PER_BATCH, row.page.id if has_own_batch else 0


def _batch_columns(
    batches: Iterable[Sequence[PageTotals]],
    batches_in_work: deque[tuple[Path, dict[int, Page]]],
    cache: ResultCache,
    catalog: Catalog,
) -> Iterator[Columns]:
    """Yield batches as columns, and append the pages of each to ``batches_in_work``.

    A batch includes the totals and mask versions of its pages, so that new visits make another
    batch.
    """
    for batch in batches:
        masks = catalog.latest_masks([row.page.id for row in batch])
        versions = [masks[row.page.id].version if row.page.id in masks else 0 for row in batch]
        columns = {
            "page": np.array([row.page.id for row in batch], np.int64),
            "visits": np.array([row.visits for row in batch], np.int64),
            "changes": np.array([row.changes for row in batch], np.int64),
            "mask": np.array(versions, np.int64),
            "last_look": _times([row.last_look for row in batch]),
            "last_change": _times([row.last_change for row in batch]),
        }
        batches_in_work.append((cache.path(columns), {row.page.id: row.page for row in batch}))
        yield columns


def _times(times: Sequence[datetime | None]) -> FloatArray:
    return np.array([np.nan if time is None else to_epoch(time) for time in times], np.float64)
