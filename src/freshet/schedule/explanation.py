"""The figures behind one page's value: forecast, prior, shared events and due time."""

from math import ceil, expm1, floor

import numpy as np

from freshet.core.tables import DAY_SECONDS, PolicyExplanation, SharedEventReport
from freshet.core.types import FloatArray
from freshet.schedule.cadence import POISSON_CELLS
from freshet.schedule.columns import NOT_FOUND
from freshet.schedule.forecast_model import ForecastModel
from freshet.schedule.hosts.kernels.publication_times import DAY_HOURS, WEEK_DAYS
from freshet.schedule.hosts.kernels.shared_events import BINS_PER_DAY, WINDOW_DAYS
from freshet.schedule.kernels.posterior import survival_of_cells
from freshet.schedule.page_states import LookBatch

LOW_QUANTILE, MEDIAN, HIGH_QUANTILE = 0.05, 0.5, 0.95
CERTAIN_CHANCE, SOON_DAYS = 0.95, 1.0
BISECTION_STEPS = 50
FIRST_HORIZON_DAYS, LAST_HORIZON_DAYS, HORIZON_COUNT = 1e-4, 3_650.0, 2_000
RECENT_DAYS = 7.0
# A time is an event if its hazard is this many times the host's mean.
MIN_EVENT_RATIO = 3.0
MIN_EVENT_CHANCE = 0.1
# Hours are publication hours if their hazard is this many times the mean.
MIN_HOUR_RATIO = 3.0
# Of several peaks the last one is an event if its hazard is this share of the highest.
HIGH_PEAK_SHARE = 0.5
# Bins beside the highest one belong to the event if their hazard is this share of it.
MIN_PEAK_SHARE = 0.25
# An event is reported if it changed at least this share of the pages that were looked at since.
MIN_CHANGED_SHARE = 0.5
# Stored times of looks are exact to about three minutes: looks at shorter gaps do not tell which of
# them came before an event.
MIN_REPORTED_GAP_DAYS = 10 / 1440


def explain_page_value(
    model: ForecastModel, row: int, now: float, plan: tuple[str, float]
) -> PolicyExplanation:
    """Return the figures of one page; ``plan`` is the policy's name and current multiplier."""
    states, rows = model.page_states, np.array([row])
    scores = model.page_scores(rows, now)
    age = float(states.days_since_look(rows, now)[0])
    is_unseen = np.isinf(age)
    prior_rows = model.prior.rows_for(states, rows)
    prior = prior_rows[0][prior_rows[1][0]]
    ages, hazards, _ = model.exposure(rows, now)
    likelihood = states.column("likelihood")
    posterior = model.posterior.posteriors(likelihood, rows, ages, prior_rows)[0]
    rates = model.cadence.rates
    name, multiplier = plan
    return PolicyExplanation(
        page=int(states.ids[row]),
        policy=name,
        looks=int(states.measured_looks[row]),
        changes=int(states.changes[row]),
        value=float(scores.values[0]),
        multiplier=multiplier,
        age_days=age,
        look_chance=float(states.look_chances(rows)[0]),
        not_before=float(states.not_before[row]),
        chance=None if is_unseen else float(scores.chances[0]),
        event_hazard=None if is_unseen else float(hazards[0]),
        event_rate=float(model.counted_event_rates(rows, now)[0]),
        shared_event=recent_shared_event(model, row, now),
        publication_hours=publication_hours(model, row),
        regular_chance=float(posterior[POISSON_CELLS:].sum()),
        rate=rate_quantile(posterior, rates, MEDIAN),
        rate_low=rate_quantile(posterior, rates, LOW_QUANTILE),
        rate_high=rate_quantile(posterior, rates, HIGH_QUANTILE),
        prior_rate=rate_quantile(prior, rates, MEDIAN),
        host_looks=int(states.measured_looks[states.host == states.host[row]].sum()),
        host_changes=int(states.changes[states.host == states.host[row]].sum()),
        due=due_time(model, row, now, multiplier),
        change_days=expected_change_days(posterior, rates),
        prior_change_days=expected_change_days(prior, rates),
        learned_factor=float(states.value_factor[row]),
    )


def publication_hours(model: ForecastModel, row: int) -> tuple[int, ...]:
    """Return the hours of the day (UTC) at which pages of the host change far more than usual."""
    if model.publication_times is None:
        return ()
    profile = model.publication_times.profile(int(model.page_states.host[row]))
    if profile is None:
        return ()
    by_hour = profile.reshape(WEEK_DAYS, DAY_HOURS).mean(axis=0)
    return tuple(np.flatnonzero(by_hour >= MIN_HOUR_RATIO).tolist())


def rate_quantile(weights: FloatArray, rates: FloatArray, share: float) -> float:
    """Return the rate below which a share of the distribution over the grid lies.

    >>> rate_quantile(np.array([0.2, 0.6, 0.2]), np.array([0.1, 1.0, 10.0]), 0.5)
    1.0
    """
    order = np.argsort(rates)
    below = np.cumsum(weights[order]) - weights[order] / 2
    return float(np.exp(np.interp(share, below, np.log(rates[order]))))


def expected_change_days(weights: FloatArray, rates: FloatArray) -> float:
    """Return the days after a look at which the chance of a change reaches 1 - 1/e (63 %).

    For a page that changes at random with a known rate that is the mean time between two changes.
    It is computed from the same survival function as the forecast's probabilities, so that the two
    always agree.

    >>> from freshet.schedule.cadence import CELL_COUNT
    >>> round(expected_change_days(np.eye(CELL_COUNT)[0], np.full(CELL_COUNT, 0.5)), 6)
    2.0
    """
    # A regular page reaches the chance before its mean gap, but after half of it.
    low, high = -np.log(2 * rates.max()), -np.log(rates.min())
    shares = (weights / weights.sum())[np.newaxis]
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        days = np.full((1, 1), np.exp(middle))
        if survival_of_cells(days, rates, shares)[0, 0] > 1 / np.e:
            low = middle
        else:
            high = middle
    return float(np.exp((low + high) / 2))


def due_time(model: ForecastModel, row: int, now: float, multiplier: float) -> float | None:
    """Return when a page's value reaches the multiplier, None if not within ten years.

    The result is None too for a page that has almost certainly changed and is not due within a day:
    its value hardly grows any more, so the time would be arbitrary.
    """
    horizons = np.geomspace(FIRST_HORIZON_DAYS, LAST_HORIZON_DAYS, HORIZON_COUNT)
    days = np.append(0.0, horizons)
    scores = model.scores_after_days(row, now, days)
    due_days = days[scores.values >= multiplier]
    if not len(due_days) or (due_days[0] > SOON_DAYS and scores.chances[0] >= CERTAIN_CHANCE):
        return None
    return now + DAY_SECONDS * float(due_days[0])


def recent_shared_event(model: ForecastModel, row: int, now: float) -> SharedEventReport | None:
    """Return the last shared event with a high hazard since a page's last look, or in a week.

    None if the hazard was nowhere well above the mean of the page's host, the stored looks do not
    show it clearly, or the page itself was never looked at.
    """
    states, events = model.page_states, model.events
    if events is None or np.isnan(states.last_look[row]):
        return None
    if events.table_rows[states.host[row]] == NOT_FOUND:
        return None
    host, today = states.host[row], now / DAY_SECONDS
    age = float(states.days_since_look(np.array([row]), now, never=0.0)[0])
    days = min(max(age, RECENT_DAYS), WINDOW_DAYS)
    bins = np.arange(floor((today - days) * BINS_PER_DAY), ceil(today * BINS_PER_DAY) + 1.0)
    edges = np.minimum(bins / BINS_PER_DAY, today)
    hosts = np.full(len(edges) - 1, host, np.int32)
    hazards = events.hazards(hosts, edges[:-1], edges[1:])
    mean_hazards = np.diff(edges) * events.event_rates(hosts)
    first, end = peak_range(hazards)
    hazard = float(hazards[first:end].sum())
    is_event = hazard > MIN_EVENT_RATIO * mean_hazards[first:end].sum()
    if not is_event or -expm1(-hazard) < MIN_EVENT_CHANCE:
        return None
    looks = events.recent_looks(int(host), float(edges[first]))
    looks = looks[looks.times / DAY_SECONDS - looks.gap_days < edges[end]]
    since = event_start(looks, float(edges[first]) * DAY_SECONDS)
    if since is None or not events.has_looks_since(int(host), latest_begin(looks)):
        return None
    looks = looks[looks.times > since]
    looked, changed = len(np.unique(looks.rows)), len(np.unique(looks.rows[looks.changed]))
    if changed < MIN_CHANGED_SHARE * looked:
        return None
    begin = max(edges[first], today - age)
    unseen_hazard = float(events.hazards(hosts[:1], np.array([begin]), edges[end : end + 1])[0])
    return SharedEventReport(
        since=since,
        looked=looked,
        changed=changed,
        chance=-expm1(-unseen_hazard),
        is_seen=unseen_hazard < hazard / 2,
    )


def event_start(looks: LookBatch, earliest: float) -> float | None:
    """Return the last time at which no look had shown an event yet, None if the looks do not tell.

    That is the last unchanged look before the first changed one, or the previous look at a page
    that was found changed, but never before ``earliest``.
    """
    if not looks.changed.any() or np.median(looks.gap_days[looks.changed]) < MIN_REPORTED_GAP_DAYS:
        return None
    first_change = looks.times[looks.changed].min()
    begins = looks.times[looks.changed] - looks.gap_days[looks.changed] * DAY_SECONDS
    earliest = max(earliest, min(float(begins.min()), first_change))
    return float(looks.times[looks.times < first_change].max(initial=earliest))


def latest_begin(looks: LookBatch) -> float:
    """Return the latest day at which a page that was found changed had been looked at before."""
    begins = looks.times[looks.changed] / DAY_SECONDS - looks.gap_days[looks.changed]
    return float(begins.max())


def peak_range(hazards: FloatArray) -> tuple[int, int]:
    """Return the first bin of the last peak that is high, and the bin after its last one.

    >>> peak_range(np.array([0.1, 0.0, 0.3, 1.0, 0.2]))
    (2, 4)
    >>> peak_range(np.array([1.0, 0.0, 0.3, 0.9, 0.2]))
    (2, 4)
    """
    is_low = hazards < MIN_PEAK_SHARE * hazards.max()
    peak = int(np.flatnonzero(hazards >= HIGH_PEAK_SHARE * hazards.max())[-1])
    low_before, low_after = np.flatnonzero(is_low[:peak]), np.flatnonzero(is_low[peak:])
    first = int(low_before[-1]) + 1 if len(low_before) else 0
    return first, peak + int(low_after[0]) if len(low_after) else len(hazards)
