"""Compiled loops of shared events: hazards of hosts in bins of half a day, fitted to looks.

Days are by the publication times of hosts.

A hazard table has a row per host: the cumulative hazard at the boundaries of the bins of a window.
Outside the window the hazard is the host's mean event rate. Times are in days.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import Float32Array, FloatArray, IndexArray
from freshet.schedule.kernels.interval_sums import add_interval, bin_totals

BINS_PER_DAY = 2
WINDOW_DAYS = 45
BIN_COUNT = BINS_PER_DAY * WINDOW_DAYS
# The prior of a bin's hazard weighs as much as looks at this many pages.
PRIOR_PAGES = 0.3

HostLooks = tuple[FloatArray, FloatArray, NDArray[np.bool_], FloatArray]


@njit(cache=True)
def hazard_reading(cumulative: Float32Array, position: float, hazard_per_bin: float) -> float:
    """Return the cumulative hazard at a position in bins from the start of the window."""
    if position <= 0.0:
        return position * hazard_per_bin
    if position >= BIN_COUNT:
        return float(cumulative[BIN_COUNT]) + (position - BIN_COUNT) * hazard_per_bin
    index = int(position)
    step = cumulative[index + 1] - cumulative[index]
    return float(cumulative[index] + (position - index) * step)


@njit(cache=True, nogil=True)
def hazards_between(
    begins: FloatArray,
    ends: FloatArray,
    hosts: IndexArray,
    tables: tuple[IndexArray, FloatArray, Float32Array],
    rates: tuple[Float32Array, Float32Array],
) -> FloatArray:
    """Return the hazard of shared events of a host between two times, for every entry.

    ``rates`` are the mean event rates of hosts and the days that they are taken over.

    ``tables`` has the table row of every host, negative if it has none, the first bin of every
    table row, and the cumulative hazards. A host without a table has no shared events.
    """
    (table_rows, first_bins, cumulative), (event_rates, event_days) = tables, rates
    hazards = np.zeros(len(hosts))
    for index in range(len(hosts)):
        row = table_rows[hosts[index]]
        if row >= 0 and ends[index] > begins[index]:
            host, table = hosts[index], cumulative[row]
            per_bin, events = event_rates[host] / BINS_PER_DAY, event_rates[host] * event_days[host]
            begin = begins[index] * BINS_PER_DAY - first_bins[row]
            end = ends[index] * BINS_PER_DAY - first_bins[row]
            begin, end = events_ahead(begin, per_bin, events), events_ahead(end, per_bin, events)
            hazard = hazard_reading(table, end, per_bin) - hazard_reading(table, begin, per_bin)
            hazards[index] = max(0.0, hazard)
    return hazards


@njit(cache=True)
def events_ahead(position: float, hazard_per_bin: float, events: float) -> float:
    """Return a position in bins, drawn nearer if it is after the window.

    The rate of a host that had few events is uncertain. If none is seen for long it was low, so
    that the hazard grows with the logarithm of the time; ``events`` are those behind the rate.
    """
    ahead = position - BIN_COUNT
    if ahead <= 0.0 or events <= 0.0:
        return position
    return BIN_COUNT + events / hazard_per_bin * math.log1p(ahead * hazard_per_bin / events)


@njit(cache=True, nogil=True)
def event_rates_of(
    hosts: IndexArray, table_rows: IndexArray, event_rates: Float32Array
) -> FloatArray:
    """Return the mean hazard of shared events of every entry, 0 for hosts without a table."""
    rates = np.zeros(len(hosts))
    for index in range(len(hosts)):
        if table_rows[hosts[index]] >= 0:
            rates[index] = event_rates[hosts[index]]
    return rates


@njit(cache=True)
def look_exposure(looks: HostLooks) -> FloatArray:
    """Return how many looks cover each bin."""
    begins, ends, _, _ = looks
    steps, corrections = np.zeros(BIN_COUNT + 1), np.zeros(BIN_COUNT)
    for look in range(len(begins)):
        add_interval(steps, corrections, (begins[look], ends[look]), 1.0)
    return bin_totals(steps, corrections)


@njit(cache=True)
def event_weights(looks: HostLooks, cumulative: Float32Array, hazard_per_bin: float) -> FloatArray:
    """Return the expected shared events of each bin, divided by its hazard.

    A look that found a change saw one event or more, of the page itself or shared; the expected
    number of each kind is in proportion to its hazard.
    """
    begins, ends, changed, own_hazards = looks
    steps, corrections = np.zeros(BIN_COUNT + 1), np.zeros(BIN_COUNT)
    for look in range(len(begins)):
        if changed[look] and ends[look] > begins[look]:
            shared = hazard_reading(cumulative, ends[look], hazard_per_bin) - hazard_reading(
                cumulative, begins[look], hazard_per_bin
            )
            weight = 1.0 / -math.expm1(-max(1e-9, own_hazards[look] + shared))
            add_interval(steps, corrections, (begins[look], ends[look]), weight)
    return bin_totals(steps, corrections)


@njit(cache=True, nogil=True)
def fit_hazards(
    looks: HostLooks,
    carried: tuple[Float32Array, Float32Array],
    tables: tuple[Float32Array, Float32Array],
    event_rate: float,
    steps: int,
) -> None:
    """Fit the hazards of one host to its looks by expectation maximisation.

    The looks are in bins from the start of the window. ``carried`` are the events and exposure of
    earlier looks. ``tables`` are the cumulative hazard, and the part of it that few looks confirm
    or rule out; both are updated.
    """
    (cumulative, unconfirmed), (carried_events, carried_exposure) = tables, carried
    hazard_per_bin = event_rate / BINS_PER_DAY
    exposure = look_exposure(looks)
    for _ in range(steps):
        weights = event_weights(looks, cumulative, hazard_per_bin)
        hazard_before = cumulative[0]
        for index in range(BIN_COUNT):
            old_hazard = cumulative[index + 1] - hazard_before
            hazard_before = cumulative[index + 1]
            events = carried_events[index] + old_hazard * weights[index]
            pages = PRIOR_PAGES + carried_exposure[index] + exposure[index]
            hazard = (PRIOR_PAGES * hazard_per_bin + events) / pages
            cumulative[index + 1] = cumulative[index] + hazard
            unconfirmed[index + 1] = unconfirmed[index] + hazard * PRIOR_PAGES / pages


@njit(cache=True)
def log_likelihood_gain(looks: HostLooks, cumulative: Float32Array, hazard_per_bin: float) -> float:
    """Return by how much shared events make the looks likelier than the pages' own changes do."""
    begins, ends, changed, own_hazards = looks
    gain = 0.0
    for look in range(len(begins)):
        shared = hazard_reading(cumulative, ends[look], hazard_per_bin) - hazard_reading(
            cumulative, begins[look], hazard_per_bin
        )
        if changed[look]:
            own = max(1e-9, own_hazards[look])
            gain += math.log(math.expm1(-own - shared) / math.expm1(-own))
        else:
            gain -= shared
    return gain


@njit(cache=True, nogil=True)
def carry_looks(
    looks: HostLooks,
    carried: tuple[Float32Array, Float32Array],
    cumulative: Float32Array,
    event_rate: float,
) -> None:
    """Add the events and exposure of looks that are no longer stored to the carried ones."""
    carried_events, carried_exposure = carried
    exposure = look_exposure(looks)
    weights = event_weights(looks, cumulative, event_rate / BINS_PER_DAY)
    for index in range(BIN_COUNT):
        carried_exposure[index] += exposure[index]
        carried_events[index] += weights[index] * (cumulative[index + 1] - cumulative[index])


@njit(cache=True, nogil=True)
def shift_table(
    tables: tuple[Float32Array, Float32Array],
    carried: tuple[Float32Array, Float32Array],
    bins: int,
    hazard_per_bin: float,
) -> None:
    """Move a host's window forward by some bins; new bins have the mean hazard, unconfirmed."""
    bins = min(bins, BIN_COUNT)
    kept = BIN_COUNT - bins
    for table in tables:
        base = table[bins]
        for index in range(kept + 1):
            table[index] = table[index + bins] - base
        for index in range(kept, BIN_COUNT):
            table[index + 1] = table[index] + hazard_per_bin
    for column in carried:
        for index in range(kept):
            column[index] = column[index + bins]
        column[kept:] = 0.0


@njit(cache=True, nogil=True)
def later_gaps(rows: IndexArray, order: NDArray[np.intp], gaps: FloatArray) -> FloatArray:
    """Return the gaps of the later looks at the same page, each at most a day, added up.

    ``order`` sorts the looks by row, then by time.
    """
    later = np.zeros(len(rows))
    for position in range(len(order) - 2, -1, -1):
        look, next_look = order[position], order[position + 1]
        if rows[look] == rows[next_look]:
            later[look] = later[next_look] + min(1.0, gaps[next_look])
    return later


@njit(cache=True, nogil=True)
def unlink_looks(
    mask: NDArray[np.bool_], previous: IndexArray, host_columns: tuple[IndexArray, IndexArray]
) -> None:
    """Take the looks outside the mask out of the lists, and number the others anew."""
    newest, stored = host_columns
    numbers = np.cumsum(mask) - 1
    for look in range(len(previous)):
        earlier = previous[look]
        while earlier >= 0 and not mask[earlier]:
            earlier = previous[earlier]
        previous[look] = earlier
    for host in range(len(newest)):
        look, count = newest[host], 0
        while look >= 0 and not mask[look]:
            look = previous[look]
        newest[host] = numbers[look] if look >= 0 else -1
        while look >= 0:
            count += 1
            look = previous[look]
        stored[host] = count
    for look in range(len(previous)):
        if previous[look] >= 0:
            previous[look] = numbers[previous[look]]
