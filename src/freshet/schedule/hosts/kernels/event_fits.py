"""Compiled loops that fit the shared events of many hosts at once."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import Float32Array, FloatArray, IndexArray
from freshet.schedule.hosts.kernels.shared_events import (
    BIN_COUNT,
    BINS_PER_DAY,
    HostLooks,
    carry_looks,
    fit_hazards,
    hazard_reading,
    log_likelihood_gain,
    shift_table,
)

# The share of earlier events and days that remains after a day.
OLDER_RETENTION = 0.995


class EventTables(NamedTuple):
    """The columns of the tables of hazards; ``carried`` is a row of the carried looks, or -1.

    Older events and days are those before the window; they fade.
    """

    first_bin: FloatArray
    observed_since: Float32Array
    older_events: Float32Array
    older_days: Float32Array
    is_fitted: NDArray[np.bool_]
    hazard: Float32Array
    unconfirmed: Float32Array
    carried: IndexArray


class CarriedLooks(NamedTuple):
    """Events and exposure of looks that are no longer stored, a row for each host with such."""

    events: Float32Array
    exposure: Float32Array


class FitOptions(NamedTuple):
    """Time at each host in days, numbers of steps, and how the mean rate of events begins."""

    now: FloatArray
    steps: int
    first_steps: int
    initial_rate: float
    initial_days: float


@njit(cache=True, nogil=True)
def walk_hosts(
    hosts: NDArray[np.intp],
    limits: IndexArray,
    host_columns: tuple[IndexArray, IndexArray],
    previous: IndexArray,
) -> tuple[IndexArray, NDArray[np.int64], IndexArray, NDArray[np.int64]]:
    """Return the newest looks of hosts, at most as many as the limit of each, and the older ones.

    Both are arrays of all hosts, each with the positions at which the looks of a host start.
    """
    newest, stored = host_columns
    kept_starts = np.zeros(len(hosts) + 1, np.int64)
    older_starts = np.zeros(len(hosts) + 1, np.int64)
    for index in range(len(hosts)):
        count = stored[hosts[index]]
        kept_count = min(count, limits[index])
        kept_starts[index + 1] = kept_starts[index] + kept_count
        older_starts[index + 1] = older_starts[index] + count - kept_count
    kept, older = np.empty(kept_starts[-1], np.int32), np.empty(older_starts[-1], np.int32)
    for index in range(len(hosts)):
        look = newest[hosts[index]]
        for position in range(kept_starts[index], kept_starts[index + 1]):
            kept[position] = look
            look = previous[look]
        for position in range(older_starts[index], older_starts[index + 1]):
            older[position] = look
            look = previous[look]
    return kept, kept_starts, older, older_starts


@njit(cache=True, nogil=True)
def move_windows(
    table_rows: IndexArray,
    first_bins: FloatArray,
    event_rates: Float32Array,
    tables: EventTables,
    carried: CarriedLooks,
) -> None:
    """Move the windows of tables forward so that each begins with a bin."""
    nothing = np.zeros(BIN_COUNT, np.float32)
    for index in range(len(table_rows)):
        table = table_rows[index]
        bins = int(first_bins[index] - tables.first_bin[table])
        if bins > 0:
            add_older_bins(tables, table, bins)
            hazards = (tables.hazard[table], tables.unconfirmed[table])
            sums = (nothing, nothing)
            if tables.carried[table] >= 0:
                row = tables.carried[table]
                sums = (carried.events[row], carried.exposure[row])
            shift_table(hazards, sums, bins, event_rates[index] / BINS_PER_DAY)
            tables.first_bin[table] = first_bins[index]


@njit(cache=True)
def add_older_bins(tables: EventTables, table: int, bins: int) -> None:
    """Add the events of bins that leave the window, and the days that looks covered, to older ones.

    The part of a hazard that no look confirms is no event, and its time was not covered.
    """
    hazard, unconfirmed = tables.hazard[table], tables.unconfirmed[table]
    events, days = 0.0, 0.0
    for index in range(min(bins, BIN_COUNT)):
        bin_hazard = hazard[index + 1] - hazard[index]
        covered = bin_hazard - (unconfirmed[index + 1] - unconfirmed[index])
        if bin_hazard > 0.0 and covered > 0.0:
            events += covered
            days += covered / bin_hazard / BINS_PER_DAY
    retention = OLDER_RETENTION ** (bins / BINS_PER_DAY)
    tables.older_events[table] = retention * tables.older_events[table] + events
    tables.older_days[table] = retention * tables.older_days[table] + days


@njit(cache=True, nogil=True)
def fit_hosts(
    table_rows: IndexArray,
    spans: tuple[NDArray[np.int64], NDArray[np.int64]],
    looks: tuple[HostLooks, HostLooks],
    rates: tuple[Float32Array, Float32Array],
    columns: tuple[EventTables, CarriedLooks],
    options: FitOptions,
) -> FloatArray:
    """Fit the hazards of hosts to their looks, and update their mean rates of events.

    ``rates`` are the mean rates and the days that they are taken over, which are updated too.
    ``spans`` and ``looks`` are those of the looks that stay and of older ones, which are carried
    from now on. A host without changes needs only one step. The result is by how much the hazards
    raise the log-likelihood of each host's looks.
    """
    (kept_starts, older_starts), (kept, older) = spans, looks
    (tables, carried), (event_rates, event_days) = columns, rates
    nothing, gains = np.zeros(BIN_COUNT, np.float32), np.zeros(len(table_rows))
    for index in range(len(table_rows)):
        table, event_rate = table_rows[index], float(event_rates[index])
        host_looks = slice_looks(kept, kept_starts[index], kept_starts[index + 1])
        older_looks = slice_looks(older, older_starts[index], older_starts[index + 1])
        sums, hazard = (nothing, nothing), tables.hazard[table]
        if tables.carried[table] >= 0:
            row = tables.carried[table]
            sums = (carried.events[row], carried.exposure[row])
            if len(older_looks[0]):
                carry_looks(older_looks, sums, hazard, event_rate)
        begin = earliest(host_looks[0], earliest(older_looks[0], float(BIN_COUNT)))
        first_day = (begin + tables.first_bin[table]) / BINS_PER_DAY
        tables.observed_since[table] = min(tables.observed_since[table], first_day)
        steps = options.steps if tables.is_fitted[table] else options.first_steps
        steps = steps if host_looks[2].any() else 1
        fit_hazards(host_looks, sums, (hazard, tables.unconfirmed[table]), event_rate, steps)
        tables.is_fitted[table] = True
        gains[index] = log_likelihood_gain(host_looks, hazard, event_rate / BINS_PER_DAY)
        event_rates[index], event_days[index] = mean_event_rate(
            tables, table, (event_rate, options.now[index]), options
        )
    return gains


@njit(cache=True)
def slice_looks(looks: HostLooks, start: int, stop: int) -> HostLooks:
    """Return a part of the looks."""
    begins, ends, changed, rates = looks
    return begins[start:stop], ends[start:stop], changed[start:stop], rates[start:stop]


@njit(cache=True)
def earliest(begins: FloatArray, initial: float) -> float:
    """Return the earliest of some times and an initial one."""
    for begin in begins:
        initial = min(initial, begin)
    return initial


@njit(cache=True)
def mean_event_rate(
    tables: EventTables, table: int, rate_now: tuple[float, float], options: FitOptions
) -> tuple[float, float]:
    """Return the mean hazard per day, from the hazards that were observed, and the days."""
    (event_rate, now), first_bin = rate_now, tables.first_bin[table]
    window_start = first_bin / BINS_PER_DAY
    days = now - max(window_start, min(float(tables.observed_since[table]), now))
    end, begin = now * BINS_PER_DAY - first_bin, (now - days) * BINS_PER_DAY - first_bin
    observed = 0.0
    if end > begin:
        per_bin, hazard = event_rate / BINS_PER_DAY, tables.hazard[table]
        reading = hazard_reading(hazard, end, per_bin) - hazard_reading(hazard, begin, per_bin)
        observed = max(0.0, reading)
    total = options.initial_days * options.initial_rate + observed + tables.older_events[table]
    days += options.initial_days + tables.older_days[table]
    return total / days, days
