"""The figures of the paper, the world and the real pages are combined correctly."""

import json
from pathlib import Path

import numpy as np
import pytest
from experiments.web_changes.evaluation import (
    FigureValue,
    as_json,
    as_text,
    digest,
    expected_json,
    figure_rows,
    format_value,
    only_changed,
    paper_figures,
    site_means,
    sub_hour_figures,
)

from freshet.measure.statistics.burst_table import BurstInterval
from freshet.measure.statistics.page_summary import (
    PageFigures,
    concatenate_figures,
    figures_from_columns,
)

KEY = ("t4", "1 week", "mean")


def figures(**columns: list[object]) -> PageFigures:
    """Return the figures of pages of which only some columns are told."""
    count = len(next(iter(columns.values())))
    unknown = {name: np.full(count, np.nan) for name in PageFigures.__dataclass_fields__}
    unknown |= {"shape": np.full(count, ""), "survival": np.full((count, 6), np.nan)}
    return figures_from_columns(unknown | {name: np.array(held) for name, held in columns.items()})


def test_rows_hold_all_three_and_the_number_of_real_pages() -> None:
    (row,) = figure_rows({KEY: 0.917}, {KEY: FigureValue(0.92, 500)}, {KEY: FigureValue(0.98, 40)})
    assert (row.paper, row.world, row.real, row.n, row.n_world) == (0.917, 0.92, 0.98, 40, 500)


def test_a_figure_that_is_not_there_is_none() -> None:
    (row,) = figure_rows({KEY: 0.917}, {KEY: FigureValue(0.92, 500)}, {})
    assert (row.real, row.n) == (None, 500)


def test_the_document_has_the_keys_of_the_issue() -> None:
    told = json.loads(as_json("data", figure_rows({KEY: 0.917}, {}, {})))
    assert told.keys() == {"name", "data", "rows"}
    assert {"table", "group", "metric", "paper", "world", "real", "n"} <= told["rows"][0].keys()


def test_a_table_to_read_has_a_line_for_each_row() -> None:
    assert (
        len(as_text(figure_rows(paper_figures(), {}, {})).splitlines()) == len(paper_figures()) + 1
    )


def test_all_published_tables_are_there() -> None:
    assert {"t1_all", "t1_tld", "t1_depth", "t2", "curves", "t4"} <= {
        key[0] for key in paper_figures()
    }


def test_only_pages_that_changed_have_a_shape_and_words_that_stay() -> None:
    held = figures(changes=[3.0, 0.0, 3.0], shape=["knotted", "flat", "sloped"], stay=[0.5] * 3)
    found = only_changed(held)
    assert found.shape.tolist() == ["knotted", "", "sloped"]
    assert np.isfinite(found.stay).tolist() == [True, False, True]


def test_every_site_counts_once() -> None:
    values = np.array([1.0, 1.0, 1.0, 9.0, np.nan])
    assert site_means(values, np.array(["a", "a", "a", "b", "c"])).tolist() == [1.0, 9.0]
    assert len(site_means(np.empty(0), np.empty(0))) == 0


def test_shares_of_bursts_are_of_all_pages() -> None:
    some = figures(changes=[100.0, 90.0, 1.0, 0.0], compared=[100.0] * 4)
    found = sub_hour_figures([BurstInterval(2, 2, 1.0, 0.5, 0.9, 0.95)], some)
    assert found["t2", "2 minutes", "any"].value == pytest.approx(0.5)
    assert found["t2", "2 minutes", "all"].value == pytest.approx(0.25)
    assert found["t2", "60 minutes", "any"].value == pytest.approx(0.75)
    assert found["t2", "60 minutes", "all"].value == pytest.approx(0.5)


def test_the_digest_differs_for_other_data(tmp_path: Path) -> None:
    (tmp_path / "versions_a.parquet").write_bytes(b"one")
    first = digest(tmp_path)
    (tmp_path / "versions_a.parquet").write_bytes(b"two")
    assert first != digest(tmp_path)


def test_a_table_is_stored_with_tolerances_and_read_again() -> None:
    table = figure_rows(
        {KEY: 0.917}, {KEY: FigureValue(0.9234567, 500)}, {KEY: FigureValue("words", 1)}
    )
    held = json.loads(expected_json(table, seed=1, pages=500, data="abc"))
    (row,) = held["rows"]
    assert (row["paper"], row["world"], row["real"]) == (0.917, 0.923457, "words")
    assert row["tolerance"] == pytest.approx(0.0277, abs=1e-4)
    assert (held["seed"], held["digest"]) == (1, "abc")
    assert held["quick"]["rows"]


def test_figures_are_written_in_few_characters() -> None:
    assert [format_value(value) for value in (None, 0.5, 1.234, 145.4)] == [
        "-",
        ".500",
        "1.23",
        "145",
    ]


def test_no_figures_are_no_pages() -> None:
    assert len(concatenate_figures([])) == 0
