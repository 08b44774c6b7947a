"""Daily observations of pages as columns: what traces are made of."""

from pathlib import Path

import numpy as np
import polars as pl

from freshet.archive.importers.base import MAX_LINK_COUNT
from freshet.archive.importers.parquet import refuse_unreadable, scan_file
from freshet.core.errors import BadInputError
from freshet.core.tables import PageDayTable

OBSERVATIONS_FILE = "observations.parquet"
COLUMNS = pl.Schema({
    "part": pl.String(),
    "page": pl.String(),
    "day": pl.Date(),
    "changed": pl.Boolean(),
})
PAGE = ["part", "page"]
LINKS = ("n_new_links_internal", "n_new_links_external")


def read_day_table(path: Path) -> PageDayTable:
    """Read an observations file, or that of a folder; pages stand in order of part and URL."""
    file = path / OBSERVATIONS_FILE if path.is_dir() else path
    if not file.is_file():
        raise BadInputError(
            f"{path}: holds no {OBSERVATIONS_FILE}; give a folder that has one, or the file"
        )
    return refuse_unreadable(file, lambda: _table(_rows(file)))


def _table(rows: pl.LazyFrame) -> PageDayTable:
    """Return rows as columns; the texts of pages are held once each and not row by row."""
    known = rows.select(PAGE).unique().collect(engine="streaming")
    pages = known.sort(PAGE).with_row_index("place")
    placed = rows.join(pages.lazy(), on=PAGE, maintain_order="left").drop(PAGE)
    found = placed.collect(engine="streaming")
    return PageDayTable(
        pages=found["place"].to_numpy().astype(np.int32),
        days=found["day"].to_physical().to_numpy(),
        changed=found["changed"].to_numpy(),
        urls=tuple(pages["page"]),
        parts=tuple(pages["part"]),
        new_links=found["new_links"].to_numpy() if "new_links" in found.columns else None,
    )


def _rows(file: Path) -> pl.LazyFrame:
    """Return the rows that tell part, page, day and whether the page changed, and new links."""
    table = scan_file(file)
    found = table.collect_schema()
    missing = [name for name in COLUMNS if name not in found]
    if missing:
        raise BadInputError(
            f"{file}: lacks the column {', '.join(missing)}; see 'freshet simulate -h'"
        )
    needed = [pl.col(name).cast(kind) for name, kind in COLUMNS.items()]
    links = [_links()] if all(name in found for name in LINKS) else []
    return table.select(*needed, *links).drop_nulls(COLUMNS.names())


def _links() -> pl.Expr:
    """Return how many links are new, of both kinds together; -1 where neither is known."""
    counts = [pl.col(name).cast(pl.Float64).clip(0, MAX_LINK_COUNT) for name in LINKS]
    total = pl.sum_horizontal(counts)
    known = pl.any_horizontal(count.is_not_null() & count.is_not_nan() for count in counts)
    return pl.when(known).then(total.fill_nan(0)).otherwise(-1).cast(pl.Int32).alias("new_links")
