"""Daily observations of pages as columns: what traces are made of."""

from pathlib import Path

import numpy as np
import polars as pl

from freshet.archive.importers.parquet import guarded, scan
from freshet.core.errors import BadInput
from freshet.core.tables import DayTable

FILE = "observations.parquet"
COLUMNS = pl.Schema({
    "part": pl.String(),
    "page": pl.String(),
    "day": pl.Date(),
    "changed": pl.Boolean(),
})


def read_days(path: Path) -> DayTable:
    """Read an observations file, or that of a folder; pages stand in order of part and URL."""
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        raise BadInput(f"{path}: holds no {FILE}; give a folder that has one, or the file")
    rows = guarded(file, lambda: _rows(file))
    pages = rows.select("part", "page").unique().sort("part", "page").with_row_index("place")
    placed = rows.join(pages, on=["part", "page"], maintain_order="left")
    return DayTable(
        pages=placed["place"].to_numpy().astype(np.int32),
        days=placed["day"].to_physical().to_numpy(),
        changed=placed["changed"].to_numpy(),
        urls=tuple(pages["page"]),
        parts=tuple(pages["part"]),
    )


def _rows(file: Path) -> pl.DataFrame:
    """Return the rows that tell part, page, day and whether the page changed."""
    table = scan(file)
    missing = [name for name in COLUMNS if name not in table.collect_schema()]
    if missing:
        raise BadInput(f"{file}: lacks the column {', '.join(missing)}; see 'freshet simulate -h'")
    return table.select(COLUMNS.names()).cast(COLUMNS).drop_nulls().collect()
