"""Train on generated curves, measure on others, and keep what was learnt with the package."""

import json
from collections.abc import Iterator
from pathlib import Path

from experiments.curve_shapes.boost import Rows, boost
from experiments.curve_shapes.data import (
    CLOSE,
    EVEN,
    EVERY_HOUR,
    LATE_AND_MISSED,
    WITH_GAPS,
    labelled,
    together,
)
from experiments.curve_shapes.evaluation import Row, evaluate
from experiments.curve_shapes.mixture import WEB_CURVES
from freshet.measure.dynamics.curve import shape
from freshet.measure.dynamics.curve.shape import FEATURES, PARAMETERS, SHAPES, Stumps, stumps_from

TRAINED_ON = 400
ROUNDS = 40
TRAINING_SEED = 1
HELD_OUT_SEEDS = (101, 102, 103)


def train(count: int = TRAINED_ON, rounds: int = ROUNDS, seed: int = TRAINING_SEED) -> Rows:
    """Learn from ``count`` curves of each way of looking and as many where shapes come close."""
    looks = (EVERY_HOUR, LATE_AND_MISSED, WITH_GAPS)
    parts = [labelled(EVEN, count, seed + 1000 * n, way) for n, way in enumerate(looks)]
    known = together(*parts, labelled(CLOSE, count, seed + 9000))
    return boost(known.features, known.labels, len(SHAPES), rounds)


def measure(count: int, stumps: Stumps | None = None) -> Iterator[Row]:
    """Measure on fresh pages of the web's shares, of even shares, and looked at unevenly."""
    for seed in HELD_OUT_SEEDS:
        yield evaluate(f"web {seed}", labelled(WEB_CURVES, count, seed), stumps)
    for seed in HELD_OUT_SEEDS:
        yield evaluate(f"even {seed}", labelled(EVEN, count, seed), stumps)
    seed = HELD_OUT_SEEDS[0]
    yield evaluate("late and missed", labelled(EVEN, count, seed, LATE_AND_MISSED), stumps)
    yield evaluate("shapes come close", labelled(CLOSE, count, seed), stumps)
    yield evaluate("gaps", labelled(EVEN, count, seed, WITH_GAPS), stumps)


def keep(rows: Rows) -> Path:
    """Write what was learnt into the package."""
    path = Path(shape.__file__).with_name(PARAMETERS)
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    shapes, features = json.dumps(SHAPES), json.dumps(FEATURES)
    path.write_text(
        f'{{"shapes": {shapes},\n "features": {features},\n "stumps": [\n{lines}\n]}}\n', "utf-8"
    )
    return path


def retrained() -> Stumps:
    """Train anew, keep what was learnt, and return it."""
    rows = train()
    keep(rows)
    return stumps_from(rows)
