"""A mixture of pages whose curves have the shapes, knots and levels of the web."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from experiments.curve_shapes.histories import (
    GeneratedHistory,
    LookSchedule,
    PageParameters,
    Shape,
    generate_history,
)
from freshet.world.change_processes import Rng

RECURRING = 0.3
MAX_STANDING = 6000
MIN_STANDING = 20
MIN_CHANGES = 8


@dataclass(frozen=True, slots=True)
class LogUniform:
    """Log-uniform numbers between two bounds."""

    low: float
    high: float

    def draw(self, rng: Rng) -> float:
        """Draw a number."""
        return float(self.low * (self.high / self.low) ** rng.random())


@dataclass(frozen=True, slots=True)
class PageMixture:
    """Distribution of pages; the shares of shapes are normalised.

    Knots of knotted pages are lognormal around a median, within bounds that the looks allow. Knots
    of sloped pages lie far beyond the looks. The final similarity of a page (its level) is beta
    distributed. Shares of the pages rest at night and on weekends, change at fixed intervals, or
    have a rotating block.
    """

    flat: float = 0.02
    sloped: float = 0.28
    knotted: float = 0.7
    knot_hours: float = 117.5
    knot_spread: float = 1.5
    knots: LogUniform = LogUniform(3.0, 600.0)
    slow_knots: LogUniform = LogUniform(1300.0, 6000.0)
    level: tuple[float, float] = (2.4, 0.7)
    turnover: LogUniform = LogUniform(10.0, 60.0)
    words: LogUniform = LogUniform(4.0, 12.0)
    resting: float = 0.4
    regular: float = 0.2
    rotating: float = 0.3


# Adar et al. 2009, section 4.2: shares of shapes, time and height of knots in five weeks.
WEB_CURVES = PageMixture()


def generate_histories(
    mixture: PageMixture, count: int, seed: int, looks: LookSchedule | None = None
) -> Iterator[GeneratedHistory]:
    """Draw pages one by one, each from its own number, so that they are independent."""
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        yield generate_history(draw_parameters(mixture, rng), rng, looks)


def draw_parameters(mixture: PageMixture, rng: Rng) -> PageParameters:
    """Draw the parameters of a page."""
    shapes: tuple[Shape, ...] = ("flat", "sloped", "knotted")
    shares = np.array([mixture.flat, mixture.sloped, mixture.knotted])
    shape = shapes[int(rng.choice(len(shapes), p=shares / shares.sum()))]
    knot = _draw_knot(mixture, rng) if shape == "knotted" else mixture.slow_knots.draw(rng)
    turnover, words = round(mixture.turnover.draw(rng)), round(mixture.words.draw(rng))
    if shape == "sloped":
        turnover = max(turnover, round(MIN_CHANGES * knot / (35 * 24)))
    rhythm = rng.random()
    resting = rhythm < mixture.resting
    return PageParameters(
        standing=_standing_words(float(rng.beta(*mixture.level)), turnover * words),
        turnover=0 if shape == "flat" else turnover,
        words=words,
        per_day=24 * turnover / knot,
        night=0.3 if resting else 1.0,
        weekend=0.5 if resting else 1.0,
        regular=rhythm >= 1 - mixture.regular,
        rotating=words if rng.random() < mixture.rotating else 0,
    )


def _draw_knot(mixture: PageMixture, rng: Rng) -> float:
    """Draw a lognormal number within the bounds."""
    while True:
        knot = mixture.knot_hours * float(np.exp(mixture.knot_spread * rng.standard_normal()))
        if mixture.knots.low <= knot <= mixture.knots.high:
            return knot


def _standing_words(level: float, changing_words: int) -> int:
    """Return the number of standing words that gives a page its final similarity.

    Some replaced words recur. The number is bounded, because pages that hardly change would need
    too many standing words.
    """
    needed = changing_words * (level - RECURRING) / max(1 - level, 0.01)
    return int(np.clip(needed, MIN_STANDING, MAX_STANDING))
