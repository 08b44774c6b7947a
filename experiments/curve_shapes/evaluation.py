"""How many shapes are told rightly, and how near the knots are to those planted."""

from dataclasses import dataclass

import numpy as np

from experiments.curve_shapes.data import LabelledCurves
from freshet.measure.dynamics.curve.shape import SHAPES, StumpModel, classify_shape

KNOT_TOLERANCE = 0.1


@dataclass(frozen=True, slots=True)
class ShapeRow:
    """Figures of some held-out curves; ``near`` is the share of planted knots found within 10 %.

    ``near_over_time`` and ``near_by_paper`` are those of the exact search over plain time and of
    the paper's heuristic. A shape that none of the curves has is None.
    """

    curves: str
    n: int
    accuracy: float
    flat: float | None
    sloped: float | None
    knotted: float | None
    near: float
    near_over_time: float
    near_by_paper: float
    paper: float = 0.93


def evaluate(curves: str, held: LabelledCurves, stumps: StumpModel | None = None) -> ShapeRow:
    """Measure the stumps on curves that they were not trained on."""
    told = np.array([SHAPES.index(classify_shape(seen, stumps)) for seen in held.features])
    right = told == held.labels
    of_shapes = (_share(right[held.labels == label]) for label in range(len(SHAPES)))
    return ShapeRow(
        curves,
        len(held),
        float(right.mean()),
        *of_shapes,
        near=near_share(held, held.found_knots),
        near_over_time=near_share(held, held.knots_over_time),
        near_by_paper=near_share(held, held.knots_by_paper),
    )


def near_share(held: LabelledCurves, knots: np.ndarray) -> float:
    """Return the share of knotted curves whose knot is found within a tenth of the planted."""
    knotted = held.labels == SHAPES.index("knotted")
    off = np.abs(knots[knotted] / held.planted_knots[knotted] - 1)
    return float(np.mean(np.nan_to_num(off, nan=np.inf) <= KNOT_TOLERANCE))


def _share(right: np.ndarray) -> float | None:
    return float(right.mean()) if len(right) else None
