"""Full reports and charts of single pages."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from experiments.web_changes.charts import draw_charts
from experiments.web_changes.data import read_pages, window_batches
from experiments.web_changes.evaluation import figure_rows, paper_figures
from experiments.web_changes.experiment import MeasuredPages, gather_results, measure_real_batch
from experiments.web_changes.page_reports import (
    PageReport,
    half_hourly_figures,
    report_pages,
    report_tables,
)

from freshet.measure.dynamics.terms.divergence import language_of_version, merge_languages
from freshet.view.words import count_words

PART, PAGE = "bbc_front", "https://www.bbc.com/"
VERSIONS, STORIES = 400, 20


def headlines(number: int) -> str:
    """Return a page whose oldest story goes with every version."""
    stories = (f"story{story} about topic{story}" for story in range(number, number + STORIES))
    return "News and weather\n" + "\n".join(stories)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a front page with a new story every half hour, and nothing else."""
    data_folder = tmp_path_factory.mktemp("pages")
    start = datetime(2026, 1, 5, tzinfo=UTC)
    pl.DataFrame({
        "page": [PAGE] * VERSIONS,
        "kind": ["text"] * VERSIONS,
        "time": [start + timedelta(minutes=30 * number) for number in range(VERSIONS)],
        "html": [headlines(number) for number in range(VERSIONS)],
    }).write_parquet(data_folder / f"versions_{PART}.parquet")
    schema = {"part": pl.String, "page": pl.String, "day": pl.Date, "changed": pl.Boolean}
    pl.DataFrame(schema=schema).write_parquet(data_folder / "observations.parquet")
    return data_folder


@pytest.fixture(scope="module")
def measured(folder: Path) -> MeasuredPages:
    return gather_results(
        measure_real_batch(batch.columns()) for batch in window_batches(folder, 1)
    )


@pytest.fixture(scope="module")
def reports(folder: Path, measured: MeasuredPages) -> list[PageReport]:
    others = language_of_version(count_words("and weather about other pages " * 500))
    return report_pages(folder, 1, merge_languages(measured.language, others))


def test_a_front_page_has_the_knot_that_its_stories_give_it(reports: list[PageReport]) -> None:
    figures = report_tables(reports)
    assert figures["fig4", PAGE, "shape"].value == "knotted"
    assert figures["fig4", PAGE, "knot_hours"].value == pytest.approx(STORIES / 2, rel=0.1)


def test_the_words_that_stay_are_those_of_every_version(reports: list[PageReport]) -> None:
    (report,) = reports
    staying = np.flatnonzero(report.study.terms.staying_power > 0.8)
    assert set(report.study.spell_words(staying)) == {"news", "and", "weather", "about"}
    assert "story0" in report.passing


def test_versions_half_an_hour_apart_give_dice_and_no_shares(reports: list[PageReport]) -> None:
    figures = half_hourly_figures(reports)
    assert figures.keys() == {
        ("t2", "32 minutes", "dice_mean"),
        ("t2", "32 minutes", "dice_median"),
    }
    words = 3 + 1 + 2 * STORIES
    assert figures["t2", "32 minutes", "dice_mean"].value == pytest.approx((words - 2) / words)


def test_hourly_pages_are_shown_apart(measured: MeasuredPages) -> None:
    assert (len(measured), len(measured.daily)) == (1, 0)


def test_charts_of_pages_are_small_files(
    folder: Path, measured: MeasuredPages, reports: list[PageReport], tmp_path: Path
) -> None:
    files = draw_charts(tmp_path, figure_rows(paper_figures(), {}, {}), {"real": measured}, reports)
    assert {file.stem for file in files} == {
        "changes-real", "intervals-real", "similarities-real", "survival",
        "curve-bbc-front", "words-bbc-front",
    }  # fmt: skip
    assert all(0 < file.stat().st_size < 150_000 for file in files)


def test_reading_a_batch_twice_gives_the_same_page(folder: Path) -> None:
    (batch,) = window_batches(folder, 1)
    (report,), (two,) = read_pages(batch), read_pages(batch)
    assert np.array_equal(report.texts.version_indices, two.texts.version_indices)
