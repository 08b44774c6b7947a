"""Compiled loops of publication times: how the hazard of a host varies over the hours of the week.

Times are in days since the epoch; a week starts on Thursday, as the epoch does. A profile has the
cumulative hazard at the hours of the week, where a whole week counts as seven days.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import Float32Array, FloatArray, IndexArray

DAY_HOURS, WEEK_DAYS = 24, 7
WEEK_HOURS = DAY_HOURS * WEEK_DAYS
# A row of sums has the hours of the day, then the weekdays, then all times together.
FACTOR_COUNT = DAY_HOURS + WEEK_DAYS + 1
ALL_TIMES = FACTOR_COUNT - 1
# The prior of each hour and weekday weighs as much as this many changes.
PRIOR_HOUR_CHANGES, PRIOR_DAY_CHANGES = 0.05, 1.0
MIN_PASSED_DAYS, SERIES_HAZARD, OUTLIER_CHANCE = 1e-6, 1e-3, 1e-3

ProfileLooks = tuple[FloatArray, FloatArray, NDArray[np.bool_], FloatArray, float]


@njit(cache=True)
def profile_reading(profile: Float32Array, time: float) -> float:
    """Return the days that have passed by a profile at a time."""
    week = math.floor(time / WEEK_DAYS)
    position = (time - week * WEEK_DAYS) * DAY_HOURS
    hour = min(int(position), WEEK_HOURS - 1)
    share = (position - hour) * (profile[hour + 1] - profile[hour])
    return float(week * WEEK_DAYS + profile[hour] + share)


@njit(cache=True, nogil=True)
def elapsed_days(
    begins: FloatArray,
    ends: FloatArray,
    hosts: IndexArray,
    profiles: tuple[IndexArray, Float32Array],
) -> FloatArray:
    """Return the days between two times by each host's profile.

    ``profiles`` has the profile's row of every host, negative if it has none, and the profiles. A
    begin that is not known gives NaN.
    """
    profile_rows, table = profiles
    elapsed = np.empty(len(hosts))
    for index in range(len(hosts)):
        row = profile_rows[hosts[index]]
        if row < 0 or not begins[index] <= ends[index]:
            elapsed[index] = ends[index] - begins[index]
        else:
            end = profile_reading(table[row], ends[index])
            elapsed[index] = max(0.0, end - profile_reading(table[row], begins[index]))
    return elapsed


@njit(cache=True, nogil=True)
def host_days(
    times: FloatArray, hosts: IndexArray, profiles: tuple[IndexArray, Float32Array]
) -> FloatArray:
    """Return the days that have passed at each host by its profile, the time itself without one."""
    profile_rows, table = profiles
    days = times.astype(np.float64)
    for index in range(len(hosts)):
        row = profile_rows[hosts[index]]
        if row >= 0:
            days[index] = profile_reading(table[row], times[index])
    return days


@njit(cache=True, nogil=True)
def paces_of_hosts(hosts: IndexArray, profile_rows: IndexArray, paces: Float32Array) -> FloatArray:
    """Return the pace of each host's profile, 1 for hosts without one."""
    host_paces = np.ones(len(hosts))
    for index in range(len(hosts)):
        if profile_rows[hosts[index]] >= 0:
            host_paces[index] = paces[profile_rows[hosts[index]]]
    return host_paces


@njit(cache=True, nogil=True)
def fit_profile(looks: ProfileLooks, factors: Float32Array, sums: Float32Array, steps: int) -> None:
    """Fit the factors of hours, of weekdays and of all times to looks by expectation maximisation.

    A look has its begin, its end, whether it found a change, and the rate of its page; the last
    part of the looks is their weight for weekdays. ``sums`` are the changes and the exposure of
    earlier looks. The factors of weekdays have a mean of 1; those of hours include how much faster
    than by their rates the pages change.
    """
    for _ in range(steps):
        totals = sums.astype(np.float64)
        add_looks(looks, factors, totals)
        factors[ALL_TIMES] = (1.0 + totals[0, ALL_TIMES]) / (1.0 + totals[1, ALL_TIMES])
        for index in range(ALL_TIMES):
            mean = factors[ALL_TIMES] if index < DAY_HOURS else 1.0
            prior_changes = PRIOR_HOUR_CHANGES if index < DAY_HOURS else PRIOR_DAY_CHANGES
            changes, exposure = totals[0, index], totals[1, index]
            factors[index] = (prior_changes * mean + changes) / (prior_changes + exposure)
        factors[DAY_HOURS:ALL_TIMES] /= factors[DAY_HOURS:ALL_TIMES].mean()


@njit(cache=True, nogil=True)
def add_looks(looks: ProfileLooks, factors: Float32Array, sums: FloatArray) -> None:
    """Add the expected changes and the exposure of looks to sums."""
    for look in range(len(looks[0])):
        add_look(looks, look, factors, sums)


@njit(cache=True, nogil=True)
def log_likelihood(looks: ProfileLooks, factors: tuple[Float32Array, Float32Array]) -> float:
    """Return the log-likelihood of looks under the factors of hours and weekdays."""
    begins, ends, changed, rates, _ = looks
    total = 0.0
    for look in range(len(begins)):
        hazard = rates[look] * max(
            MIN_PASSED_DAYS, passed_days((begins[look], ends[look]), factors)
        )
        total += math.log(max(OUTLIER_CHANCE, -math.expm1(-hazard))) if changed[look] else -hazard
    return total


@njit(cache=True, nogil=True)
def profile_gains(looks: ProfileLooks, factors: Float32Array) -> FloatArray:
    """Return by how much hours make looks likelier than even times, and weekdays in addition."""
    even_hours = np.full(DAY_HOURS, factors[ALL_TIMES])
    even_days = np.ones(WEEK_DAYS, np.float32)
    hours, days = factors[:DAY_HOURS], factors[DAY_HOURS:ALL_TIMES]
    even = log_likelihood(looks, (even_hours, even_days))
    by_hour = log_likelihood(looks, (hours, even_days))
    by_day = log_likelihood(looks, (hours, days))
    return np.array([by_hour - even, looks[4] * (by_day - by_hour)])


@njit(cache=True)
def passed_days(interval: tuple[float, float], factors: tuple[Float32Array, Float32Array]) -> float:
    """Return the days of an interval by the factors of its hours and weekdays."""
    (begin, end), (hour_factors, day_factors) = interval, factors
    passed = 0.0
    for number in range(math.floor(begin * DAY_HOURS), math.ceil(end * DAY_HOURS)):
        hour, day = number % DAY_HOURS, number // DAY_HOURS % WEEK_DAYS
        passed += overlap_days(number, begin, end) * hour_factors[hour] * day_factors[day]
    return passed


@njit(cache=True)
def add_look(looks: ProfileLooks, look: int, factors: Float32Array, sums: FloatArray) -> None:
    """Add the expected changes and the exposure of a look to the times that it covers."""
    begins, ends, changed, rates, day_weight = looks
    hour_factors, day_factors = factors[:DAY_HOURS], factors[DAY_HOURS:ALL_TIMES]
    begin, end, rate = begins[look], ends[look], rates[look]
    first, stop = math.floor(begin * DAY_HOURS), math.ceil(end * DAY_HOURS)
    changes_per_day, exposed, exposed_evenly = 0.0, 1.0, 1.0
    if changed[look]:
        passed = max(MIN_PASSED_DAYS, passed_days((begin, end), (hour_factors, day_factors)))
        changes_per_day, exposed = 1.0 / passed, exposed_share(rate * passed)
        exposed_evenly = exposed_share(rate * factors[ALL_TIMES] * (end - begin))
        sums[0, ALL_TIMES] += 1.0
    sums[1, ALL_TIMES] += exposed_evenly * rate * (end - begin)
    for number in range(first, stop):
        hour, day = number % DAY_HOURS, number // DAY_HOURS % WEEK_DAYS
        covered = overlap_days(number, begin, end)
        changes = changes_per_day * covered * hour_factors[hour] * day_factors[day]
        sums[0, hour] += changes
        sums[0, DAY_HOURS + day] += day_weight * changes
        sums[1, hour] += exposed * rate * covered * day_factors[day]
        day_exposure = exposed * rate * covered * hour_factors[hour]
        sums[1, DAY_HOURS + day] += day_weight * day_exposure


@njit(cache=True)
def exposed_share(hazard: float) -> float:
    """Return the expected share of the hazard before the first change of a look that found one."""
    if hazard < SERIES_HAZARD:
        return 0.5
    unchanged = math.exp(-hazard)
    return (1.0 - (1.0 + hazard) * unchanged) / ((1.0 - unchanged) * hazard)


@njit(cache=True)
def overlap_days(hour_number: int, begin: float, end: float) -> float:
    """Return the part of an hour since the epoch that an interval covers, in days."""
    first, last = hour_number / DAY_HOURS, (hour_number + 1) / DAY_HOURS
    return max(0.0, min(end, last) - max(begin, first))


@njit(cache=True, nogil=True)
def fill_profile(profile: Float32Array, factors: tuple[Float32Array, Float32Array]) -> None:
    """Compute a profile from the factors of hours and weekdays; a week counts as seven days."""
    hour_factors, day_factors = factors
    total = 0.0
    for index in range(WEEK_HOURS):
        total += hour_factors[index % DAY_HOURS] * day_factors[index // DAY_HOURS]
        profile[index + 1] = total
    for index in range(WEEK_HOURS):
        profile[index + 1] *= WEEK_DAYS / total
