"""Accuracy of the shapes, and distance of found knots from planted ones."""

from dataclasses import dataclass

import numpy as np

from experiments.curve_shapes.data import LabelledCurves
from freshet.measure.dynamics.curve.shape import SHAPES, StumpModel, classify_shape

KNOT_TOLERANCE = 0.1


@dataclass(frozen=True, slots=True)
class ShapeRow:
    """Figures of held-out curves; ``near`` is the share of planted knots found within 10 %.

    ``near_over_time`` and ``near_by_paper`` are those of the exact search over plain time and of
    the paper's heuristic. A shape's accuracy is None if no curve has that shape.
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


def evaluate(curves: str, held_out: LabelledCurves, stumps: StumpModel | None = None) -> ShapeRow:
    """Evaluate the stumps on curves that they were not trained on."""
    predicted = np.array([
        SHAPES.index(classify_shape(features, stumps)) for features in held_out.features
    ])
    is_right = predicted == held_out.labels
    of_shapes = (_share(is_right[held_out.labels == label]) for label in range(len(SHAPES)))
    return ShapeRow(
        curves,
        len(held_out),
        float(is_right.mean()),
        *of_shapes,
        near=near_share(held_out, held_out.found_knots),
        near_over_time=near_share(held_out, held_out.knots_over_time),
        near_by_paper=near_share(held_out, held_out.knots_by_paper),
    )


def near_share(held_out: LabelledCurves, knots: np.ndarray) -> float:
    """Return the share of knotted curves whose knot is within a tenth of the planted one."""
    knotted = held_out.labels == SHAPES.index("knotted")
    relative_errors = np.abs(knots[knotted] / held_out.planted_knots[knotted] - 1)
    return float(np.mean(np.nan_to_num(relative_errors, nan=np.inf) <= KNOT_TOLERANCE))


def _share(is_right: np.ndarray) -> float | None:
    return float(is_right.mean()) if len(is_right) else None
