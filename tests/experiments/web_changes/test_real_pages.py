"""The figures of a small part of the real pages are those that were published here."""

import json
import os
from pathlib import Path

import pytest
from experiments.web_changes.data import window_batches
from experiments.web_changes.evaluation import EXPECTED, digest, figures_by_part
from experiments.web_changes.experiment import gather_results, measure_real_batch

DATA = Path(os.environ["FRESHET_DATA"]) / "pages"
PART = "ota_france_snap"
HELD = json.loads(EXPECTED.read_text("utf-8"))
ROWS = [row for row in HELD["rows"] if (row["table"], row["group"]) == ("t1_part", PART)]


def test_the_data_is_that_of_the_published_run() -> None:
    assert digest(DATA) == HELD["digest"]


def test_a_part_gives_the_stored_figures() -> None:
    wanted = [
        batch for batch in window_batches(DATA, HELD["seed"]) if batch.windows[0].part == PART
    ]
    figures = figures_by_part(
        gather_results(measure_real_batch(batch.columns()) for batch in wanted)
    )
    assert ROWS
    for row in ROWS:
        value = figures[row["table"], row["group"], row["metric"]].value
        assert value == pytest.approx(row["real"], abs=row["tolerance"])
