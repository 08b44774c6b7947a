"""A Parquet file with one version."""

from datetime import UTC, datetime
from pathlib import Path

import polars as pl

VERSION = {
    "source": ["shop"],
    "page": ["https://a.org/"],
    "time": [datetime(2024, 1, 1, tzinfo=UTC)],
    "html": [b"<p>hello</p>"],
    "kind": ["html"],
    "commit": ["1"],
}


def sample(folder: Path) -> Path:
    """Write the input into a folder, and return what to read."""
    path = folder / "versions_shop.parquet"
    pl.DataFrame(VERSION).write_parquet(path)
    return path
