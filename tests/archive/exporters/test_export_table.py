"""Export of tables in the format of the file's suffix."""

from math import nan
from pathlib import Path

import polars as pl
import pytest

from freshet.archive.exporters.table import check_table_path, write
from freshet.core.errors import UsageError

COLUMNS = {"policy": ["age", "t * X, or so"], "cycle": [2, 3], "ndcg": [0.5, nan]}


@pytest.mark.parametrize("suffix", ["csv", "parquet", "json"])
def test_a_table_is_read_as_it_was_written(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"table.{suffix}"
    assert write(file, COLUMNS) == 2
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "json": pl.read_json}[suffix]
    assert read(file).rows() == [("age", 2, 0.5), ("t * X, or so", 3, None)]
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_an_existing_file_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("something else")
    write(file, {"cycle": [1]})
    assert file.read_text() == "cycle\n1\n"


@pytest.mark.parametrize("name", ["table", "table.txt", "no/table.csv", "folder.csv"])
def test_an_unsuitable_path_for_a_table_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(UsageError, match=name):
        check_table_path(tmp_path / name)
