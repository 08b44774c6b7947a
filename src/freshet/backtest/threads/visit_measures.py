"""Measures of the visits of one replay, as the report of Tan (2012), chapter 4, defines them.

They are reported, and nothing is optimised for them: a crawler that never visits has a window error
of one half, and the error of the predicted interval rewards visits that are too frequent.
"""

from dataclasses import dataclass

import numpy as np

from freshet.core.types import FloatArray

WINDOW = 20
PAIR_DECAY = 0.01
# A predicted interval is compared with at least a minute.
MIN_INTERVAL = 1.0
HALF = 0.5


@dataclass(frozen=True, slots=True)
class VisitMeasures:
    """Errors of the visits of a thread.

    ``miss`` is the share of windows with posts in which posts outnumber visits, ``false_alarm``
    the share of all windows in which visits outnumber posts, ``error`` half of each.
    ``normalised_miss`` is the delay relative to visits at the last post only,
    ``normalised_false_alarm`` the visits per minute without a post, ``pair_score`` the mean over
    pairs of events that follow each other.
    """

    miss: float
    false_alarm: float
    error: float
    normalised_miss: float
    normalised_false_alarm: float
    pair_score: float


def measure_visits(posts: FloatArray, visits: FloatArray, start: float) -> VisitMeasures:
    """Return the measures of visits to posts; visits after the last post are left out.

    ``start`` is the beginning of the replay. All times are minutes.
    """
    end = float(posts[-1])
    inside = visits[visits <= end]
    miss, false_alarm = _window_shares(posts, inside, start, end)
    first_visits = np.searchsorted(visits, posts)
    found = first_visits < len(visits)
    delays = visits[first_visits[found]] - posts[found]
    worst = float((end - posts).sum())
    quiet = end - start - len(posts)
    return VisitMeasures(
        miss,
        false_alarm,
        HALF * miss + HALF * false_alarm,
        float(delays.sum()) / worst if worst > 0.0 else 0.0,
        len(inside) / quiet if quiet > 0.0 else 0.0,
        _pair_score(posts, inside),
    )


def interval_error(predictions: FloatArray, intervals: FloatArray) -> float:
    """Return the mean of |interval - prediction| / interval; short intervals count as a minute.

    >>> interval_error(np.array([20.0, 5.0]), np.array([10.0, 0.0]))
    2.5
    """
    actual = np.maximum(intervals, MIN_INTERVAL)
    return float(np.mean(np.abs(actual - predictions) / actual))


def _window_shares(
    posts: FloatArray, visits: FloatArray, start: float, end: float
) -> tuple[float, float]:
    """Return the shares of missed windows and of false alarms; windows move on by a minute."""
    windows = int(np.floor(end) - np.floor(start)) - WINDOW + 1
    if windows < 1:
        return 0.0, 0.0
    post_minutes, visit_minutes = (
        (np.floor(times) - np.floor(start)).astype(np.int64) for times in (posts, visits)
    )
    # A minute lies in the windows that begin at most 19 minutes earlier.
    edges = np.concatenate([
        np.clip(minutes + shift, 0, windows)
        for minutes in (post_minutes, visit_minutes)
        for shift in (1 - WINDOW, 1)
    ])
    ones, others = np.ones(len(posts)), np.ones(len(visits))
    post_steps = np.concatenate((ones, -ones, 0 * others, 0 * others))
    visit_steps = np.concatenate((0 * ones, 0 * ones, others, -others))
    order = np.argsort(edges, kind="stable")
    lengths = np.diff(np.append(edges[order], windows))
    post_counts = np.cumsum(post_steps[order])
    visit_counts = np.cumsum(visit_steps[order])
    with_posts = float(lengths[post_counts > 0].sum())
    missed = float(lengths[(post_counts > 0) & (post_counts > visit_counts)].sum())
    alarms = float(lengths[visit_counts > post_counts].sum())
    return (missed / with_posts if with_posts else 0.0), alarms / windows


def _pair_score(posts: FloatArray, visits: FloatArray) -> float:
    """Return the mean over pairs: a post before a visit, or two visits; a long gap is bad, good."""
    times = np.concatenate((posts, visits))
    is_visit = np.concatenate((np.zeros(len(posts), bool), np.ones(len(visits), bool)))
    order = np.lexsort((is_visit, times))
    times, is_visit = times[order], is_visit[order]
    if len(times) < 2:
        return 0.0
    closeness = np.exp(-PAIR_DECAY * np.diff(times))
    to_visit, from_visit = is_visit[1:], is_visit[:-1]
    scores = np.where(from_visit, closeness, 1.0 - closeness) * to_visit
    return float(scores.sum() / (len(times) - 1))
