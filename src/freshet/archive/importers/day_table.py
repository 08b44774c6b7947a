"""Read daily observations of pages as columns, for traces."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from freshet.archive.importers.base import LINK_KINDS, MAX_LINK_COUNT, OBSERVATIONS_FILE
from freshet.archive.importers.parquet import parquet_errors, scan_file
from freshet.core.errors import BadInputError
from freshet.core.tables import PageDayTable
from freshet.core.types import IndexArray

COLUMNS = pl.Schema({
    "part": pl.String(),
    "page": pl.String(),
    "day": pl.Date(),
    "changed": pl.Boolean(),
})
PAGE_KEY = ["part", "page"]
PAGE_LINKS_COLUMN = "n_links"


def read_day_table(path: Path, *, links: str = "all") -> PageDayTable:
    """Read an observations file, or the one in a folder; pages are sorted by part and URL.

    ``links`` says which new links count: one of LINK_KINDS.
    """
    file = path / OBSERVATIONS_FILE if path.is_dir() else path
    if not file.is_file():
        raise BadInputError(
            f"{path}: contains no {OBSERVATIONS_FILE}; give a folder that has one, or the file"
        )
    with parquet_errors(file):
        return _build_table(_select_rows(file, LINK_KINDS[links]))


def _build_table(rows: pl.LazyFrame) -> PageDayTable:
    """Return rows as columns; URLs and parts are stored once per page."""
    distinct_pages = rows.select(PAGE_KEY).unique().collect(engine="streaming")
    pages = distinct_pages.sort(PAGE_KEY).with_row_index("page_index")
    indexed_rows = rows.join(pages.lazy(), on=PAGE_KEY, maintain_order="left").drop(PAGE_KEY)
    table = indexed_rows.collect(engine="streaming")
    return PageDayTable(
        pages=table["page_index"].to_numpy().astype(np.int32),
        days=table["day"].to_physical().to_numpy(),
        changed=table["changed"].to_numpy(),
        urls=tuple(pages["page"]),
        parts=tuple(pages["part"]),
        new_links=_column(table, "new_links"),
        page_links=_column(table, "page_links"),
    )


def _column(table: pl.DataFrame, name: str) -> IndexArray | None:
    return table[name].to_numpy() if name in table.columns else None


def _select_rows(file: Path, link_columns: Sequence[str]) -> pl.LazyFrame:
    """Return the rows with part, page, day and changed, and numbers of links if it has them."""
    table = scan_file(file)
    schema = table.collect_schema()
    missing = [name for name in COLUMNS if name not in schema]
    if missing:
        raise BadInputError(
            f"{file}: has no column {', '.join(missing)}; see 'freshet simulate -h'"
        )
    required = [pl.col(name).cast(data_type) for name, data_type in COLUMNS.items()]
    links = []
    if all(name in schema for name in link_columns):
        links.append(_sum_expression(link_columns).alias("new_links"))
    if PAGE_LINKS_COLUMN in schema:
        links.append(_sum_expression([PAGE_LINKS_COLUMN]).alias("page_links"))
    return table.select(*required, *links).drop_nulls(COLUMNS.names())


def _sum_expression(columns: Sequence[str]) -> pl.Expr:
    """Return the sum of numbers of links; -1 if none is known."""
    counts = [pl.col(name).cast(pl.Float64).clip(0, MAX_LINK_COUNT) for name in columns]
    total = pl.sum_horizontal(counts)
    any_known = pl.any_horizontal(count.is_not_null() & count.is_not_nan() for count in counts)
    return pl.when(any_known).then(total.fill_nan(0)).otherwise(-1).cast(pl.Int32)
