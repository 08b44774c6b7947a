"""The recorded versions of pages, read from Parquet files a few pages at a time."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

PAGES_PER_BATCH = 16


def page_versions(path: Path, column: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the versions of each page in time order: page, time, HTML and one more column."""
    versions = pl.scan_parquet(path)
    names = versions.select(pl.col("page").unique().sort()).collect()["page"].to_list()
    for start in range(0, len(names), PAGES_PER_BATCH):
        batch = names[start : start + PAGES_PER_BATCH]
        columns = versions.filter(pl.col("page").is_in(batch)).select(
            "page", "time", "html", column
        )
        tables = columns.collect().partition_by("page", as_dict=True)
        for page in batch:
            yield page, tables[page,].sort("time")
