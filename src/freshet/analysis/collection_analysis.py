"""How the pages of a whole collection change: a map over its pages and a reduce.

Pages are drawn in batches, measured by an engine, and of each page only its figures are held; those
of very large collections are held for a sample of pages drawn by lot. Finished batches are kept in
the collection's folder, so that an analysis that was stopped goes on, and one that is repeated
measures only batches in which a page has new visits. Which pages make a batch is told by their ids,
so that no page's growth moves another from batch to batch.
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
from freshet.record.store import CollectionStore

RESULTS_FOLDER = "analysis"
ALL_PAGES = "all"
# So many ids in a row share a batch; a page with so many visits is one of its own.
PAGES_PER_BATCH, MIN_VISITS_FOR_OWN_BATCH = 32, 100
# Each process takes a quarter of the gigabyte that an analysis may take.
MAX_PROCESSES = 2
MAX_GROUPS = 1_000
INTERVAL_EDGES: FloatArray = np.geomspace(0.1, 100_000, 49)
DICE_EDGES: FloatArray = np.linspace(0, 1, 21)


@dataclass(frozen=True, slots=True)
class CollectionAnalysis:
    """How the pages of a collection change.

    ``total`` is the table's row for all pages together. ``figures`` are those of the pages in
    ``page_ids``: all ``page_count`` of them, or a sample where there are very many. A page in several
    groups, as by tags, counts in each; ``left_out_groups`` groups are smaller than all in the table.
    ``bursts`` tells how many pages change within an hour (Table 2), of those that had rounds;
    there is none where only some pages were asked for.
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
        """Yield the figures of every page, by id, read again from where they are kept."""
        rates = iter(self.rates.tolist())
        for path in self.result_files:
            found = read_result(path)
            if found is None:
                raise NotFoundError(f"{path} is no longer there; analyse the collection again")
            for page in measurements_from_columns(found):
                yield replace(page, summary=with_rate(page.summary, next(rates)))


def analyse_collection(
    collection: CollectionStore,
    *,
    by: str = "tld",
    source: str | None = None,
    tag: str | None = None,
    engine: LocalEngine | None = None,
    progress: ProgressCallback = ignore_progress,
) -> CollectionAnalysis:
    """Measure all pages, those of a source or those with a tag, and compare their groups."""
    if by not in GROUPINGS:
        raise UsageError(f"pages cannot be grouped by {by!r}; choose one of {', '.join(GROUPINGS)}")
    kept = ResultCache(collection.path / RESULTS_FOLDER / _choice(tag, source), WORK_NAME)
    tally, parts = FigureCollector(), list[Path]()
    total = _count(collection, tag, source)
    drawn: deque[tuple[Path, dict[int, Page]]] = deque()
    batches = _noted(_batches(collection, tag, source), drawn, kept, collection.catalog)
    work = PageBatchMeasurer(str(collection.path.absolute()))
    for found in (engine or default_engine()).map(work, batches, cache=kept):
        path, known = drawn.popleft()
        pages = [known[page] for page in found["page"].tolist()]
        kinds = found["kind"].tolist()
        grouped = group_labels(by, pages, kinds, collection.catalog, collection.settings)
        tally.add_batch(found, pages, grouped)
        parts.append(path)
        progress(tally.page_count, max(total, tally.page_count))
    kept.clear(set(parts))
    some = tag is not None or source is not None
    return _analysis(by, tally, parts, () if some else collection_burst_table(collection))


def default_engine(processes: int = 0) -> LocalEngine:
    """Return the engine of an analysis: as many processes as are asked for, else two at most."""
    return LocalEngine(processes or min(MAX_PROCESSES, LocalEngine().processes))


def _analysis(
    by: str, tally: FigureCollector, parts: Sequence[Path], rounds: Sequence[BurstInterval]
) -> CollectionAnalysis:
    held = tally.figures()
    names, code, rows = _largest(tally.group_numbers, held)
    figures = held.figures[rows]
    groups = group_table(names, code, figures)
    ordered = sorted(groups, key=lambda row: group_sort_key(row.name, row.pages))
    return CollectionAnalysis(
        by=by,
        pages=tally.page_count,
        total=summarise_group(ALL_PAGES, held.figures),
        groups=tuple(ordered),
        left_out_groups=len(tally.group_numbers) - len(names),
        tests=group_tests(names, code, figures),
        intervals=make_histogram(held.figures.interval_hours, INTERVAL_EDGES),
        dice=make_histogram(held.figures.dice_mean, DICE_EDGES),
        bursts=tuple(rounds),
        page_ids=held.ids,
        figures=held.figures,
        rates=tally.rates(),
        result_files=tuple(parts),
    )


def _largest(
    names: Iterable[str], held: GroupedFigures
) -> tuple[list[str], IndexArray, IndexArray]:
    """Return the groups with most pages, and of their members the group and the row of figures."""
    known = list(names)
    sizes = np.bincount(held.member_groups, minlength=len(known))
    kept = np.sort(np.argsort(-sizes, kind="stable")[:MAX_GROUPS])
    place = np.full(len(known), -1, np.int32)
    place[kept] = np.arange(len(kept))
    among = place[held.member_groups] >= 0
    return [known[code] for code in kept], place[held.member_groups[among]], held.member_rows[among]


def _choice(tag: str | None, source: str | None) -> str:
    """Return the folder of a choice of pages, whose results another choice must not clear.

    >>> _choice(None, None), _choice("news", None) == _choice(None, "news")
    ('all', False)
    """
    if tag is None and source is None:
        return ALL_PAGES
    return blake2b(repr((tag, source)).encode(), digest_size=8).hexdigest()


def _count(collection: CollectionStore, tag: str | None, source: str | None) -> int:
    if tag is None and source is None:
        return collection.catalog.counts().pages
    return sum(1 for _ in collection.catalog.pages(tag=tag, source=source))


def _batches(
    collection: CollectionStore, tag: str | None, source: str | None
) -> Iterator[Sequence[PageTotals]]:
    """Yield pages with their totals by id, few enough at a time that a batch is soon done."""
    pages = collection.catalog.pages(tag=tag, source=source)
    for _, batch in groupby(collection.catalog.page_totals(pages), _batch_of):
        yield list(batch)


def _batch_of(row: PageTotals) -> tuple[int, int]:
    """Return what the pages of a batch share."""
    return (
        row.page.id - 1
    ) // PAGES_PER_BATCH, row.page.id if row.visits >= MIN_VISITS_FOR_OWN_BATCH else 0


def _noted(
    batches: Iterable[Sequence[PageTotals]],
    drawn: deque[tuple[Path, dict[int, Page]]],
    kept: ResultCache,
    catalog: Catalog,
) -> Iterator[Columns]:
    """Yield batches as columns, noting the pages of each for when its result comes.

    A batch holds the totals and masks of its pages too: with new visits it is another batch.
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
        drawn.append((kept.path(columns), {row.page.id: row.page for row in batch}))
        yield columns


def _times(moments: Sequence[datetime | None]) -> FloatArray:
    return np.array([np.nan if each is None else to_epoch(each) for each in moments], np.float64)
