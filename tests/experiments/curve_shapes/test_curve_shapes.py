"""Stumps classify curves they were not trained on, those of the package and new ones."""

import json
from pathlib import Path

import numpy as np
import pytest
from experiments.curve_shapes import experiment
from experiments.curve_shapes.__main__ import as_json, as_table
from experiments.curve_shapes.boost import logit_boost
from experiments.curve_shapes.data import (
    CLOSE_MIXTURE,
    EVEN_MIXTURE,
    LabelledCurves,
    concatenate_curves,
    label_curves,
)
from experiments.curve_shapes.evaluation import ShapeRow, evaluate, near_share
from experiments.curve_shapes.mixture import WEB_CURVES

from freshet.measure.dynamics.curve.shape import SHAPES, stump_model_from_rows

PAPER = 0.93
KEPT = Path(experiment.__file__).with_name("expected.json")
EXPECTED = [row for row in json.loads(KEPT.read_text("utf-8"))["rows"] if row["floor"]]


@pytest.fixture(scope="module")
def even() -> LabelledCurves:
    return label_curves(EVEN_MIXTURE, 60, seed=2001)


def test_the_stumps_of_the_package_classify_shapes_as_well_as_the_paper(
    even: LabelledCurves,
) -> None:
    others = concatenate_curves(
        label_curves(WEB_CURVES, 40, seed=2002), label_curves(CLOSE_MIXTURE, 40, seed=2003)
    )
    assert evaluate("even", even).accuracy >= PAPER
    assert evaluate("others", others).accuracy >= PAPER


@pytest.mark.parametrize("bound", EXPECTED, ids=lambda row: row["metric"])
def test_no_figure_falls_below_its_floor(
    even: LabelledCurves, bound: dict[str, float | str]
) -> None:
    assert getattr(evaluate("even", even), str(bound["metric"])) >= bound["floor"]


def test_stumps_trained_on_few_curves_classify_others(even: LabelledCurves) -> None:
    first, second = slice(0, 40), slice(40, 60)
    rows = logit_boost(even.features[first], even.labels[first], len(SHAPES), 10)
    held = LabelledCurves(*(column[second] for column in columns(even)))
    assert evaluate("held out", held, stump_model_from_rows(rows)).accuracy >= 0.85


def columns(curves: LabelledCurves) -> tuple[np.ndarray, ...]:
    return tuple(getattr(curves, name) for name in LabelledCurves.__dataclass_fields__)


def test_boosting_learns_a_threshold_and_a_sum_of_two() -> None:
    rng = np.random.default_rng(1)
    seen = rng.random((400, 3))
    labels = (seen[:, 0] + seen[:, 2] > 1).astype(int)
    stumps = stump_model_from_rows(logit_boost(seen, labels, 3, 30))
    told = [int(np.argmax(stumps.probabilities(row))) for row in seen]
    assert np.mean(told == labels) > 0.93
    assert 1 not in stumps.features[:6]


def test_a_knot_that_is_not_found_is_not_near() -> None:
    knotted = SHAPES.index("knotted")
    found = np.array([100.0, 109.0, 112.0, np.nan])
    planted, nothing = np.full(4, 100.0), np.full(4, np.nan)
    curves = LabelledCurves(np.zeros((4, 1)), np.full(4, knotted), planted, found, nothing, planted)
    assert near_share(curves, curves.found_knots) == 0.5
    assert near_share(curves, curves.knots_over_time) == 0.0
    assert near_share(curves, curves.knots_by_paper) == 1.0


def test_the_exact_search_finds_more_knots_than_the_paper_and_the_own_clock_most(
    even: LabelledCurves,
) -> None:
    row = evaluate("even", even)
    assert row.near > row.near_over_time > row.near_by_paper


def test_rows_are_printed_as_a_table_and_as_json() -> None:
    rows = [ShapeRow("web 1", 10, 0.95, None, 0.9, 0.95, 0.9, 0.7, 0.1)]
    assert '"accuracy": 0.95' in as_json(rows)
    assert '"name": "curve_shapes"' in as_json(rows)
    assert '"flat": null' in as_json(rows)
    assert "0.950" in as_table(rows)
