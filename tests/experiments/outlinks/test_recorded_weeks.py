"""Weekly states of recorded pages."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from experiments.outlinks.recorded_weeks import parse_version, read_weeks, week_ends

from freshet.core.errors import BadInputError

PAGE = "https://www.example.org/list"


def write_pages(folder: Path) -> Path:
    pages = folder / "pages"
    pages.mkdir()
    times = [datetime(2026, 8, day, 12, tzinfo=UTC) for day in (12, 21)]
    first = '<p>words here</p><a href="/a">a</a><a href="/list#top">top</a>'
    second = first + '<a href="/b">b</a><a href="https://other.net/">c</a>'
    pl.DataFrame({
        "page": [PAGE, PAGE], "time": times, "html": [first, second], "kind": ["html", "html"],
    }).write_parquet(pages / "versions_stalker.parquet")  # fmt: skip
    pl.DataFrame({
        "page": [PAGE], "day": [times[1].date()], "part": ["stalker"],
    }).write_parquet(pages / "observations.parquet")  # fmt: skip
    return folder


def test_new_links_are_counted_between_weeks(tmp_path: Path) -> None:
    weekly = read_weeks(write_pages(tmp_path), tmp_path / "work")
    steps = weekly.steps
    assert steps.known[0].nonzero()[0].tolist() == [25, 26]
    assert (steps.new_links.internal[0, 26], steps.new_links.external[0, 26]) == (1, 1)
    assert steps.measures.internal_links[0, 25:].tolist() == [1, 2]
    assert np.isnan(steps.new_links.internal[0, 25])
    stored = read_weeks(tmp_path, tmp_path / "work")
    assert stored.parts == ("stalker",)


def test_links_of_markdown_are_read_and_the_page_itself_is_left_out() -> None:
    text = f"[a](/a) [self]({PAGE}#x) <https://other.net/x> https://other.net/y"
    version = parse_version(PAGE, text, "markdown")
    assert (len(version.links), int(version.is_internal.sum())) == (3, 1)


def test_a_page_without_content_has_no_links() -> None:
    assert len(parse_version(PAGE, None, "html").links) == 0


def test_weeks_end_on_the_last_day_of_the_data() -> None:
    assert (len(week_ends()), str(week_ends()[-1])) == (27, "2026-08-22")


def test_a_folder_without_pages_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="has no pages"):
        read_weeks(tmp_path)
