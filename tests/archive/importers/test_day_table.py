"""Daily observations as columns."""

from datetime import date
from pathlib import Path

import polars as pl
import pytest

from freshet.archive.importers.day_table import read_day_table
from freshet.core.errors import BadInputError


def write(path: Path, **columns: list[object]) -> Path:
    pl.DataFrame(columns).write_parquet(path)
    return path


def test_pages_are_sorted_by_part_and_url(tmp_path: Path) -> None:
    file = write(
        tmp_path / "observations.parquet",
        part=["b", "a", "a", "a"],
        page=["x", "y", "x", "y"],
        day=[date(1970, 1, 3), date(1970, 1, 2), date(1970, 1, 4), date(1970, 1, 1)],
        changed=[True, False, True, False],
    )
    for path in (tmp_path, file):
        table = read_day_table(path)
        assert list(zip(table.parts, table.urls, strict=True)) == [
            ("a", "x"), ("a", "y"), ("b", "x"),
        ]  # fmt: skip
        assert table.pages.tolist() == [2, 1, 0, 1]
        assert table.days.tolist() == [2, 1, 3, 0]
        assert table.changed.tolist() == [True, False, True, False]


def test_incomplete_rows_are_skipped(tmp_path: Path) -> None:
    file = write(
        tmp_path / "some.parquet",
        part=["a", None, "a"],
        page=["x", "x", "y"],
        day=[date(2026, 1, 1), date(2026, 1, 1), date(2026, 1, 2)],
        changed=[1, 0, None],
    )
    table = read_day_table(file)
    assert (len(table), table.urls, table.changed.tolist()) == (1, ("x",), [True])


def test_a_file_without_days_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "o.parquet", part=["a"], page=["x"], day=["soon"], changed=[True])
    with pytest.raises(BadInputError, match=r"o\.parquet"):
        read_day_table(file)
