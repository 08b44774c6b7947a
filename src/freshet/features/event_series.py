"""What was known of a series of events at each of its steps: rates, ages, gaps and patterns.

A series is a matrix [pages, steps] of 1 (event), 0 (none) and NaN (unknown). Every function returns
a matrix of the same shape whose column ``step`` depends on the columns up to ``step`` only.
"""

import numpy as np

from freshet.core.types import FloatArray

CONTEXT_STEPS = 6


def shifted(series: FloatArray, steps: int) -> FloatArray:
    """Return the values of ``steps`` steps ago; NaN where there are none."""
    result = np.full(series.shape, np.nan)
    if steps < series.shape[1]:
        result[:, steps:] = series[:, : series.shape[1] - steps]
    return result


def window_mean(series: FloatArray, window: int) -> FloatArray:
    """Return the mean of the known values of the latest ``window`` steps; NaN if none is known."""
    sums = np.cumsum(np.nan_to_num(series), axis=1)
    counts = np.cumsum(~np.isnan(series), axis=1)
    for totals in (sums, counts):
        totals[:, window:] = totals[:, window:] - totals[:, :-window].copy()
    means = np.full(series.shape, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def faded_mean(series: FloatArray, half_life: float) -> FloatArray:
    """Return the mean of the known values, each weighing half as much ``half_life`` steps later."""
    fading = 0.5 ** (1 / half_life)
    sums, weights = np.zeros(len(series)), np.zeros(len(series))
    result = np.full(series.shape, np.nan)
    for step in range(series.shape[1]):
        values = series[:, step]
        sums = sums * fading + np.nan_to_num(values)
        weights = weights * fading + ~np.isnan(values)
        np.divide(sums, weights, out=result[:, step], where=weights > 0)
    return result


def last_known(series: FloatArray) -> FloatArray:
    """Return the latest known value; NaN before the first."""
    steps = np.where(np.isnan(series), 0, np.arange(series.shape[1]))
    latest = np.maximum.accumulate(steps, axis=1)
    return np.take_along_axis(series, latest, axis=1)


def steps_since(series: FloatArray, occurrence: int = 1) -> FloatArray:
    """Return the steps since the latest event, or since the second latest, and so on."""
    times = np.full((len(series), occurrence), np.nan)
    result = np.full(series.shape, np.nan)
    for step in range(series.shape[1]):
        is_event = series[:, step] == 1
        times[is_event, 1:] = times[is_event, :-1]
        times[is_event, 0] = step
        result[:, step] = step - times[:, occurrence - 1]
    return result


def gap_moments(series: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of the steps between events; NaN without two events."""
    gaps = _ended_gaps(series)
    counts = np.cumsum(~np.isnan(gaps), axis=1)
    sums = np.cumsum(np.nan_to_num(gaps), axis=1)
    squares = np.cumsum(np.nan_to_num(gaps) ** 2, axis=1)
    nothing = np.full(series.shape, np.nan)
    means = np.divide(sums, counts, out=nothing.copy(), where=counts > 0)
    mean_squares = np.divide(squares, counts, out=nothing, where=counts > 0)
    return means, np.sqrt(np.maximum(mean_squares - means**2, 0.0))


def gap_hazard(series: FloatArray, longest: int = 60) -> FloatArray:
    """Return the share of gaps that ended at the next step, of those that lasted until now.

    It is smoothed towards the page's rate, which counts as two gaps.
    """
    gaps, ages = _ended_gaps(series), steps_since(series)
    rates = window_mean(series, series.shape[1])
    counts = np.zeros((len(series), longest + 2))
    result = np.full(series.shape, np.nan)
    pages = np.arange(len(series))
    for step in range(series.shape[1]):
        ended = np.flatnonzero(~np.isnan(gaps[:, step]))
        counts[ended, np.minimum(gaps[ended, step], longest + 1).astype(int)] += 1
        at_risk = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1]
        next_age = np.minimum(np.nan_to_num(ages[:, step]) + 1, longest + 1).astype(int)
        hits = counts[pages, next_age] + 2 * np.nan_to_num(rates[:, step])
        hazard = hits / (at_risk[pages, next_age] + 2)
        result[:, step] = np.where(np.isnan(ages[:, step]), np.nan, hazard)
    return result


def phase_mean(series: FloatArray, period: int) -> FloatArray:
    """Return the mean of the values a whole number of periods before the next step."""
    sums, counts = np.zeros((len(series), period)), np.zeros((len(series), period))
    result = np.full(series.shape, np.nan)
    for step in range(series.shape[1]):
        values = series[:, step]
        sums[:, step % period] += np.nan_to_num(values)
        counts[:, step % period] += ~np.isnan(values)
        phase = (step + 1) % period
        np.divide(sums[:, phase], counts[:, phase], out=result[:, step], where=counts[:, phase] > 0)
    return result


def repeat_share(series: FloatArray, lag: int, half_life: float) -> FloatArray:
    """Return how often a value was equal to that of ``lag`` steps before, faded."""
    earlier = shifted(series, lag)
    is_unknown = np.isnan(series) | np.isnan(earlier)
    return faded_mean(np.where(is_unknown, np.nan, series == earlier), half_life)


def context_forecast(series: FloatArray, depth: int = CONTEXT_STEPS) -> FloatArray:
    """Return the chance of an event at the next step by context tree weighting.

    Willems, Shtarkov & Tjalkens 1995, with the Krichevsky-Trofimov estimator: predictions from the
    latest 0, 1, … ``depth`` values, each weighted by how well it predicted. An unknown value counts
    as no event in contexts, and nothing is learnt from it.
    """
    pages = np.arange(len(series))
    counts = np.zeros((depth + 1, len(series), 2**depth, 2))
    ratios = np.ones((depth + 1, len(series), 2**depth))
    contexts = np.zeros((depth + 1, len(series)), np.int64)
    chances = np.full((depth + 1, len(series)), 0.5)
    mixed = np.full((depth + 1, len(series)), 0.5)
    result = np.empty(series.shape)
    for step in range(series.shape[1]):
        values = series[:, step]
        is_event, is_known = values == 1, ~np.isnan(values)
        for level in range(depth + 1):
            cell = level, pages, contexts[level]
            counts[(*cell, is_event.astype(int))] += is_known
            if level < depth:
                own = np.where(is_event, chances[level], 1 - chances[level])
                deeper = np.where(is_event, mixed[level + 1], 1 - mixed[level + 1])
                growth = np.where(is_known, own / deeper, 1.0)
                ratios[cell] = np.clip(ratios[cell] * growth, 1e-9, 1e9)
        contexts[1:] = (contexts[1:] * 2 + is_event) % 2 ** np.arange(1, depth + 1)[:, None]
        for level in range(depth, -1, -1):
            cell = level, pages, contexts[level]
            chances[level] = (counts[(*cell, 1)] + 0.5) / (counts[cell].sum(axis=1) + 1)
            weight = ratios[cell]
            deeper = mixed[level + 1] if level < depth else chances[level]
            mixed[level] = (weight * chances[level] + deeper) / (weight + 1)
        result[:, step] = mixed[0]
    return result


def _ended_gaps(series: FloatArray) -> FloatArray:
    """Return the steps between two events at the step of the second; NaN elsewhere."""
    ages = shifted(steps_since(series), 1)
    return np.where(series == 1, ages + 1, np.nan)
