"""A table of numbers and names as CSV, Parquet or JSON, by how its file is called."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from freshet.core.errors import UsageError
from freshet.core.partial_files import atomic_output

WRITERS: Mapping[str, Callable[[pl.DataFrame, Path], None]] = {
    ".csv": lambda table, path: table.write_csv(path),
    ".parquet": lambda table, path: table.write_parquet(path),
    ".json": lambda table, path: table.write_json(path),
}


def check_table_path(path: Path) -> None:
    """Refuse a file that is called like no kind of table, or that has no folder."""
    if path.suffix not in WRITERS:
        raise UsageError(f"{path}: a table's name ends in {', '.join(WRITERS)}; call it so")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"{path} is no file that can be written; choose another place")


def write(path: Path, columns: Mapping[str, Sequence[Any]]) -> int:
    """Write columns, a number that is none as nothing; return how many rows there were."""
    check_table_path(path)
    table = pl.DataFrame(columns)
    table = table.with_columns(pl.selectors.float().fill_nan(None))
    with atomic_output(path) as part:
        WRITERS[path.suffix](table, part)
    return len(table)
