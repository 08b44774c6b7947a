"""Histories of pages whose change curves have a known shape.

A page is made of standing words and of pieces (stories, posts, rows), each of some words. Every
change brings a new piece and takes the oldest away, so that after ``turnover`` changes nothing is
left of what was there but the standing words and those that come again in any text. That moment
is the knot of the curve that begins at what was there (Adar et al. 2009, section 4.2).
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
VOCABULARY = 30_000
ROTATING_TEXTS = 6
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class PageRecipe:
    """What a page is made of, and how it changes.

    ``turnover`` pieces of ``words`` words each are there at a time; a new one comes ``per_day``
    times a day: at random, less often at night and on weekends where these are below 1, or always
    after the same time. A rotating block shows one of a few texts of so many words, any of them at
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
    """When a page is looked at: every hour for five weeks, unless said otherwise.

    Each look comes late by up to the share ``jitter`` of a step, is missed with the chance
    ``missed``, and ``gaps`` times there is none for ``gap_hours``.
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
        """Return the time within which looks fall."""
        return TimeSpan(self.start, self.start + self.days * DAY)


@dataclass(frozen=True, slots=True)
class CurveTruth:
    """When pieces were replaced, and so the shape of the curve and its knot from any start."""

    changes: FloatArray
    turnover: int
    span: TimeSpan

    def gone_by(self, epoch: float) -> float | None:
        """Return when the last piece that was there at a moment is gone; None if not in time."""
        last = int(np.searchsorted(self.changes, epoch, side="right")) + self.turnover - 1
        return float(self.changes[last]) if self.turnover and last < len(self.changes) else None

    def knot(self, starts: FloatArray) -> float | None:
        """Return how many hours after these moments the last piece is gone, in the mean."""
        gone = [self.gone_by(start) for start in starts.tolist()]
        known = [moment for moment in gone if moment is not None]
        if not known or len(known) < len(gone):
            return None
        return float(np.mean(np.array(known) - starts)) / HOUR

    @property
    def shape(self) -> Shape:
        """Return what the curve of starts in the first week is like."""
        if not self.turnover or not len(self.changes):
            return "flat"
        settled = self.gone_by(min(self.span.start + WEEK, self.span.end)) is not None
        return "knotted" if settled else "sloped"


@dataclass(frozen=True, slots=True)
class GeneratedHistory:
    """A page's series, what is true of it, and what it is made of.

    ``pieces`` has a row of words per piece; after so many changes the rows from that number on are
    there, ``turnover`` of them. ``changes`` says for each version how many changes it had seen.
    """

    series: VersionSeries
    truth: CurveTruth
    standing: HashArray
    pieces: HashArray
    changes: IndexArray


def generate_history(
    recipe: PageRecipe, rng: Rng, looks: LookSchedule | None = None
) -> GeneratedHistory:
    """Draw a page of these ways and look at it.

    >>> drawn = generate_history(PageRecipe(per_day=48.0), np.random.default_rng(1))
    >>> len(drawn.series), drawn.truth.shape
    (840, 'knotted')
    """
    looks = looks or LookSchedule()
    changes = _change_times(recipe, looks.span, rng)
    standing = _as_ids(_drawn_words(rng, recipe.standing))
    pieces = _as_ids(_drawn_words(rng, len(changes) + recipe.turnover, recipe.words))
    blocks = _as_ids(_drawn_words(rng, ROTATING_TEXTS, recipe.rotating))
    times = _look_times(looks, rng)
    seen = np.searchsorted(changes, times, side="right")
    turns = rng.integers(0, ROTATING_TEXTS if recipe.rotating else 1, len(times))
    versions, shown = np.unique(seen * ROTATING_TEXTS + turns, return_inverse=True)
    counts, texts = np.divmod(versions, ROTATING_TEXTS)
    terms = tuple(
        _counted(standing, pieces[count : count + recipe.turnover].ravel(), blocks[text])
        for count, text in zip(counts.tolist(), texts.tolist(), strict=True)
    )
    series = VersionSeries(times, shown.astype(np.int32), terms)
    truth = CurveTruth(changes, recipe.turnover, looks.span)
    return GeneratedHistory(series, truth, standing, pieces, counts.astype(np.int32))


def _change_times(ways: PageRecipe, span: TimeSpan, rng: Rng) -> FloatArray:
    if not ways.turnover or not ways.per_day:
        return np.empty(0)
    if ways.regular:
        gap = DAY / ways.per_day
        return np.arange(span.start + gap * rng.random(), span.end, gap)
    return rhythmic_changes(ways.per_day, night=ways.night, weekend=ways.weekend)(rng, span)


def _look_times(looks: LookSchedule, rng: Rng) -> FloatArray:
    span, step = looks.span, looks.every_hours * HOUR
    times = np.arange(span.start, span.end, step)
    times += rng.uniform(0.0, looks.jitter * step, len(times)) if looks.jitter else 0.0
    kept = rng.random(len(times)) >= looks.missed
    for begins in rng.uniform(span.start, span.end, looks.gaps):
        kept &= (times < begins) | (times >= begins + looks.gap_hours * HOUR)
    return np.asarray(times[kept])


def _drawn_words(rng: Rng, *size: int) -> Words:
    """Draw words by rank, the n-th as likely as 1/n: the common ones come again in any text."""
    return np.asarray(VOCABULARY ** rng.random(size)).astype(np.int64)


def _as_ids(words: Words) -> HashArray:
    """Return the ids of words, spread over 64 bits as hashes are."""
    return np.asarray(words.astype(np.uint64) * _SPREAD)


def _counted(*words: HashArray) -> TermCounts:
    ids, counts = np.unique(np.concatenate(words), return_counts=True)
    return TermCounts(ids, counts.astype(np.uint32))
