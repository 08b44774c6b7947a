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

from freshet.analysis.bursts import rounds_table
from freshet.analysis.figure_collector import Gathered, Tally
from freshet.analysis.page_groups import BY, in_order, labels
from freshet.analysis.page_measurement import WORK, Measured, MeasurePages, measured_from
from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import Summary
from freshet.core.clock import to_epoch
from freshet.core.errors import NotFound, UsageError
from freshet.core.progress import Progress, silent
from freshet.core.tables import PageIds
from freshet.core.types import Floats, Indices, Page
from freshet.engine.base import Engine
from freshet.engine.local import LocalEngine
from freshet.engine.result_cache import Columns, Kept, read
from freshet.measure.statistics.burst_table import Interval
from freshet.measure.statistics.groups import (
    Group,
    GroupTest,
    Histogram,
    group,
    group_table,
    group_tests,
    histogram,
)
from freshet.measure.statistics.page_summary import PageFigures, with_rate
from freshet.record.store import CollectionStore

FOLDER = "analysis"
ALL = "all"
# So many ids in a row share a batch; a page with so many visits is one of its own.
PAGES, VISITS = 32, 100
# Each process takes a quarter of the gigabyte that an analysis may take.
MOST_PROCESSES = 2
MOST_GROUPS = 1_000
INTERVAL_EDGES: Floats = np.geomspace(0.1, 100_000, 49)
DICE_EDGES: Floats = np.linspace(0, 1, 21)


@dataclass(frozen=True, slots=True)
class Analysis:
    """How the pages of a collection change.

    ``total`` is the table's row for all pages together. ``figures`` are those of the pages in
    ``page_ids``: all ``pages`` of them, or a sample where there are very many. A page in several
    groups, as by tags, counts in each; ``left_out`` groups are smaller than all in the table.
    ``rounds`` tells how many pages change within an hour (Table 2), of those that had rounds;
    there is none where only some pages were asked for.
    """

    by: str
    pages: int
    total: Group
    groups: tuple[Group, ...]
    left_out: int
    tests: tuple[GroupTest, ...]
    intervals: Histogram
    dice: Histogram
    rounds: tuple[Interval, ...]
    page_ids: PageIds
    figures: PageFigures
    rates: NDArray[np.float32]
    parts: tuple[Path, ...]

    @property
    def sampled(self) -> bool:
        """Whether the figures are those of a sample of the pages."""
        return len(self.page_ids) < self.pages

    def measured(self) -> Iterator[Measured]:
        """Yield the figures of every page, by id, read again from where they are kept."""
        rates = iter(self.rates.tolist())
        for path in self.parts:
            found = read(path)
            if found is None:
                raise NotFound(f"{path} is no longer there; analyse the collection again")
            for page in measured_from(found):
                yield replace(page, summary=with_rate(page.summary, next(rates)))


def analyse(
    collection: CollectionStore,
    *,
    by: str = "tld",
    source: str | None = None,
    tag: str | None = None,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> Analysis:
    """Measure all pages, those of a source or those with a tag, and compare their groups."""
    if by not in BY:
        raise UsageError(f"pages cannot be grouped by {by!r}; choose one of {', '.join(BY)}")
    kept = Kept(collection.path / FOLDER / _choice(tag, source), WORK)
    tally, parts = Tally(), list[Path]()
    total = _count(collection, tag, source)
    drawn: deque[tuple[Path, dict[int, Page]]] = deque()
    batches = _noted(_batches(collection, tag, source), drawn, kept, collection.catalog)
    work = MeasurePages(str(collection.path.absolute()))
    for found in (engine or usual_engine()).map(work, batches, kept=kept):
        path, known = drawn.popleft()
        pages = [known[page] for page in found["page"].tolist()]
        kinds = found["kind"].tolist()
        grouped = labels(by, pages, kinds, collection.catalog, collection.settings)
        tally.add(found, pages, grouped)
        parts.append(path)
        progress(tally.pages, max(total, tally.pages))
    kept.clear(set(parts))
    some = tag is not None or source is not None
    return _analysis(by, tally, parts, () if some else rounds_table(collection))


def usual_engine(processes: int = 0) -> LocalEngine:
    """Return the engine of an analysis: as many processes as are asked for, else two at most."""
    return LocalEngine(processes or min(MOST_PROCESSES, LocalEngine().processes))


def _analysis(by: str, tally: Tally, parts: Sequence[Path], rounds: Sequence[Interval]) -> Analysis:
    held = tally.gathered()
    names, code, rows = _largest(tally.names, held)
    figures = held.figures[rows]
    groups = group_table(names, code, figures)
    ordered = sorted(groups, key=lambda row: in_order(row.name, row.pages))
    return Analysis(
        by=by,
        pages=tally.pages,
        total=group(ALL, held.figures),
        groups=tuple(ordered),
        left_out=len(tally.names) - len(names),
        tests=group_tests(names, code, figures),
        intervals=histogram(held.figures.interval_hours, INTERVAL_EDGES),
        dice=histogram(held.figures.dice_mean, DICE_EDGES),
        rounds=tuple(rounds),
        page_ids=held.ids,
        figures=held.figures,
        rates=tally.rates(),
        parts=tuple(parts),
    )


def _largest(names: Iterable[str], held: Gathered) -> tuple[list[str], Indices, Indices]:
    """Return the groups with most pages, and of their members the group and the row of figures."""
    known = list(names)
    sizes = np.bincount(held.codes, minlength=len(known))
    kept = np.sort(np.argsort(-sizes, kind="stable")[:MOST_GROUPS])
    place = np.full(len(known), -1, np.int32)
    place[kept] = np.arange(len(kept))
    among = place[held.codes] >= 0
    return [known[code] for code in kept], place[held.codes[among]], held.rows[among]


def _choice(tag: str | None, source: str | None) -> str:
    """Return the folder of a choice of pages, whose results another choice must not clear.

    >>> _choice(None, None), _choice("news", None) == _choice(None, "news")
    ('all', False)
    """
    if tag is None and source is None:
        return ALL
    return blake2b(repr((tag, source)).encode(), digest_size=8).hexdigest()


def _count(collection: CollectionStore, tag: str | None, source: str | None) -> int:
    if tag is None and source is None:
        return collection.catalog.counts().pages
    return sum(1 for _ in collection.catalog.pages(tag=tag, source=source))


def _batches(
    collection: CollectionStore, tag: str | None, source: str | None
) -> Iterator[Sequence[Summary]]:
    """Yield pages with their totals by id, few enough at a time that a batch is soon done."""
    pages = collection.catalog.pages(tag=tag, source=source)
    for _, batch in groupby(collection.catalog.summaries(pages), _batch_of):
        yield list(batch)


def _batch_of(row: Summary) -> tuple[int, int]:
    """Return what the pages of a batch share."""
    return (row.page.id - 1) // PAGES, row.page.id if row.visits >= VISITS else 0


def _noted(
    batches: Iterable[Sequence[Summary]],
    drawn: deque[tuple[Path, dict[int, Page]]],
    kept: Kept,
    catalog: Catalog,
) -> Iterator[Columns]:
    """Yield batches as columns, noting the pages of each for when its result comes.

    A batch holds the totals and masks of its pages too: with new visits it is another batch.
    """
    for batch in batches:
        masks = catalog.masks([row.page.id for row in batch])
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


def _times(moments: Sequence[datetime | None]) -> Floats:
    return np.array([np.nan if each is None else to_epoch(each) for each in moments], np.float64)
