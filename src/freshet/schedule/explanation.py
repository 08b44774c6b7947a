"""Why one page stands where it stands, in numbers that a person can follow."""

import numpy as np

from freshet.core.tables import DAY_SECONDS, PolicyExplanation
from freshet.core.types import FloatArray
from freshet.schedule.forecast_model import ForecastModel

LOW, MIDDLE, HIGH = 0.05, 0.5, 0.95
SURE, SOON_DAYS = 0.95, 1.0
BISECTIONS = 50
FIRST_DAY, HORIZON_DAYS, MOMENTS = 1e-4, 3_650.0, 2_000


def explain_page(
    forecasts: ForecastModel, row: int, now: float, plan: tuple[str, float]
) -> PolicyExplanation:
    """Return what is known of one page, by a policy's name and the multiplier it has reached."""
    states, rows = forecasts.page_states, np.array([row])
    scores = forecasts.page_scores(rows, now)
    age = float(states.days_since_look(rows, now)[0])
    never = np.isinf(age)
    table, which = forecasts.prior.rows_for(states, rows)
    posterior = forecasts.posterior.posteriors(
        states.column("likelihood"),
        rows,
        forecasts.ages_and_effective_ages(rows, now)[0],
        (table, which),
    )[0]
    rates = forecasts.cadence.rates
    low, middle, high = (rate_quantile(posterior, rates, share) for share in (LOW, MIDDLE, HIGH))
    name, multiplier = plan
    return PolicyExplanation(
        page=int(states.ids[row]),
        policy=name,
        looks=int(states.measured[row]),
        changes=int(states.changes[row]),
        value=float(scores.values[0]),
        multiplier=multiplier,
        age_days=age,
        look_chance=float(states.look_chances(rows)[0]),
        not_before=float(states.not_before[row]),
        chance=None if never else float(scores.chances[0]),
        effective_age_days=None if never else float(scores.ages[0]),
        rate=middle,
        rate_low=low,
        rate_high=high,
        prior_rate=rate_quantile(table[which[0]], rates, MIDDLE),
        host_looks=int(states.measured[states.host == states.host[row]].sum()),
        clock=None if never or not age else float(scores.ages[0]) / age,
        due=due_time(forecasts, row, now, multiplier),
        change_days=expected_change_days(posterior, rates),
        prior_change_days=expected_change_days(table[which[0]], rates),
    )


def rate_quantile(weights: FloatArray, rates: FloatArray, share: float) -> float:
    """Return the rate below which that share of a distribution over the grid lies.

    >>> rate_quantile(np.array([0.2, 0.6, 0.2]), np.array([0.1, 1.0, 10.0]), 0.5)
    1.0
    """
    below = np.cumsum(weights) - weights / 2
    return float(np.exp(np.interp(share, below, np.log(rates))))


def expected_change_days(weights: FloatArray, rates: FloatArray) -> float:
    """Return the days after a look by which a change is 63 % likely, given weights of rates.

    For a page of one rate that is the mean time between two changes. It is read off the survival
    from which the forecast's probabilities come, so that the two never disagree.

    >>> round(expected_change_days(np.array([0.0, 1.0]), np.array([0.1, 0.5])), 6)
    2.0
    """
    low, high = -np.log(rates[-1]), -np.log(rates[0])
    shares = weights / weights.sum()
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if np.exp(-np.exp(middle) * rates) @ shares > 1 / np.e:
            low = middle
        else:
            high = middle
    return float(np.exp((low + high) / 2))


def due_time(forecasts: ForecastModel, row: int, now: float, multiplier: float) -> float | None:
    """Return when a page's value reaches the multiplier, None where it does not in ten years.

    Nor has it a time worth telling where the page has surely changed already, and is not worth its
    visit within a day: what it still gains by waiting is next to nothing.
    """
    days = np.append(0.0, np.geomspace(FIRST_DAY, HORIZON_DAYS, MOMENTS))
    ahead = forecasts.scores_after_days(row, now, days)
    reached = days[ahead.values >= multiplier]
    if not len(reached) or (reached[0] > SOON_DAYS and ahead.chances[0] >= SURE):
        return None
    return now + DAY_SECONDS * float(reached[0])
