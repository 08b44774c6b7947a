"""The figures of a small part of the real pages are those that were published here."""

import json
import os
from pathlib import Path

import pytest
from experiments.web_changes.data import batches
from experiments.web_changes.evaluation import EXPECTED, by_part, digest
from experiments.web_changes.experiment import gathered, measure_real

DATA = Path(os.environ["FRESHET_DATA"]) / "pages"
PART = "ota_france_snap"
HELD = json.loads(EXPECTED.read_text("utf-8"))
ROWS = [row for row in HELD["rows"] if (row["table"], row["group"]) == ("t1_part", PART)]


def test_the_data_is_that_of_the_published_run() -> None:
    assert digest(DATA) == HELD["digest"]


def test_a_part_gives_the_figures_that_were_kept() -> None:
    wanted = [batch for batch in batches(DATA, HELD["seed"]) if batch.windows[0].part == PART]
    found = by_part(gathered(measure_real(batch.columns()) for batch in wanted))
    assert ROWS
    for row in ROWS:
        value = found[row["table"], row["group"], row["metric"]].value
        assert value == pytest.approx(row["real"], abs=row["tolerance"])
