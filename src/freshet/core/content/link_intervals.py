"""New links of pages in given intervals of time, counted from the events of their links.

An event says that a link appeared on a page or disappeared from it, as found by a look. Between two
looks nothing is known. The links of a page at the end of an interval are those of its last look by
then; the page is known there only if it was looked at within the interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from freshet.core.content.new_links import NewLinks
from freshet.core.tables import BoolArray
from freshet.core.types import Float32Array, FloatArray, HashArray, IndexArray

NO_INTERVAL = -1
# A page rotates its links if most of its new links were on it before, in this many intervals.
MIN_ROTATING_INTERVALS, ROTATING_SHARE = 3, 0.5
# A page replaces all links if this share of them is new in all of its known intervals.
REPLACED_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class LinkEvents:
    """Links that appeared on pages or disappeared: ``targets`` are hashes of absolute URLs.

    ``pages`` are indices of pages, ``times`` those of the looks in epoch seconds.
    """

    pages: IndexArray
    times: FloatArray
    targets: HashArray
    is_added: BoolArray
    is_internal: BoolArray

    def __len__(self) -> int:
        return len(self.pages)


@dataclass(frozen=True, slots=True)
class LinkIntervals:
    """New links per page and interval; a row per page, a column per interval.

    ``internal`` and ``external`` links were not on the page at the end of the last interval before
    in which it was known. ``never_seen`` links were never seen on the page by then, and
    ``first_in_collection`` links on no page. If pages get the same new link in one interval, it
    counts for each. All are NaN where the page is not known in the interval or was not known
    before. ``spanned`` is the number of intervals that the counts cover: more than 1 after
    intervals in which the page was not looked at, 0 where there are no counts. ``total`` is the
    number of links at the end of the interval, NaN where the page is not known.
    """

    spanned: IndexArray
    total: Float32Array
    internal: Float32Array
    external: Float32Array
    never_seen_internal: Float32Array
    never_seen_external: Float32Array
    first_in_collection_internal: Float32Array
    first_in_collection_external: Float32Array

    def new_links(self) -> NewLinks:
        """Return the counts of single intervals; NaN where a count covers several."""
        is_single = self.spanned == 1
        columns = (
            self.internal,
            self.external,
            self.never_seen_internal,
            self.never_seen_external,
        )
        return NewLinks(
            *(np.where(is_single, column, np.nan).astype(np.float32) for column in columns)
        )

    @property
    def are_rotating(self) -> BoolArray:
        """Return which pages show a choice from a pool of links: most new ones were there before.

        Only the never-seen links of such a page are news.
        """
        new = self.internal + self.external
        never_seen = self.never_seen_internal + self.never_seen_external
        is_known = ~np.isnan(new) & (new > 0)
        returned = np.where(is_known, new - never_seen, 0).sum(axis=1)
        found = np.where(is_known, new, 0).sum(axis=1)
        is_rotating: BoolArray = (is_known.sum(axis=1) >= MIN_ROTATING_INTERVALS) & (
            returned > ROTATING_SHARE * found
        )
        return is_rotating

    @property
    def replace_all(self) -> BoolArray:
        """Return which pages had almost all links replaced in every known interval.

        That is a fast list or a link farm. Only looks minutes apart can tell them apart.
        """
        new = self.internal + self.external
        is_known = ~np.isnan(new)
        is_replaced = is_known & (new >= REPLACED_SHARE * self.total) & (new > 0)
        replaces: BoolArray = (is_known.sum(axis=1) >= MIN_ROTATING_INTERVALS) & (
            is_replaced == is_known
        ).all(axis=1)
        return replaces

    def news(self) -> tuple[Float32Array, Float32Array]:
        """Return internal and external new links; of rotating pages only those never seen."""
        is_rotating = self.are_rotating[:, np.newaxis]
        internal = np.where(is_rotating, self.never_seen_internal, self.internal)
        external = np.where(is_rotating, self.never_seen_external, self.external)
        return internal.astype(np.float32), external.astype(np.float32)


class LinkIntervalCounter:
    """Counts new links in the intervals between bounds, batch by batch of whole pages.

    ``bounds`` are ascending times in epoch seconds: one more than intervals. The state at the first
    bound is the reference of the first interval.
    """

    def __init__(self, page_count: int, bounds: FloatArray) -> None:
        self._bounds = bounds
        self._intervals = len(bounds) - 1
        shape = (page_count, len(bounds))
        self._is_known: BoolArray = np.zeros(shape, np.bool_)
        self._totals = np.zeros(shape, np.int32)
        self._new_links: list[_NewLinkRows] = []
        self._first_targets: list[HashArray] = []
        self._first_times: list[FloatArray] = []

    def add_pages(self, events: LinkEvents, look_pages: IndexArray, look_times: FloatArray) -> None:
        """Add all events of some pages, and all looks at them up to the last bound."""
        self._add_looks(look_pages, look_times)
        order = np.lexsort((events.times, events.targets, events.pages))
        runs = _LinkRuns.of_events(events, order, self._bounds)
        begins, ends = runs.first <= self._intervals, runs.end <= self._intervals
        np.add.at(self._totals, (runs.pages[begins], runs.first[begins]), 1)
        np.subtract.at(self._totals, (runs.pages[ends], runs.end[ends]), 1)
        self._new_links.append(self._new_rows(runs))
        by_time = np.argsort(events.times, kind="stable")
        targets, position = np.unique(events.targets[by_time], return_index=True)
        self._first_targets.append(targets)
        self._first_times.append(events.times[by_time][position])

    def counts(self) -> LinkIntervals:
        """Return the counts of all pages added."""
        rows = _concatenate_rows(self._new_links)
        is_first = self._first_seen(rows.targets) > rows.since
        kinds = [
            is_counted & kind
            for is_counted in (np.ones(len(rows.pages), np.bool_), rows.is_never_seen, is_first)
            for kind in (rows.is_internal, ~rows.is_internal)
        ]
        previous = _previous_known(self._is_known)[:, 1:]
        is_known = self._is_known[:, 1:]
        has_counts = is_known & (previous != NO_INTERVAL)
        columns = np.arange(1, self._intervals + 1)
        totals = np.cumsum(self._totals, axis=1)[:, 1:].astype(np.float32)
        counts = tuple(self._count(rows, kind, has_counts) for kind in kinds)
        total = np.where(is_known, totals, np.nan).astype(np.float32)
        spanned = np.where(has_counts, columns - previous, 0).astype(np.int32)
        return LinkIntervals(spanned, total, *counts)

    def _add_looks(self, pages: IndexArray, times: FloatArray) -> None:
        """Mark the bounds before which pages were looked at, since the bound before."""
        columns = np.searchsorted(self._bounds, times, side="left")
        is_inside = columns < len(self._bounds)
        self._is_known[pages[is_inside], columns[is_inside]] = True

    def _new_rows(self, runs: "_LinkRuns") -> "_NewLinkRows":
        """Return the links that are new in an interval: absent at the last known bound before."""
        pages, rows = np.unique(runs.pages, return_inverse=True)
        is_known = self._is_known[pages]
        column = _next_known(is_known)[rows, np.minimum(runs.first, self._intervals)]
        is_shown = (runs.first <= self._intervals) & (column < runs.end)
        is_shown &= column <= self._intervals
        column = np.where(is_shown, column, 0)
        previous = _previous_known(is_known)[rows, column]
        is_new = is_shown & (previous != NO_INTERVAL)
        # The run before covers the reference: the link was gone only in between.
        is_new &= runs.end_before <= previous
        since = self._bounds[np.maximum(previous, 0)]
        is_never_seen = runs.first_times > since
        return _NewLinkRows(
            runs.pages[is_new], column[is_new] - 1, runs.targets[is_new], since[is_new],
            runs.is_internal[is_new], is_never_seen[is_new],
        )  # fmt: skip

    def _first_seen(self, targets: HashArray) -> FloatArray:
        """Return when links were first seen on any page."""
        if not self._first_targets or not len(targets):
            return np.empty(0)
        all_targets = np.concatenate(self._first_targets)
        all_times = np.concatenate(self._first_times)
        order = np.lexsort((all_times, all_targets))
        positions = np.searchsorted(all_targets[order], targets, side="left")
        first_times: FloatArray = all_times[order][positions]
        return first_times

    def _count(self, rows: "_NewLinkRows", kind: BoolArray, has_counts: BoolArray) -> Float32Array:
        cells = rows.pages[kind].astype(np.int64) * self._intervals + rows.columns[kind]
        counts = np.bincount(cells, minlength=has_counts.size).reshape(has_counts.shape)
        return np.where(has_counts, counts, np.nan).astype(np.float32)


@dataclass(frozen=True, slots=True)
class _LinkRuns:
    """Times in which a link was on a page, in the order of page, target and time.

    A run covers the bounds from ``first`` to before ``end``, at least one. ``end_before`` is the
    end of the run before of the same link, NO_INTERVAL if there is none. ``first_times`` is when
    the link was first seen on the page.
    """

    pages: IndexArray
    targets: HashArray
    is_internal: BoolArray
    first: NDArray[np.intp]
    end: NDArray[np.intp]
    end_before: NDArray[np.intp]
    first_times: FloatArray

    @classmethod
    def of_events(
        cls, events: LinkEvents, order: NDArray[np.intp], bounds: FloatArray
    ) -> "_LinkRuns":
        pages, targets = events.pages[order], events.targets[order]
        times = events.times[order]
        is_added = events.is_added[order]
        continues = (pages[1:] == pages[:-1]) & (targets[1:] == targets[:-1])
        next_times = np.full(len(order), np.inf)
        next_times[:-1][continues] = times[1:][continues]
        # A second event of the same kind changes nothing: an added link stays where it is.
        repeats = np.append(False, continues & is_added[1:] & is_added[:-1])
        ends_late = np.append(continues & is_added[1:] & is_added[:-1], False)
        while ends_late.any():
            positions = np.flatnonzero(ends_late)
            next_times[positions] = np.append(next_times, np.inf)[positions + 1]
            ends_late[positions] = np.append(ends_late, False)[positions + 1]
        starts_link = np.append(True, ~continues)[: len(order)]
        link_starts = np.maximum.accumulate(np.where(starts_link, np.arange(len(order)), 0))
        first = np.searchsorted(bounds, times, side="left")
        end = np.searchsorted(bounds, next_times, side="left")
        # A run that covers no bound does not matter, except that the link was seen then.
        rows = np.flatnonzero(is_added & ~repeats & (first < end))
        same = link_starts[rows][1:] == link_starts[rows][:-1]
        has_before = np.append(False, same)[: len(rows)]
        before = rows[np.where(has_before, np.arange(len(rows)) - 1, 0)]
        return cls(
            pages[rows], targets[rows], events.is_internal[order][rows], first[rows], end[rows],
            np.where(has_before, end[before], NO_INTERVAL), times[link_starts[rows]],
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _NewLinkRows:
    """New links: their page, interval and target, and the bound since which they are new."""

    pages: IndexArray
    columns: NDArray[np.intp]
    targets: HashArray
    since: FloatArray
    is_internal: BoolArray
    is_never_seen: BoolArray


def _concatenate_rows(parts: Sequence[_NewLinkRows]) -> _NewLinkRows:
    if not parts:
        empty = np.empty(0, np.int32)
        return _NewLinkRows(
            empty, empty.astype(np.intp), empty.astype(np.uint64), empty.astype(np.float64),
            empty.astype(np.bool_), empty.astype(np.bool_),
        )  # fmt: skip
    names = [column.name for column in fields(_NewLinkRows)]
    return _NewLinkRows(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in names)
    )


def _next_known(is_known: BoolArray) -> NDArray[np.intp]:
    """Return the first known column at or after each one, past the last one if there is none."""
    columns = is_known.shape[1]
    known = np.where(is_known, np.arange(columns), columns)
    return np.minimum.accumulate(known[:, ::-1], axis=1)[:, ::-1]


def _previous_known(is_known: BoolArray) -> NDArray[np.intp]:
    """Return the last known column before each one, NO_INTERVAL if there is none."""
    known = np.where(is_known, np.arange(is_known.shape[1]), NO_INTERVAL)
    last = np.maximum.accumulate(known, axis=1)
    before = np.full((len(is_known), 1), NO_INTERVAL)
    return np.concatenate([before, last[:, :-1]], axis=1)
