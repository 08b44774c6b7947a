"""Shared events: days on which many pages of one host change together.

A release of a documentation site or a new template changes pages that hardly change otherwise. Each
host with enough pages has a hazard of shared events in bins of half a day, fitted to the looks at
its pages by expectation maximisation, jointly with the pages' own rates. It is used twice: a change
that a shared event explains counts less for the page's own rate, and pages that were not looked at
since the event are known to be stale. Days are by the publication times of the host, so that an
event is expected at the hours at which its pages change.

The looks of a host are a linked list, newest first, bounded by the number of its pages; older looks
are carried as sums. So a host is fitted again in a time that depends on its own pages only.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS, BoolArray
from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.columns import NOT_FOUND, SPARE_DIVISOR, GrowableColumns
from freshet.schedule.hosts.event_columns import (
    HOST_COLUMNS,
    INITIAL_EVENT_DAYS,
    INITIAL_EVENT_RATE,
    LOOK_COLUMNS,
    SHORT_GAP_DAYS,
)
from freshet.schedule.hosts.hazard_corrections import HazardCorrections
from freshet.schedule.hosts.hazard_tables import CARRIED_COLUMNS, TABLE_COLUMNS
from freshet.schedule.hosts.host_hazards import HostHazards
from freshet.schedule.hosts.kernels import event_fits, event_looks
from freshet.schedule.hosts.kernels import shared_events as kernels
from freshet.schedule.hosts.kernels.shared_events import BINS_PER_DAY
from freshet.schedule.hosts.publication_times import PublicationTimes
from freshet.schedule.page_states import LookBatch, PageStates

MIN_HOST_PAGES = 8
# A table that is fitted for the first time, as after a restart, takes more steps.
FIT_STEPS, FIRST_FIT_STEPS = 2, 20
MIN_STORED_LOOKS, MAX_STORED_LOOKS, LOOKS_PER_PAGE = 64, 2048, 2
# A host with many changes after short gaps keeps more looks, which show its hours.
MIN_ACTIVE_CHANGES, MIN_ACTIVE_LOOKS = 16, 256
# A host with at most this many looks is fitted again after every change that is found.
PROMPT_FIT_LOOKS, PROMPT_FIT_SHARE = 512, 64
# A hazard that moved by less than this changes no forecast noticeably.
HAZARD_TOLERANCE = 0.01
# Earlier looks are corrected only if events make the looks of the host this much likelier (in
# log-likelihood): several pages may also change at a time by themselves.
MIN_CLEAR_GAIN = 3.0
LOOKS_AT_ONCE = 1 << 17
# At most this many looks are fitted at one choice; other hosts wait for the next.
MAX_FITTED_LOOKS = 1 << 20
# Hosts have shared events, from the largest down, as long as looks and tables fit this memory.
EVENT_BYTES_PER_PAGE, MIN_EVENT_BYTES = 40, 1 << 25
# Looks that are no longer stored take this share of the memory at most.
DROPPED_SHARE = 8
TIME_STEPS_PER_DAY = 4096

LOOK_BYTES, TABLE_BYTES = (
    sum(np.dtype(spec.dtype).itemsize * max(1, spec.width) for spec in columns.values())
    for columns in (LOOK_COLUMNS, TABLE_COLUMNS | CARRIED_COLUMNS)
)

OwnHazards = Callable[[NDArray[Any], FloatArray], FloatArray]


class SharedEvents(HostHazards):
    """The hazard of shared events of every host, and the looks it is fitted to."""

    def __init__(self, publication_times: PublicationTimes) -> None:
        super().__init__(publication_times)
        self._looks = GrowableColumns(LOOK_COLUMNS)
        self._dropped_looks = 0
        self._least_pages, self._counted_pages = MIN_HOST_PAGES, 0

    @property
    def nbytes(self) -> int:
        """Return the memory of looks, hosts and hazards in bytes."""
        return self._looks.nbytes + self._hosts.nbytes + self._tables.nbytes

    def add(self, states: PageStates, rows: IndexArray) -> None:
        """Count new pages on their hosts."""
        self._hosts.append_rows(len(states.hosts) - len(self._hosts))
        np.add.at(self._hosts["pages"], states.host[rows], 1)
        if len(states) - self._counted_pages > self._counted_pages // SPARE_DIVISOR:
            self._limit_memory(states)

    def keep_rows(self, states: PageStates, mask: BoolArray) -> None:
        """Remove the looks of pages outside the mask, which covers the former rows."""
        if mask.all():
            return
        rows = self._looks["row"]
        self._keep_looks((rows != NOT_FOUND) & mask[rows])
        self._looks["row"][:] = (np.cumsum(mask) - 1)[self._looks["row"]]
        pages = np.bincount(states.host, minlength=len(self._hosts))
        self._hosts["pages"][:] = pages
        self._limit_memory(states)

    @property
    def table_rows(self) -> IndexArray:
        """Return the table of every host, ``NOT_FOUND`` for hosts with few pages or no looks."""
        tables: IndexArray = self._hosts["table"]
        return tables

    def page_counts(self, hosts: NDArray[Any]) -> IndexArray:
        """Return the number of pages of hosts."""
        counts: IndexArray = self._hosts["pages"][hosts]
        return counts

    def learn(self, hosts: IndexArray, looks: LookBatch, hazards: FloatArray) -> None:
        """Store measured looks at pages of hosts with the hazards that were used.

        Of small hosts, which have no shared events, only looks after a short gap are stored. The
        looks of a history come page by page. They are stored in the order of time, because the
        oldest ones are dropped first.
        """
        stored = event_looks.useful_looks(
            (hosts, looks.gap_days, looks.measured, looks.changed),
            (self._hosts["pages"], self._hosts["short_changes"]),
            (self._least_pages, SHORT_GAP_DAYS),
        )
        if not len(stored):
            return
        if len(stored) > 1:
            stored = stored[np.argsort(looks.times[stored], kind="stable")]
        count = len(self._looks)
        self._looks.append_rows(len(stored))
        columns, host_columns = self._looks, self._hosts
        event_looks.store_looks(
            (hosts, looks.rows, looks.times, looks.gap_days, looks.changed, hazards),
            (stored, count),
            (columns["row"], columns["end"], columns["gap"], columns["changed"], columns["hazard"]),
            columns["previous"],
            (host_columns["newest"], host_columns["stored"], host_columns["new_looks"]),
            host_columns["has_new_change"],
        )

    def hosts_to_fit(self, *, all_moved: bool) -> NDArray[np.intp]:
        """Return the hosts with new looks: all of them, or those whose fit should not wait."""
        if all_moved:
            hosts = np.flatnonzero(self._hosts["new_looks"])
            return self._most_moved(hosts[self._hosts["pages"][hosts] >= self._least_pages])
        hosts = np.flatnonzero(self._hosts["has_new_change"])
        new_looks, stored = self._hosts["new_looks"][hosts], self._hosts["stored"][hosts]
        is_prompt = (stored <= PROMPT_FIT_LOOKS) | (new_looks > stored // PROMPT_FIT_SHARE)
        is_prompt &= self._hosts["pages"][hosts] >= self._least_pages
        return self._most_moved(hosts[is_prompt])

    def trim_small_hosts(self) -> None:
        """Stop storing the oldest looks of small hosts that have many."""
        is_small = self._hosts["pages"] < self._least_pages
        hosts = np.flatnonzero(is_small & (self._hosts["stored"] > MIN_STORED_LOOKS))
        hosts = hosts[self._hosts["stored"][hosts] > 2 * self._look_limits(hosts)]
        if len(hosts):
            kept, kept_starts, older, _ = self._walk(hosts)
            self._drop(hosts, kept[kept_starts[1:] - 1], older, np.diff(kept_starts))

    def short_change_counts(self) -> IndexArray:
        """Return how many looks of each host found a change after a short gap."""
        counts: IndexArray = self._hosts["short_changes"]
        return counts

    def _most_moved(self, hosts: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return hosts within the limit of looks: those with many new looks and pages for the work.

        The others wait for the next hour, unless another change is found before.
        """
        stored = self._hosts["stored"][hosts]
        if stored.sum(dtype=np.int64) <= MAX_FITTED_LOOKS:
            return hosts
        new_looks, pages = self._hosts["new_looks"][hosts], self._hosts["pages"][hosts]
        order = np.argsort(-pages * (new_looks / np.maximum(1.0, stored) ** 2), kind="stable")
        looks = np.cumsum(stored[order], dtype=np.int64)
        self._hosts["has_new_change"][hosts] = False
        return np.sort(hosts[order[looks - stored[order] < MAX_FITTED_LOOKS]])

    def fit(
        self, hosts: NDArray[np.intp], now: float, own_hazards: OwnHazards
    ) -> Iterator[HazardCorrections]:
        """Fit the hazards of hosts, many at a time; yield the looks whose hazard has changed.

        ``own_hazards`` returns the hazard of pages' own changes within gaps by publication times.
        """
        days = self._publication_times.host_days(hosts, np.full(len(hosts), now))
        is_new = self._hosts["table"][hosts] == NOT_FOUND
        self._hosts["table"][hosts[is_new]] = self._tables.add(
            self._hosts["event_rate"][hosts[is_new]], days[is_new]
        )
        tables, event_rates = self._hosts["table"][hosts], self._hosts["event_rate"][hosts]
        self._tables.move_windows(tables, event_rates, days)
        looks = np.cumsum(self._hosts["stored"][hosts])
        block_ends = np.searchsorted(looks, np.arange(0, looks[-1:].sum(), LOOKS_AT_ONCE))
        for block in np.split(np.arange(len(hosts)), np.unique(block_ends)):
            if len(block):
                yield self._corrections(*self._fit_block(hosts[block], days[block], own_hazards))

    def _fit_block(
        self, hosts: NDArray[np.intp], now: FloatArray, own_hazards: OwnHazards
    ) -> tuple[IndexArray, IndexArray]:
        """Fit the hazards of some hosts; return the hosts and looks of those with clear events."""
        tables = self._hosts["table"][hosts]
        kept, kept_starts, older, older_starts = self._walk(hosts)
        self._tables.make_room_for_carried(tables[np.diff(older_starts) > 0])
        looks = (
            self._in_bins(kept, np.repeat(hosts, np.diff(kept_starts)), own_hazards),
            self._in_bins(older, np.repeat(hosts, np.diff(older_starts)), own_hazards),
        )
        rates = (self._hosts["event_rate"][hosts], self._hosts["event_days"][hosts])
        steps = (FIT_STEPS, FIRST_FIT_STEPS)
        options = event_fits.FitOptions(now, *steps, INITIAL_EVENT_RATE, INITIAL_EVENT_DAYS)
        spans = (kept_starts, older_starts)
        columns = self._tables.columns()
        gains = event_fits.fit_hosts(tables, spans, looks, rates, columns, options)
        self._hosts["event_rate"][hosts], self._hosts["event_days"][hosts] = rates
        self._hosts["new_looks"][hosts] = 0
        self._hosts["has_new_change"][hosts] = False
        if len(older):
            self._drop(hosts, kept[kept_starts[1:] - 1], older, np.diff(kept_starts))
        is_clear = np.repeat(gains >= MIN_CLEAR_GAIN, np.diff(kept_starts))
        looked_hosts = np.repeat(hosts.astype(np.int32), np.diff(kept_starts))
        return looked_hosts[is_clear], kept[is_clear]

    def restart(self, host: int, now: float) -> None:
        """Forget the hazards of a host whose publication times have moved; it is fitted anew."""
        tables = self._hosts["table"][host : host + 1]
        if tables[0] != NOT_FOUND:
            hosts, rates = np.array([host], np.int32), self._hosts["event_rate"][host : host + 1]
            days = self._publication_times.host_days(hosts, np.array([now]))
            self._tables.begin(tables, rates, days)
            self._hosts["new_looks"][host] += 1

    def compact(self) -> None:
        """Free the memory of looks that are no longer stored, if there are many."""
        if DROPPED_SHARE * self._dropped_looks > len(self._looks):
            self._keep_looks(self._looks["row"] != NOT_FOUND)

    def recent_looks(self, host: int, since_day: float) -> LookBatch:
        """Return the stored looks at pages of a host from a day on, newest first."""
        kept, *_ = self._walk(np.array([host]))
        kept = kept[self._looks["end"][kept] >= since_day]
        rows, changed = self._looks["row"][kept], self._looks["changed"][kept]
        times = self._looks["end"][kept].astype(np.float64) * DAY_SECONDS
        gaps = self._looks["gap"][kept].astype(np.float64)
        return LookBatch(rows, times, gaps, np.ones(len(kept), np.bool_), changed)

    def has_looks_since(self, host: int, day: float) -> bool:
        """Return whether all looks at pages of a host from a day on are still stored."""
        kept, *_ = self._walk(np.array([host]))
        is_full = len(kept) >= self._look_limits(np.array([host]))[0]
        return not is_full or bool(self._looks["end"][kept].min() <= day)

    def state(self) -> dict[str, Any]:
        """Return looks, hosts and hazards as plain arrays."""
        parts = {"looks": self._looks, "hosts": self._hosts}
        columns = {
            f"event_{part}_{name}": column
            for part, table in parts.items()
            for name, column in table.state().items()
        }
        counts = {
            "event_dropped": self._dropped_looks,
            "event_least_pages": self._least_pages,
            "event_counted_pages": self._counted_pages,
        }
        return columns | self._tables.state() | counts

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        self._looks.restore({name: state[f"event_looks_{name}"] for name in LOOK_COLUMNS})
        self._hosts.restore({name: state[f"event_hosts_{name}"] for name in HOST_COLUMNS})
        self._tables.restore(state)
        self._dropped_looks = int(state["event_dropped"])
        self._least_pages = int(state["event_least_pages"])
        self._counted_pages = int(state["event_counted_pages"])

    def _limit_memory(self, states: PageStates) -> None:
        """Set the least number of pages of hosts with shared events so that memory is bounded."""
        self._counted_pages = len(states)
        budget = max(MIN_EVENT_BYTES, EVENT_BYTES_PER_PAGE * len(states))
        pages = self._hosts["pages"]
        hosts = np.flatnonzero(pages >= MIN_HOST_PAGES)
        hosts = hosts[np.argsort(-pages[hosts], kind="stable")]
        look_bytes = LOOK_BYTES * (1 + 1 / DROPPED_SHARE + 1 / SPARE_DIVISOR)
        needed = np.cumsum(TABLE_BYTES + look_bytes * self._look_limits(hosts))
        count = int(np.searchsorted(needed, budget, side="right"))
        self._least_pages = int(pages[hosts[count]]) + 1 if count < len(hosts) else MIN_HOST_PAGES
        is_small = pages < self._least_pages
        if np.any(self._hosts["table"][is_small] != NOT_FOUND):
            self._remove_tables(states, is_small)

    def _remove_tables(self, states: PageStates, is_removed: BoolArray) -> None:
        """Remove the looks and tables of hosts."""
        rows = self._looks["row"]
        self._keep_looks((rows != NOT_FOUND) & ~is_removed[states.host[rows]])
        tables = self._hosts["table"]
        tables[is_removed] = NOT_FOUND
        self._hosts["new_looks"][is_removed] = 0
        self._hosts["has_new_change"][is_removed] = False
        tables[:] = self._tables.keep_used(tables)

    def _look_limits(self, hosts: NDArray[Any]) -> IndexArray:
        """Return how many looks of each host are stored at most."""
        pages = LOOKS_PER_PAGE * self._hosts["pages"][hosts]
        is_active = self._hosts["short_changes"][hosts] >= MIN_ACTIVE_CHANGES
        fewest = np.where(is_active, MIN_ACTIVE_LOOKS, MIN_STORED_LOOKS)
        limits: IndexArray = np.clip(pages, fewest, MAX_STORED_LOOKS).astype(np.int32)
        return limits

    def _walk(
        self, hosts: NDArray[np.intp]
    ) -> tuple[IndexArray, NDArray[np.int64], IndexArray, NDArray[np.int64]]:
        """Return the newest looks of hosts within their limits, and the older ones, with starts."""
        lists = (self._hosts["newest"], self._hosts["stored"])
        return event_fits.walk_hosts(
            hosts, self._look_limits(hosts), lists, self._looks["previous"]
        )

    def _in_bins(
        self, looks: IndexArray, hosts: NDArray[np.intp], own_hazards: OwnHazards
    ) -> tuple[FloatArray, FloatArray, BoolArray, FloatArray]:
        """Return looks with their times in bins from the start of the window.

        The hazards of own changes are those of looks that found a change.
        """
        ends, changed = self._looks["end"][looks].astype(np.float64), self._looks["changed"][looks]
        begins = self._publication_times.host_days(hosts, ends - self._looks["gap"][looks])
        ends = self._publication_times.host_days(hosts, ends)
        hazards, gaps = np.zeros(len(looks)), ends[changed] - begins[changed]
        hazards[changed] = own_hazards(self._looks["row"][looks[changed]], gaps)
        first_bins = self._tables["first_bin"][self._hosts["table"][hosts]]
        begins, ends = begins * BINS_PER_DAY - first_bins, ends * BINS_PER_DAY - first_bins
        return begins, ends, changed, hazards

    def _drop(
        self,
        hosts: NDArray[np.intp],
        last_kept: IndexArray,
        older: IndexArray,
        kept_counts: NDArray[np.int64],
    ) -> None:
        """Stop storing the older looks of hosts."""
        self._looks["previous"][last_kept] = NOT_FOUND
        self._looks["row"][older] = NOT_FOUND
        self._hosts["stored"][hosts] = kept_counts
        self._dropped_looks += len(older)

    def _corrections(self, hosts: IndexArray, looks: IndexArray) -> HazardCorrections:
        """Return the looks with a change whose hazard has moved, and store the new hazard."""
        ends = self._looks["end"][looks].astype(np.float64)
        gaps, changed = self._looks["gap"][looks], self._looks["changed"][looks]
        new = self.hazards(hosts, ends - gaps, ends)
        old = self._looks["hazard"][looks].astype(np.float64)
        moved = changed & (np.abs(new - old) > HAZARD_TOLERANCE * (1.0 + old))
        self._looks["hazard"][looks[moved]] = new[moved]
        # Later looks at the same page are looks at the same host.
        has_moved = np.zeros(len(self._hosts), np.bool_)
        has_moved[hosts[moved]] = True
        related = np.flatnonzero(has_moved[hosts])
        rows, moved, ends = self._looks["row"][looks[related]], moved[related], ends[related]
        begins = ends - gaps[related]
        elapsed = self._publication_times.elapsed_days(hosts[related], begins, ends)
        times = (ends * TIME_STEPS_PER_DAY).astype(np.int64)
        order = np.argsort((rows.astype(np.int64) << 32) + times)
        faded_days = kernels.later_gaps(rows, order, elapsed)
        related = related[moved]
        return HazardCorrections(
            rows[moved], elapsed[moved], faded_days[moved], old[related], new[related]
        )

    def _keep_looks(self, mask: BoolArray) -> None:
        """Remove the looks outside the mask, with all dropped ones, and link the others again."""
        kernels.unlink_looks(
            mask, self._looks["previous"], (self._hosts["newest"], self._hosts["stored"])
        )
        self._looks.keep_rows(mask)
        self._dropped_looks = 0
