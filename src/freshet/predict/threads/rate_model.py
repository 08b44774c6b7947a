"""Models with a rate of posts: decayed counts, a self-exciting process, and the pooled hazard.

All three are one formula (`kernels/post_rate.py`): a sum of decayed counts of posts, times the
weekly rhythm, for the pooled hazard times a correction by trees.
"""

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from freshet.core.content.posts import NEXT_POST_CHANCES
from freshet.core.types import FloatArray, IndexArray
from freshet.predict.threads.forecast import NextPostForecast
from freshet.predict.threads.kernels.next_visit import (
    GAPS,
    VALUES,
    WAITING,
    next_visit_gap,
    waiting_walk,
    waits_until,
)
from freshet.predict.threads.kernels.post_rate import (
    RateTables,
    RateTerms,
    decayed_counts,
    log_rate,
)
from freshet.predict.threads.regular_gaps import no_regular_gaps, regular_gaps
from freshet.predict.threads.rhythm import RhythmPrior
from freshet.predict.threads.thread_posts import ThreadPosts

PARAMETERS = Path(__file__).with_name("hazard.json")
# Makes the power law a rate in posts per minute: the mean level on threads of several sites.
KERNEL_SCALE = 0.25
# The share of the rule that looks at the coming rate (docs/decisions/0057).
FORESIGHT = 0.5
# How much the rate of a thread varies around its forecast (docs/decisions/0067).
FRAILTY, KERNEL_FRAILTY = 0.2, 0.4
LONGEST_TIME_CONSTANT = 2.7e7
DECAY_RATIO = 4.0


@dataclass(frozen=True, slots=True)
class RateModel:
    """A rate of posts with its parameters."""

    terms: RateTerms
    rhythm: RhythmPrior
    frailty: float = FRAILTY

    def tables(self, posts: ThreadPosts, known: int | None = None) -> RateTables:
        """Return the tables of a thread; the rhythm is that of the first ``known`` posts.

        Regular gaps are looked for after the last known post, and after each later one.
        """
        first = len(posts) - 1 if known is None else known - 1
        return self.rate_tables(posts, known)._replace(regular=regular_gaps(posts.times, first))

    def rate_tables(self, posts: ThreadPosts, known: int | None = None) -> RateTables:
        """Return the tables of a thread without its regular gaps.

        Rates, visits and the training do not use them.
        """
        counts = decayed_counts(posts.times, self.terms.decays)
        rhythm = self.rhythm.rhythm_of(posts.times[:known])
        return RateTables(posts.times, counts, rhythm, no_regular_gaps(len(posts)))

    def forecast(self, posts: ThreadPosts, now: float) -> NextPostForecast:
        """Return the distribution of the next post if none came until now (epoch minutes)."""
        last = len(posts) - 1
        tables = self.tables(posts)
        waits = waits_until(tables, last, now, self.terms, NEXT_POST_CHANCES, self.frailty)
        return NextPostForecast(waits)

    def rate(self, posts: ThreadPosts, now: float) -> float:
        """Return the posts per minute now, at average rhythm, if none came since the last."""
        elapsed = max(now - posts.times[-1], 0.0)
        tables = self.rate_tables(posts)
        return math.exp(log_rate(tables, len(posts) - 1, elapsed, self.terms, elapsed))

    def next_visit(
        self, posts: ThreadPosts, now: float, price: float, *, foresight: float = FORESIGHT
    ) -> float:
        """Return the time of the next visit after one at ``now``, in epoch minutes.

        ``price`` is that of a visit in minutes of delay of a post. With ``foresight`` 0 the visit
        comes when the expected posts that wait, added up over the minutes, reach the price.
        """
        tables = self.rate_tables(posts)
        gap = next_visit_gap(tables, len(posts) - 1, now, self.terms, price, foresight)
        return now + float(gap)

    def visit_values(
        self, posts: ThreadPosts, now: float, gaps: FloatArray, *, foresight: float = FORESIGHT
    ) -> tuple[FloatArray, FloatArray]:
        """Return the waiting posts some minutes after a visit now, and what a visit is worth then.

        The value is the greatest ``price`` at which ``next_visit`` has come by then; with
        ``foresight`` 0 it is S, the integral of the waiting posts over the minutes.
        """
        limits = math.inf, float(gaps.max())
        tables = self.rate_tables(posts)
        walk = waiting_walk(tables, len(posts) - 1, now, self.terms, limits, foresight)
        shares = np.minimum(gaps / walk[GAPS, 0], 1.0)
        positions, logarithms = np.log(gaps), np.log(walk)
        waiting = np.exp(np.interp(positions, logarithms[GAPS], logarithms[WAITING]))
        greatest = np.maximum.accumulate(logarithms[VALUES])
        values = np.exp(np.interp(positions, logarithms[GAPS], greatest))
        return waiting * shares, values * shares**2


def power_law_terms(
    exponent: float = 1.2, offset_minutes: float = 10.0, scale: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Return decays and weights whose sum is near scale x (age + offset)^-exponent.

    The power law is an integral of exponentials over their decays (a gamma density), taken here at
    decays that grow by a constant ratio.
    """
    step = math.log(DECAY_RATIO)
    start = -math.log(LONGEST_TIME_CONSTANT)
    stop = math.log(1.5 / offset_minutes) + 1.2
    decays = np.exp(np.arange(start, stop, step))
    density = decays**exponent * np.exp(-offset_minutes * decays)
    return decays, scale * density * step / math.gamma(exponent)


def rate_terms(decays: FloatArray, weights: FloatArray, base: float = 0.0) -> RateTerms:
    """Return the parameters of a rate without trees."""
    nodes, values = np.zeros(0, np.int32), np.zeros(0)
    return RateTerms(decays, weights, base, 0, nodes, nodes, values, nodes, nodes, values)


@cache
def kernel_rate() -> RateModel:
    """Return the rule without training: rate ~ sum of (age + 10 min)^-1.2, with the rhythm."""
    terms = rate_terms(*power_law_terms(scale=KERNEL_SCALE))
    return RateModel(terms, pooled_hazard().rhythm, KERNEL_FRAILTY)


@cache
def pooled_hazard() -> RateModel:
    """Return the default model, with the parameters that the package has."""
    return hazard_from_document(json.loads(PARAMETERS.read_text("utf-8")))


def hazard_from_document(document: dict[str, Any]) -> RateModel:
    """Return a model from its JSON document."""

    def floats(name: str) -> FloatArray:
        return np.array(document[name], np.float64)

    def nodes(name: str) -> IndexArray:
        return np.array(document[name], np.int32)

    terms = RateTerms(
        decays=floats("decays"),
        weights=floats("weights"),
        base=float(document["base"]),
        feature_decays=int(document["feature_decays"]),
        roots=nodes("roots"),
        split_features=nodes("split_features"),
        thresholds=floats("thresholds"),
        left=nodes("left"),
        right=nodes("right"),
        values=floats("values"),
    )
    rhythm = RhythmPrior(floats("hours"), floats("days"))
    return RateModel(terms, rhythm)


def hazard_document(model: RateModel) -> dict[str, Any]:
    """Return the JSON document of a model; numbers are rounded to six digits."""
    document = {
        name: _rounded(value) if isinstance(value, np.ndarray) else value
        for name, value in model.terms._asdict().items()
    }
    rhythm = {"hours": _rounded(model.rhythm.hours), "days": _rounded(model.rhythm.days)}
    return document | rhythm


def _rounded(values: Any) -> list[float] | list[int]:
    if values.dtype == np.int32:
        return [int(value) for value in values]
    return [float(f"{value:.6g}") for value in values]
