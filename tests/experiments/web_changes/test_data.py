"""Real histories are seen through five weeks of their looks."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from experiments.web_changes.data import (
    DAY,
    MIN_DAYS,
    WINDOW_DAYS,
    PageWindow,
    WindowBatch,
    batch_from_columns,
    draw_five_weeks,
    observed_page,
    read_pages,
    view_of,
    window_batches,
    words_by_term,
)
from hypothesis import given
from hypothesis import strategies as st

FIRST = date(2026, 1, 1)
HTML = PageWindow(
    "part", "https://example.org/a/b", "html", (0.0, DAY, 2 * DAY), (0, 1, 2), (0, 1, 2)
)


def write_pages(folder: Path, part: str, page: str, texts: dict[int, str], days: int) -> None:
    """Write a page that is watched every day and has a new text on some of them."""
    noon = datetime(FIRST.year, FIRST.month, FIRST.day, 12, tzinfo=UTC)
    pl.DataFrame({
        "page": [page] * len(texts),
        "kind": ["text"] * len(texts),
        "time": [noon + timedelta(days=day) for day in texts],
        "html": list(texts.values()),
    }).write_parquet(folder / f"versions_{part}.parquet")
    watched_on = [FIRST + timedelta(days=day) for day in range(1, days)]
    pl.DataFrame({
        "part": [part] * len(watched_on),
        "page": [page] * len(watched_on),
        "day": watched_on,
        "changed": [False] * len(watched_on),
    }).write_parquet(folder / "observations.parquet")


def test_a_page_is_seen_at_the_end_of_every_observed_day(tmp_path: Path) -> None:
    write_pages(tmp_path, "docs", "https://example.org/a", {0: "one", 10: "two", 20: "three"}, 37)
    (batch,) = window_batches(tmp_path, seed=1)
    (page,) = read_pages(batch)
    assert page.texts.version_indices.tolist() == [0] * 9 + [1] * 10 + [2] * 17
    assert (page.tld, page.depth, page.site) == ("org", "1", "example.org")
    assert np.all(np.diff(page.texts.times) == DAY)


def test_a_page_observed_too_briefly_is_left_out(tmp_path: Path) -> None:
    write_pages(tmp_path, "docs", "https://example.org/a", {0: "one", 10: "two"}, WINDOW_DAYS)
    assert list(window_batches(tmp_path, seed=1)) == []


def test_a_part_of_bursts_is_left_out(tmp_path: Path) -> None:
    write_pages(tmp_path, "news_de", "https://example.org/a", {0: "one", 10: "two"}, 60)
    assert list(window_batches(tmp_path, seed=1)) == []


def test_half_hourly_versions_are_looks_themselves(tmp_path: Path) -> None:
    write_pages(tmp_path, "hn_front", "https://example.org/", {0: "one", 1: "two", 90: "three"}, 99)
    (batch,) = window_batches(tmp_path, seed=1)
    assert batch.windows[0].shown == (0, 1)


def test_the_words_of_a_page_are_known_by_term(tmp_path: Path) -> None:
    write_pages(tmp_path, "docs", "https://example.org/a", {0: "Rain today", 10: "Sun"}, 37)
    (batch,) = window_batches(tmp_path, seed=1)
    assert set(words_by_term(batch, "https://example.org/a").values()) == {"rain", "today", "sun"}


def test_markup_alone_makes_a_document_and_no_text() -> None:
    bodies = ("<p>rain", "<div><p>rain</div>", "<p>sun")
    page = observed_page(HTML, [view_of(HTML, body) for body in bodies])
    assert page.texts.version_indices.tolist() == [0, 0, 1]
    assert page.documents.version_indices.tolist() == [0, 1, 2]
    assert all(dom is not None for dom in page.documents.doms)


@pytest.mark.parametrize("page", ["ota:Service/Terms of Use.md", "stalker:sites/a.html"])
def test_ids_that_are_no_addresses_have_no_domain_and_no_depth(page: str) -> None:
    window = PageWindow("part", page, "text", (0.0,), (0,), (0,))
    found = observed_page(window, [view_of(window, "rain")])
    assert (found.tld, found.depth) == ("none", "none")


def test_a_batch_comes_back_from_its_columns() -> None:
    other = PageWindow("part", "https://example.org/c", "text", (5.0,), (0,), (9,))
    batch = WindowBatch("versions_part.parquet", (HTML, other))
    assert batch_from_columns(batch.columns()) == batch
    assert (batch.first, batch.last) == (0, 9)


@given(st.sets(st.integers(0, 150)), st.integers(0, 2**32))
def test_a_window_holds_enough_looks_of_five_weeks_or_none(days: set[int], seed: int) -> None:
    looks = np.array(sorted(days), np.float64) * DAY
    found = draw_five_weeks(looks, np.random.default_rng(seed))
    assert np.all(np.isin(found, looks))
    assert not len(found) or (len(found) >= MIN_DAYS and found[-1] - found[0] <= WINDOW_DAYS * DAY)
