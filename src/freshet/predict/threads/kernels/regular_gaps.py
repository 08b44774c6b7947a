"""Compiled densities of regular gaps: the next gap is near an earlier one.

Gaps are compared in logarithms. An expert knows how close the next gap is to earlier ones (three
widths), and which earlier gaps count: all, those that began at the same time of the day, or those
that began at the same time of the week. Beside a gap, its double and triple are possible: a post
may be left out.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from freshet.core.types import FloatArray, IndexArray

# How many earlier gaps an expert knows, and on how many gaps the experts are compared.
WINDOW_GAPS = 30
WIDTHS = (0.006, 0.025, 0.1)
MIN_WIDTH_MINUTES = 1.5
# Periods of the starts of gaps and how near they must be, in minutes; no period counts all gaps.
PERIODS = ((0.0, 1.0), (1440.0, 60.0), (10_080.0, 120.0))
OTHER_WEIGHT = 0.02
RECENCY = 0.97
MULTIPLE_SHARES = (0.96, 0.03, 0.01)
# The chance that no post follows a regular one: the feed has stopped or has lost its pace.
STOPPED_SHARE = 0.01
EXPERTS = len(WIDTHS) * len(PERIODS)
# Each regular expert gives a part of its chance to a log-normal gap, so that outliers are possible.
OUTLIER_SHARE = 0.03
PRIOR_DEVIATION, PRIOR_GAPS = 1.5, 2.0
MAX_ATOMS = 48
MIN_ATOM_WEIGHT = 5e-4
ATOM_REACH = 5.0
ATOM_STEPS = 12.0


class RegularGaps(NamedTuple):
    """The regular gap after each post; ``rows`` has the row of a post, or -1 if it has none.

    ``shares`` are the chances that the gap is regular, judged at the post. ``atoms`` are the
    logarithm of a gap, its width and its weight. ``smooth`` has the mean and the deviation of the
    logarithms of the gaps, ``offsets`` the minutes from the start of the gap to the post.
    """

    rows: IndexArray
    shares: FloatArray
    atoms: FloatArray
    smooth: FloatArray
    offsets: FloatArray


@njit(cache=True, nogil=True)
def condition_weights(starts: FloatArray, gap: int, earlier: int) -> tuple[float, float, float]:
    """Return how much an earlier gap counts for a gap, for each of ``PERIODS``."""
    recency = RECENCY ** (gap - earlier - 1)
    distance = abs(starts[gap] - starts[earlier])
    daily = distance % PERIODS[1][0]
    daily = min(daily, PERIODS[1][0] - daily) / PERIODS[1][1]
    weekly = distance % PERIODS[2][0]
    weekly = min(weekly, PERIODS[2][0] - weekly) / PERIODS[2][1]
    return (
        recency,
        recency * (OTHER_WEIGHT + math.exp(-0.5 * daily * daily)),
        recency * (OTHER_WEIGHT + math.exp(-0.5 * weekly * weekly)),
    )


@njit(cache=True, nogil=True)
def smooth_gaps(log_gaps: FloatArray, gap: int) -> tuple[float, float]:
    """Return mean and deviation of the logarithms of the gaps before a gap."""
    first = max(0, gap - WINDOW_GAPS)
    mean = log_gaps[first:gap].mean()
    squares = ((log_gaps[first:gap] - mean) ** 2).sum()
    count = gap - first
    variance = (squares + PRIOR_GAPS * PRIOR_DEVIATION**2) / (count + PRIOR_GAPS)
    return mean, math.sqrt(variance * (1.0 + 1.0 / count))


@njit(cache=True, nogil=True)
def width_of(width: float, gap_minutes: float) -> float:
    """Return the width of an expert at a gap: not less than some minutes."""
    return max(width, MIN_WIDTH_MINUTES / gap_minutes)


@njit(cache=True, nogil=True)
def gap_log_densities(starts: FloatArray, log_gaps: FloatArray, gap: int) -> FloatArray:
    """Return the log densities of a gap by each expert, from the gaps before it.

    The first one is that of a log-normal gap.
    """
    densities, totals = np.zeros(1 + EXPERTS), np.zeros(len(PERIODS))
    mean, deviation = smooth_gaps(log_gaps, gap)
    distance = (log_gaps[gap] - mean) / deviation
    smooth = math.exp(-0.5 * distance * distance) / (deviation * math.sqrt(2.0 * math.pi)) + 1e-12
    for earlier in range(max(0, gap - WINDOW_GAPS), gap):
        weights = condition_weights(starts, gap, earlier)
        for period in range(len(PERIODS)):
            totals[period] += weights[period]
        for index in range(len(WIDTHS)):
            width = width_of(WIDTHS[index], math.exp(log_gaps[earlier]))
            density = 0.0
            for multiple in range(len(MULTIPLE_SHARES)):
                centre = log_gaps[earlier] + math.log(multiple + 1.0)
                tail = math.exp(-min(abs(log_gaps[gap] - centre) / width, 50.0))
                density += MULTIPLE_SHARES[multiple] * tail / (width * (1.0 + tail) ** 2)
            for period in range(len(PERIODS)):
                densities[1 + period * len(WIDTHS) + index] += weights[period] * density
    for expert in range(EXPERTS):
        density = densities[1 + expert] / totals[expert // len(WIDTHS)]
        densities[1 + expert] = math.log((1 - OUTLIER_SHARE) * density + OUTLIER_SHARE * smooth)
    densities[0] = math.log(smooth)
    return densities


@njit(cache=True, nogil=True)
def next_gap_atoms(
    starts: FloatArray, log_gaps: FloatArray, gap: int, weights: FloatArray
) -> FloatArray:
    """Return the atoms of the next gap by experts with weights; near ones of one width are merged.

    ``gap`` is the number of the gap that is to come, which begins at ``starts[gap]``.
    """
    atoms, count = np.zeros((MAX_ATOMS, 3)), 0
    first = max(0, gap - WINDOW_GAPS)
    conditions = np.empty((gap - first, len(PERIODS)))
    for earlier in range(first, gap):
        weights_of_gap = condition_weights(starts, gap, earlier)
        for period in range(len(PERIODS)):
            conditions[earlier - first, period] = weights_of_gap[period]
    for period in range(len(PERIODS)):
        conditions[:, period] /= conditions[:, period].sum()
    for index in range(len(WIDTHS)):
        for earlier in range(first, gap):
            weight = 0.0
            for period in range(len(PERIODS)):
                weight += (
                    weights[period * len(WIDTHS) + index] * conditions[earlier - first, period]
                )
            width = width_of(WIDTHS[index], math.exp(log_gaps[earlier]))
            for multiple in range(len(MULTIPLE_SHARES)):
                centre = log_gaps[earlier] + math.log(multiple + 1.0)
                count = add_atom(atoms, count, centre, width, weight * MULTIPLE_SHARES[multiple])
    atoms[:, 2] /= max(atoms[:, 2].sum(), 1e-300)
    return atoms


@njit(cache=True, nogil=True)
def add_atom(atoms: FloatArray, count: int, centre: float, width: float, weight: float) -> int:
    """Add an atom or merge it with a near one; return the number of atoms."""
    if weight < MIN_ATOM_WEIGHT:
        return count
    for index in range(count):
        is_alike = 0.8 < atoms[index, 1] / width < 1.25
        if is_alike and abs(atoms[index, 0] - centre) < 0.5 * width:
            share = weight / (weight + atoms[index, 2])
            atoms[index, 0] += share * (centre - atoms[index, 0])
            atoms[index, 2] += weight
            return count
    if count == MAX_ATOMS:
        return count
    atoms[count, 0], atoms[count, 1], atoms[count, 2] = centre, width, weight
    return count + 1


@njit(cache=True, nogil=True)
def chance_until(atoms: FloatArray, minutes: float) -> float:
    """Return the chance that a regular gap is at most some minutes."""
    if minutes <= 0.0:
        return 0.0
    logarithm, chance = math.log(minutes), 0.0
    for index in range(MAX_ATOMS):
        if atoms[index, 2] == 0.0:
            break
        distance = (logarithm - atoms[index, 0]) / atoms[index, 1]
        chance += atoms[index, 2] / (1.0 + math.exp(-max(-50.0, min(distance, 50.0))))
    return chance


@njit(cache=True, nogil=True)
def regular_share(gaps: RegularGaps, row: int, minutes: float) -> float:
    """Return the chance that a gap is regular which has lasted some minutes."""
    waited = max(minutes, 1e-3)
    going_on = 1.0 - STOPPED_SHARE
    regular = gaps.shares[row] * going_on * (1.0 - chance_until(gaps.atoms[row], waited))
    distance = (math.log(waited) - gaps.smooth[row, 0]) / gaps.smooth[row, 1]
    other = (1.0 - gaps.shares[row]) * 0.5 * math.erfc(distance / math.sqrt(2.0))
    other += gaps.shares[row] * STOPPED_SHARE
    return float(regular / (regular + other + 1e-12))


@njit(cache=True, nogil=True)
def regular_step(atoms: FloatArray, minutes: float, step: float) -> float:
    """Return a step that is short near the atoms; at least a part of a minute."""
    logarithm = math.log(max(minutes, 0.1))
    for index in range(MAX_ATOMS):
        if atoms[index, 2] == 0.0:
            break
        width = atoms[index, 1]
        distance = (atoms[index, 0] - logarithm) / width
        if distance > ATOM_REACH:
            start = math.exp(atoms[index, 0] - ATOM_REACH * width)
            step = min(step, start - minutes + 0.01)
        elif distance > -ATOM_REACH:
            reach = 2.0 * ATOM_REACH * width * math.exp(atoms[index, 0])
            step = min(step, reach / ATOM_STEPS)
    return max(step, 0.25)
