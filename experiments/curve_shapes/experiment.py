"""Train on generated curves, evaluate on others, and store the stumps with the package."""

import json
from collections.abc import Iterator
from pathlib import Path

from experiments.curve_shapes.boost import Rows, logit_boost
from experiments.curve_shapes.data import (
    CLOSE_MIXTURE,
    EVEN_MIXTURE,
    EVERY_HOUR,
    LATE_AND_MISSED,
    WITH_GAPS,
    concatenate_curves,
    label_curves,
)
from experiments.curve_shapes.evaluation import ShapeRow, evaluate
from experiments.curve_shapes.mixture import WEB_CURVES
from freshet.measure.dynamics.curve import shape
from freshet.measure.dynamics.curve.shape import (
    FEATURE_NAMES,
    MODEL_FILE,
    SHAPES,
    StumpModel,
    stump_model_from_rows,
)

TRAINING_CURVES = 400
BOOST_ITERATIONS = 40
TRAINING_SEED = 1
HELD_OUT_SEEDS = (101, 102, 103)


def train(
    count: int = TRAINING_CURVES, iterations: int = BOOST_ITERATIONS, seed: int = TRAINING_SEED
) -> Rows:
    """Train on ``count`` curves of each look schedule and as many of similar shapes."""
    looks = (EVERY_HOUR, LATE_AND_MISSED, WITH_GAPS)
    labelled_parts = [
        label_curves(EVEN_MIXTURE, count, seed + 1000 * n, schedule)
        for n, schedule in enumerate(looks)
    ]
    training = concatenate_curves(*labelled_parts, label_curves(CLOSE_MIXTURE, count, seed + 9000))
    return logit_boost(training.features, training.labels, len(SHAPES), iterations)


def measure(count: int, stumps: StumpModel | None = None) -> Iterator[ShapeRow]:
    """Evaluate on new pages: the web's shares of shapes, even shares, and uneven looks."""
    for seed in HELD_OUT_SEEDS:
        yield evaluate(f"web {seed}", label_curves(WEB_CURVES, count, seed), stumps)
    for seed in HELD_OUT_SEEDS:
        yield evaluate(f"even {seed}", label_curves(EVEN_MIXTURE, count, seed), stumps)
    seed = HELD_OUT_SEEDS[0]
    yield evaluate(
        "late and missed", label_curves(EVEN_MIXTURE, count, seed, LATE_AND_MISSED), stumps
    )
    yield evaluate("shapes come close", label_curves(CLOSE_MIXTURE, count, seed), stumps)
    yield evaluate("gaps", label_curves(EVEN_MIXTURE, count, seed, WITH_GAPS), stumps)


def save_stumps(rows: Rows) -> Path:
    """Write the stumps into the package."""
    path = Path(shape.__file__).with_name(MODEL_FILE)
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    shapes, features = json.dumps(SHAPES), json.dumps(FEATURE_NAMES)
    path.write_text(
        f'{{"shapes": {shapes},\n "features": {features},\n "stumps": [\n{lines}\n]}}\n', "utf-8"
    )
    return path


def retrain() -> StumpModel:
    """Train new stumps, store and return them."""
    rows = train()
    save_stumps(rows)
    return stump_model_from_rows(rows)
