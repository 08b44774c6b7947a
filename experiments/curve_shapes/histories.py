"""Generated page histories whose change curves have a known shape.

A page consists of standing words and of pieces (stories, posts, rows) of some words each. Every
change adds a piece and removes the oldest. After ``turnover`` changes only the standing words and
recurring words are left of the original content. That moment is the knot of the curve that starts
at this content (Adar et al. 2009, section 4.2).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray, HashArray, IndexArray, TermCounts
from freshet.core.version_series import VersionSeries
from freshet.world.change_processes import DAY, HOUR, Rng, TimeSpan, rhythmic_changes

Shape = Literal["flat", "sloped", "knotted"]
Words = NDArray[np.int64]

WEEK = 7 * DAY
MONDAY = 345_600.0
VOCABULARY_SIZE = 30_000
ROTATING_TEXT_COUNT = 6
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class PageParameters:
    """Contents of a page, and its change process.

    ``turnover`` pieces of ``words`` words each are present at a time. A new piece comes ``per_day``
    times a day: at random, less often at night and on weekends if these are below 1, or at fixed
    intervals if ``regular``. A rotating block shows one of a few texts of ``rotating`` words at
    every look.
    """

    standing: int = 200
    turnover: int = 20
    words: int = 10
    per_day: float = 6.0
    night: float = 1.0
    weekend: float = 1.0
    regular: bool = False
    rotating: int = 0


@dataclass(frozen=True, slots=True)
class LookSchedule:
    """Times of the looks at a page: by default every hour for five weeks.

    Each look is late by up to the share ``jitter`` of a step and is missed with probability
    ``missed``; ``gaps`` times there is no look for ``gap_hours``.
    """

    days: float = 35.0
    every_hours: float = 1.0
    jitter: float = 0.0
    missed: float = 0.0
    gaps: int = 0
    gap_hours: float = 48.0
    start: float = MONDAY

    @property
    def span(self) -> TimeSpan:
        """Return the period that contains the looks."""
        return TimeSpan(self.start, self.start + self.days * DAY)


@dataclass(frozen=True, slots=True)
class CurveTruth:
    """Times at which pieces were replaced; they give the curve's shape and knots."""

    changes: FloatArray
    turnover: int
    span: TimeSpan

    def gone_by(self, epoch: float) -> float | None:
        """Return when the last piece present at a moment is gone; None if not within the period."""
        last = int(np.searchsorted(self.changes, epoch, side="right")) + self.turnover - 1
        return float(self.changes[last]) if self.turnover and last < len(self.changes) else None

    def knot(self, starts: FloatArray) -> float | None:
        """Return the mean hours after these moments until the last piece is gone."""
        gone_times = [self.gone_by(start) for start in starts.tolist()]
        known_times = [moment for moment in gone_times if moment is not None]
        if not known_times or len(known_times) < len(gone_times):
            return None
        return float(np.mean(np.array(known_times) - starts)) / HOUR

    @property
    def shape(self) -> Shape:
        """Return the shape of the curve of starts in the first week."""
        if not self.turnover or not len(self.changes):
            return "flat"
        is_replaced = self.gone_by(min(self.span.start + WEEK, self.span.end)) is not None
        return "knotted" if is_replaced else "sloped"


@dataclass(frozen=True, slots=True)
class GeneratedHistory:
    """A page's version series, its true changes, and its contents.

    ``pieces`` has a row of words per piece; after n changes, the ``turnover`` rows from n on are
    present. ``changes`` holds the number of changes before each version.
    """

    series: VersionSeries
    truth: CurveTruth
    standing: HashArray
    pieces: HashArray
    changes: IndexArray


def generate_history(
    parameters: PageParameters, rng: Rng, looks: LookSchedule | None = None
) -> GeneratedHistory:
    """Draw a page by its parameters and look at it.

    >>> drawn = generate_history(PageParameters(per_day=48.0), np.random.default_rng(1))
    >>> len(drawn.series), drawn.truth.shape
    (840, 'knotted')
    """
    looks = looks or LookSchedule()
    changes = _change_times(parameters, looks.span, rng)
    standing = _as_ids(_draw_words(rng, parameters.standing))
    pieces = _as_ids(_draw_words(rng, len(changes) + parameters.turnover, parameters.words))
    rotating_texts = _as_ids(_draw_words(rng, ROTATING_TEXT_COUNT, parameters.rotating))
    times = _look_times(looks, rng)
    change_counts = np.searchsorted(changes, times, side="right")
    rotation = rng.integers(0, ROTATING_TEXT_COUNT if parameters.rotating else 1, len(times))
    versions, shown = np.unique(change_counts * ROTATING_TEXT_COUNT + rotation, return_inverse=True)
    counts, texts = np.divmod(versions, ROTATING_TEXT_COUNT)
    terms = tuple(
        _count_terms(
            standing, pieces[count : count + parameters.turnover].ravel(), rotating_texts[text]
        )
        for count, text in zip(counts.tolist(), texts.tolist(), strict=True)
    )
    series = VersionSeries(times, shown.astype(np.int32), terms)
    truth = CurveTruth(changes, parameters.turnover, looks.span)
    return GeneratedHistory(series, truth, standing, pieces, counts.astype(np.int32))


def _change_times(parameters: PageParameters, span: TimeSpan, rng: Rng) -> FloatArray:
    if not parameters.turnover or not parameters.per_day:
        return np.empty(0)
    if parameters.regular:
        gap = DAY / parameters.per_day
        return np.arange(span.start + gap * rng.random(), span.end, gap)
    return rhythmic_changes(parameters.per_day, night=parameters.night, weekend=parameters.weekend)(
        rng, span
    )


def _look_times(looks: LookSchedule, rng: Rng) -> FloatArray:
    span, step = looks.span, looks.every_hours * HOUR
    times = np.arange(span.start, span.end, step)
    times += rng.uniform(0.0, looks.jitter * step, len(times)) if looks.jitter else 0.0
    is_made = rng.random(len(times)) >= looks.missed
    for begins in rng.uniform(span.start, span.end, looks.gaps):
        is_made &= (times < begins) | (times >= begins + looks.gap_hours * HOUR)
    return np.asarray(times[is_made])


def _draw_words(rng: Rng, *size: int) -> Words:
    """Draw words by rank with probability proportional to 1/rank, so that common words recur."""
    return np.asarray(VOCABULARY_SIZE ** rng.random(size)).astype(np.int64)


def _as_ids(words: Words) -> HashArray:
    """Return 64-bit ids of words, spread like hashes."""
    return np.asarray(words.astype(np.uint64) * _SPREAD)


def _count_terms(*words: HashArray) -> TermCounts:
    ids, counts = np.unique(np.concatenate(words), return_counts=True)
    return TermCounts(ids, counts.astype(np.uint32))
