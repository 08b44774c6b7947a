"""The versions of some pages of a collection at the steps of a common time grid."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from freshet.archive.catalog.rows import HistoryRow
from freshet.core.clock import to_epoch
from freshet.core.content.content_grid import NO_VERSION, ContentGrid, find_link_targets
from freshet.core.content.sparse_rows import count_rows
from freshet.core.progress import ProgressCallback
from freshet.core.tables import DAY_SECONDS, hash_names
from freshet.core.types import FloatArray, Page, TermCounts, View
from freshet.record.collection_reader import CollectionReader
from freshet.record.stored_page import read_visit_view

MAX_STEPS = 60
SHORTEST_STEP, LONGEST_STEP = 3_600.0, 7 * DAY_SECONDS
NO_TERMS = TermCounts(np.empty(0, np.uint64), np.empty(0, np.uint32))


class VersionsRead(StrEnum):
    """Which versions of pages are parsed."""

    NONE = "none"
    LAST = "last"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class VersionStart:
    """A version of a page, given by the look that first showed it; ``page`` is a row."""

    page: int
    look: HistoryRow


def step_times(looks: Sequence[HistoryRow]) -> FloatArray:
    """Return the steps of a grid for a page: as far apart as its looks, and up to the last one."""
    times = np.array([to_epoch(look.visit.time) for look in looks])
    usual_gap = float(np.median(np.diff(times))) if len(times) > 1 else DAY_SECONDS
    step = min(max(usual_gap, SHORTEST_STEP), LONGEST_STEP)
    count = min(MAX_STEPS, 1 + int((times[-1] - times[0]) / step))
    steps: FloatArray = times[-1] - step * np.arange(count)[::-1]
    return steps


def build_grid(
    reader: CollectionReader,
    pages: Sequence[Page],
    times: FloatArray,
    progress: ProgressCallback,
    *,
    reads: VersionsRead,
) -> ContentGrid:
    """Return the grid of pages; ``reads`` says which versions are parsed.

    A version begins at a look that found a change. Versions that are not parsed, or whose bytes are
    no longer stored, have no words and links.
    """
    versions: list[VersionStart] = []
    table = np.full((len(pages), len(times)), NO_VERSION, np.int32)
    for row, page in enumerate(pages):
        progress(row, len(pages))
        table[row] = _page_steps(reader, row, page, times, versions)
    is_read = np.zeros(len(versions), np.bool_)
    if reads != VersionsRead.NONE:
        steps = table if reads == VersionsRead.ALL else table[:, -1:]
        is_read[steps[steps != NO_VERSION]] = True
    views = [
        read_visit_view(reader, pages[version.page], version.look) if wanted else None
        for version, wanted in zip(versions, _with_progress(is_read, progress), strict=True)
    ]
    terms, vocabulary = count_rows([NO_TERMS if view is None else view.terms for view in views])
    links, link_hashes = count_rows([_link_counts(view) for view in views])
    names = tuple(page.url for page in pages)
    return ContentGrid(
        names,
        hash_names([page.host for page in pages]),
        times,
        table,
        terms,
        vocabulary,
        np.arange(1, len(versions) + 1, dtype=np.uint64),
        links,
        find_link_targets(link_hashes, hash_names(names)),
    )


def _page_steps(
    reader: CollectionReader,
    row: int,
    page: Page,
    times: FloatArray,
    versions: list[VersionStart],
) -> np.ndarray:
    """Add the versions of a page; return the current one at each step."""
    first = len(versions)
    starts: list[float] = []
    for look in reader.catalog.history(page.id):
        if not look.visit.outcome.is_look:
            continue
        if not starts or (look.change is not None and look.change.changed):
            starts.append(to_epoch(look.visit.time))
            versions.append(VersionStart(row, look))
    numbers = np.searchsorted(np.array(starts), times, side="right") - 1
    return np.where(numbers >= 0, first + numbers, NO_VERSION)


def _with_progress(flags: np.ndarray, progress: ProgressCallback) -> Iterator[bool]:
    for number, flag in enumerate(flags.tolist()):
        progress(number, len(flags))
        yield flag


def _link_counts(view: View | None) -> TermCounts:
    """Return the links of a view as counted terms: the hashes of their URLs."""
    if view is None or not len(view.links.urls):
        return NO_TERMS
    hashes = np.unique(hash_names(view.links.urls))
    return TermCounts(hashes, np.ones(len(hashes), np.uint32))
