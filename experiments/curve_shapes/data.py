"""Generated curves: what is told of each, and the shape that it has by construction."""

from dataclasses import dataclass, replace

import numpy as np

from experiments.curve_shapes.histories import Looks
from experiments.curve_shapes.mixture import WEB_CURVES, Between, Mixture, histories
from freshet.measure.dynamics.curve.change_curve import Curve, change_curve
from freshet.measure.dynamics.curve.knot import bend
from freshet.measure.dynamics.curve.segments import paper_knot
from freshet.measure.dynamics.curve.shape import SHAPES

EVEN = replace(WEB_CURVES, flat=1.0, sloped=1.0, knotted=1.0)
CLOSE = replace(EVEN, knots=Between(3.0, 700.0), slow_knots=Between(850.0, 3000.0))
EVERY_HOUR = Looks()
LATE_AND_MISSED = Looks(jitter=0.9, missed=0.1)
WITH_GAPS = Looks(gaps=2, gap_hours=36.0)
_OTHER_CHANCE = 1 << 20


@dataclass(frozen=True, slots=True)
class Labelled:
    """Features of curves, a row each, and their shapes as indices; knots planted and found.

    Knots are in hours, NaN where there is none: ``found`` on the page's own clock, ``over_time``
    by the same exact search over plain time, and ``by_paper`` by the paper's heuristic.
    """

    features: np.ndarray
    labels: np.ndarray
    planted: np.ndarray
    found: np.ndarray
    over_time: np.ndarray
    by_paper: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)


def labelled(mixture: Mixture, count: int, seed: int, looks: Looks = EVERY_HOUR) -> Labelled:
    """Draw pages of a mixture and make their curves, by chances apart from those of the pages."""
    features, labels, knots = [], [], []
    for number, drawn in enumerate(histories(mixture, count, seed, looks)):
        rng = np.random.default_rng([seed, number, _OTHER_CHANCE])
        curve = change_curve(drawn.series, rng=rng)
        features.append(curve.features)
        labels.append(SHAPES.index(drawn.truth.shape))
        knots.append((drawn.truth.knot(curve.starts), *knots_of(curve)))
    return Labelled(np.array(features), np.array(labels), *np.array(knots, np.float64).T)


def knots_of(curve: Curve) -> tuple[float | None, float | None, float | None]:
    """Return the knot of a curve in hours: ours, that of two lines over time, and the paper's."""
    hours, dice, counts = curve.hours[1:], curve.dice[1:], curve.counts[1:].astype(np.float64)
    over_time = bend(hours, dice, counts)
    exact = over_time.place if over_time is not None and over_time.is_knot else None
    return curve.knot and curve.knot.hours, exact, paper_knot(curve.hours, curve.dice)


def together(*parts: Labelled) -> Labelled:
    """Put labelled curves behind each other."""
    return Labelled(
        *(np.concatenate([getattr(part, name) for part in parts])
          for name in Labelled.__dataclass_fields__)
    )  # fmt: skip
