"""Export of visits and changes as Parquet."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from freshet.archive.exporters import parquet
from freshet.archive.exporters.base import ChangeRow, VisitRow
from freshet.core.types import Change, Outcome, Page, RecordLocation, Visit

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
PAGE = Page(1, "https://www.a.org:8443/b?c", "shop", "www.a.org:8443", "a.org", "", NOON)
AT = RecordLocation("a.warc.gz", 333, 1043)
LOOK = Visit(bytes(16), 1, NOON, Outcome.OK, 200, 5, bytes(20), "text/html", AT)


def test_a_visit_has_the_columns_of_common_crawl_and_ours(tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    assert parquet.write_visits(path, [VisitRow(PAGE, LOOK, "eng")]) == 1
    assert pl.read_parquet(path).row(0, named=True) == {
        "url": "https://www.a.org:8443/b?c",
        "url_host_name": "www.a.org",
        "url_host_registered_domain": "a.org",
        "url_path": "/b",
        "source": "shop",
        "fetch_time": NOON,
        "fetch_status": 200,
        "content_digest": "A" * 32,
        "content_mime_type": "text/html",
        "content_languages": "eng",
        "warc_filename": "a.warc.gz",
        "warc_record_offset": 333,
        "warc_record_length": 1043,
        "outcome": "ok",
        "content_length": 5,
        "final_url": None,
        "revisit": False,
        "uid": bytes(16),
    }


def test_a_visit_without_a_record_has_no_location(tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    parquet.write_visits(path, [VisitRow(PAGE, Visit(bytes(16), 1, NOON, Outcome.TIMEOUT))])
    row = pl.read_parquet(path).row(0, named=True)
    assert row["outcome"] == "timeout"
    assert {row[name] for name in row if name.startswith("warc_")} == {None}


def test_unknown_values_of_a_change_are_null(tmp_path: Path) -> None:
    path = tmp_path / "changes.parquet"
    change = Change(True, 3, text=True, links=True, dice=0.5, new_links=("https://a.org/n",))
    assert parquet.write_changes(path, [ChangeRow(PAGE, LOOK, change)]) == 1
    row = pl.read_parquet(path).row(0, named=True)
    assert (row["changed"], row["mask"], row["text"], row["dice"]) == (True, 3, True, 0.5)
    assert row["structure"] is None
    assert row["new_links"] == ["https://a.org/n"]
    assert row["removed_links"] == []


def test_no_rows_give_a_table_with_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    assert parquet.write_visits(path, []) == 0
    assert pl.read_parquet(path).schema == parquet.VISIT_SCHEMA


def test_rows_stay_in_order_across_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "BATCH_ROWS", 3)
    path = tmp_path / "visits.parquet"
    times = [NOON.replace(minute=minute) for minute in range(20)]
    rows = (VisitRow(PAGE, Visit(bytes(16), 1, time, Outcome.OK)) for time in times)
    assert parquet.write_visits(path, rows) == 20
    assert pl.read_parquet(path)["fetch_time"].to_list() == times
    assert list(tmp_path.iterdir()) == [path]


def _broken() -> Iterator[VisitRow]:
    yield VisitRow(PAGE, LOOK)
    raise KeyboardInterrupt


def test_a_failure_half_way_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        parquet.write_visits(tmp_path / "visits.parquet", _broken())
    assert list(tmp_path.iterdir()) == []
