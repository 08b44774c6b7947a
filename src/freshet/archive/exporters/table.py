"""Export a table as CSV, Parquet or JSON, selected by the suffix of the file name."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from freshet.core.errors import UsageError
from freshet.core.files import atomic_output

WRITERS: Mapping[str, Callable[[pl.DataFrame, Path], None]] = {
    ".csv": lambda table, path: table.write_csv(path),
    ".parquet": lambda table, path: table.write_parquet(path),
    ".json": lambda table, path: table.write_json(path),
}


def check_table_path(path: Path) -> None:
    """Raise an error if the suffix is unknown or the folder does not exist."""
    if path.suffix not in WRITERS:
        raise UsageError(f"{path}: the file name must end in {', '.join(WRITERS)}")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"{path} cannot be written; choose another path")


def write(path: Path, columns: Mapping[str, Sequence[Any]]) -> int:
    """Write columns, with NaN as null; return the number of rows."""
    check_table_path(path)
    table = pl.DataFrame(columns)
    table = table.with_columns(pl.selectors.float().fill_nan(None))
    with atomic_output(path) as partial_path:
        WRITERS[path.suffix](table, partial_path)
    return len(table)
