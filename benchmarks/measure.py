"""Comparing two versions of a page, against parsing one of them once.

Real versions are read from the folder that FRESHET_DATA names; without it pages are generated.
"""

import os
import statistics
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from resiliparse.parse.html import HTMLTree

from benchmarks.report import Result, report
from freshet.core.clock import stopwatch
from freshet.core.types import Snapshot, View
from freshet.measure.change import compare
from freshet.view.look import look

PAGES = 150
ROUNDS = 7
Versions = tuple[bytes, bytes]


def read_versions(folder: Path) -> list[Versions]:
    """Return the first two versions of many real pages."""
    files = sorted((folder / "pages").glob("versions_ota_*_snap_*.parquet"))
    rows = pl.scan_parquet(files).filter(pl.col("kind") == "html").select("page", "html")
    pages = rows.group_by("page", maintain_order=True).head(2).collect().partition_by("page")
    pairs = [page["html"].to_list() for page in pages if len(page) == 2]
    return [(old.encode(), new.encode()) for old, new in pairs[:PAGES]]


def generate_versions(rng: np.random.Generator) -> list[Versions]:
    """Return two versions of pages made of numbered words and links, forty words replaced."""
    texts = [[f"word{n}" for n in rng.integers(0, 1500, 4000)] for _ in range(PAGES)]
    fresh = [f"fresh{n}" for n in range(40)]
    return [(_page(words), _page(words[:2000] + fresh + words[2040:])) for words in texts]


def _page(words: list[str]) -> bytes:
    lines = (words[start : start + 20] for start in range(0, len(words), 20))
    blocks = (
        f'<p class="text"><a href="/{line[0]}">more</a> {" ".join(line)}</p>' for line in lines
    )
    return f"<html><body>{''.join(blocks)}</body></html>".encode()


def seconds(work: Callable[[], object]) -> float:
    """Return how long a piece of work takes."""
    started = stopwatch()
    work()
    return stopwatch() - started


def measure(versions: list[Versions]) -> Result:
    """Return the time of a comparison and of a parse, medians of rounds that alternate."""
    views = [(_view(old), _view(new)) for old, new in versions]
    found = [compare(old, new) for old, new in views]
    if not any(change.text for change in found):
        raise SystemExit("measure: no version differs from the one before; nothing was compared")
    ours, reference = [], []
    for _ in range(ROUNDS):
        ours.append(seconds(lambda: [compare(old, new) for old, new in views]))
        reference.append(seconds(lambda: [HTMLTree.parse_from_bytes(old) for old, _ in versions]))
    scale = 1e6 / len(versions)
    return Result(
        "measure",
        statistics.median(ours) * scale,
        statistics.median(reference) * scale,
        "microseconds",
    )


def _view(body: bytes) -> View:
    return look(Snapshot("https://example.org/", body, 200, (("content-type", "text/html"),)))


def main() -> None:
    """Print the benchmark's ratio."""
    folder = os.environ.get("FRESHET_DATA")
    versions = (
        read_versions(Path(folder)) if folder else generate_versions(np.random.default_rng(1))
    )
    report(measure(versions))


if __name__ == "__main__":
    main()
