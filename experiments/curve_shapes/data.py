"""Generated curves with their features and true shapes."""

from dataclasses import dataclass, replace

import numpy as np

from experiments.curve_shapes.histories import LookSchedule
from experiments.curve_shapes.mixture import WEB_CURVES, LogUniform, PageMixture, generate_histories
from freshet.measure.dynamics.curve.change_curve import ChangeCurve, change_curve
from freshet.measure.dynamics.curve.knot import fit_bend
from freshet.measure.dynamics.curve.segments import paper_knot
from freshet.measure.dynamics.curve.shape import SHAPES

EVEN_MIXTURE = replace(WEB_CURVES, flat=1.0, sloped=1.0, knotted=1.0)
CLOSE_MIXTURE = replace(
    EVEN_MIXTURE, knots=LogUniform(3.0, 700.0), slow_knots=LogUniform(850.0, 3000.0)
)
EVERY_HOUR = LookSchedule()
LATE_AND_MISSED = LookSchedule(jitter=0.9, missed=0.1)
WITH_GAPS = LookSchedule(gaps=2, gap_hours=36.0)
_OTHER_CHANCE = 1 << 20


@dataclass(frozen=True, slots=True)
class LabelledCurves:
    """Features of curves, a row each, their shapes as indices, and planted and found knots.

    Knots are in hours, NaN if there is none. ``found_knots`` are those of the package,
    ``knots_over_time`` those of the same exact search over plain time, ``knots_by_paper`` those of
    the paper's heuristic.
    """

    features: np.ndarray
    labels: np.ndarray
    planted_knots: np.ndarray
    found_knots: np.ndarray
    knots_over_time: np.ndarray
    knots_by_paper: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)


def label_curves(
    mixture: PageMixture, count: int, seed: int, looks: LookSchedule = EVERY_HOUR
) -> LabelledCurves:
    """Draw pages of a mixture and compute their curves, with separate random generators."""
    features, labels, knots = [], [], []
    for number, drawn in enumerate(generate_histories(mixture, count, seed, looks)):
        rng = np.random.default_rng([seed, number, _OTHER_CHANCE])
        curve = change_curve(drawn.series, rng=rng)
        features.append(curve.features)
        labels.append(SHAPES.index(drawn.truth.shape))
        knots.append((drawn.truth.knot(curve.starts), *knots_of(curve)))
    return LabelledCurves(np.array(features), np.array(labels), *np.array(knots, np.float64).T)


def knots_of(curve: ChangeCurve) -> tuple[float | None, float | None, float | None]:
    """Return the knots of a curve in hours: ours, that of two lines over time, and the paper's."""
    hours, dice, counts = curve.hours[1:], curve.dice[1:], curve.counts[1:].astype(np.float64)
    over_time = fit_bend(hours, dice, counts)
    exact_knot = over_time.crossing if over_time is not None and over_time.is_knot else None
    return curve.knot and curve.knot.hours, exact_knot, paper_knot(curve.hours, curve.dice)


def concatenate_curves(*parts: LabelledCurves) -> LabelledCurves:
    """Concatenate labelled curves."""
    return LabelledCurves(
        *(np.concatenate([getattr(curves, name) for curves in parts])
          for name in LabelledCurves.__dataclass_fields__)
    )  # fmt: skip
