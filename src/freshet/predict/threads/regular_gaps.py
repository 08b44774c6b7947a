"""Threads and feeds with a steady pace: how likely the next gap is like earlier ones.

Nine experts expect a gap near an earlier one, a tenth a log-normal gap. Each is weighed by the
densities that it gave to the last gaps before they were known. The forecast knows the regular
experts only if they have half of the weight. Posts within five
minutes count as one.
"""

import math

import numpy as np

from freshet.core.types import FloatArray
from freshet.predict.threads.kernels.regular_gaps import (
    EXPERTS,
    MAX_ATOMS,
    OUTLIER_SHARE,
    WINDOW_GAPS,
    RegularGaps,
    gap_log_densities,
    next_gap_atoms,
    smooth_gaps,
)

BATCH_MINUTES = 5.0
# What each regular expert has before any gap is known.
EXPERT_PRIOR = 0.005
MIN_SHARE = 0.5
# With more than a tenth of its gaps under a quarter of an hour a thread is in bursts, not steady.
LOG_MIN_GAP = math.log(15.0)
MIN_GAPS = 3


def no_regular_gaps(posts: int) -> RegularGaps:
    """Return the table of a thread without any regular gap."""
    empty = np.zeros(0)
    return RegularGaps(
        np.full(posts, -1, np.int32), empty, np.zeros((0, MAX_ATOMS, 3)), np.zeros((0, 2)), empty,
    )  # fmt: skip


def regular_gaps(times: FloatArray, first_post: int) -> RegularGaps:
    """Return the regular gaps after the posts from a first one on.

    The gap after a post is judged from the posts up to it only.
    """
    batches = np.concatenate(([0], np.cumsum(np.diff(times) >= BATCH_MINUTES)))
    starts = times[np.flatnonzero(np.diff(batches, prepend=-1))]
    gaps = np.arange(max(batches[first_post], MIN_GAPS), batches[-1] + 1)
    if len(gaps) == 0:
        return no_regular_gaps(len(times))
    log_gaps = np.log(np.diff(starts))
    evidence = _evidence(starts, log_gaps, int(gaps[0]))
    rows = np.full(len(times), -1, np.int32)
    parts: list[tuple[float, FloatArray, tuple[float, float], float]] = []
    for gap in gaps.tolist():
        weights = evidence[gap]
        share = (1.0 - OUTLIER_SHARE) * float(weights[1:].sum())
        recent = log_gaps[max(0, gap - WINDOW_GAPS) : gap]
        if share < MIN_SHARE or np.quantile(recent, 0.1) < LOG_MIN_GAP:
            continue
        posts = np.flatnonzero(batches == gap)
        posts = posts[posts >= first_post]
        rows[posts] = np.arange(len(parts), len(parts) + len(posts))
        atoms = next_gap_atoms(starts, log_gaps, gap, weights[1:] / weights[1:].sum())
        smooth = smooth_gaps(log_gaps, gap)
        parts += [(share, atoms, smooth, times[post] - starts[gap]) for post in posts]
    if not parts:
        return no_regular_gaps(len(times))
    return RegularGaps(rows, *(np.array(column) for column in zip(*parts, strict=True)))


def _evidence(starts: FloatArray, log_gaps: FloatArray, first: int) -> dict[int, FloatArray]:
    """Return the weights of the experts before each gap, from the first wanted one on."""
    prior = np.full(1 + EXPERTS, math.log(EXPERT_PRIOR))
    prior[0] = math.log(1.0 - EXPERTS * EXPERT_PRIOR)
    earliest = max(1, first - WINDOW_GAPS)
    densities = np.array([
        gap_log_densities(starts, log_gaps, gap) for gap in range(earliest, len(log_gaps))
    ]).reshape(-1, 1 + EXPERTS)
    sums = np.concatenate((np.zeros((1, 1 + EXPERTS)), np.cumsum(densities, axis=0)))
    weights = {}
    for gap in range(first, len(log_gaps) + 1):
        last, start = gap - earliest, max(0, gap - WINDOW_GAPS - earliest)
        logarithms = prior + sums[last] - sums[start]
        likely = np.exp(logarithms - logarithms.max())
        weights[gap] = likely / likely.sum()
    return weights
