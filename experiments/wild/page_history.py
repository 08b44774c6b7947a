"""Recorded versions of real pages: read from the data folder, and drawn at random by site."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl

from freshet.core.clock import to_epoch
from freshet.core.errors import BadInputError

SPRING_PARTS = (
    "ota_contrib_snap", "ota_contrib_snap_b", "ota_contrib_snap_c", "ota_contrib_snap_d",
    "ota_france_snap", "claude_docs", "gdocs_spanner",
)  # fmt: skip
CONTINUATION_SUFFIXES = ("_b", "_c", "_d")
MIN_VERSIONS = 2


@dataclass(frozen=True, slots=True)
class PageHistory:
    """The versions of one page: when each appeared, in epoch seconds, its text and its body.

    ``texts`` identify the visible texts; two versions may have equal texts. ``bodies`` is empty if
    only the times are needed.
    """

    site: str
    name: str
    times: tuple[float, ...]
    texts: tuple[str, ...]
    bodies: tuple[bytes, ...] = ()
    is_markdown: bool = False

    def version_at(self, time: float) -> int:
        """Return the version that is served at a time; before the first version, the first."""
        return max(0, bisect_right(self.times, time) - 1)

    def text_changes(self, start: float, end: float) -> list[float]:
        """Return the times after ``start`` and before ``end`` at which the text changed."""
        return [
            time
            for version, time in enumerate(self.times)
            if version and start < time < end and self.texts[version] != self.texts[version - 1]
        ]


def site_of_part(part: str) -> str:
    """Return the source of a part of the data; continuations belong to the part before.

    >>> site_of_part("ota_contrib_snap_c"), site_of_part("claude_docs")
    ('ota_contrib_snap', 'claude_docs')
    """
    return part[:-2] if part.endswith(CONTINUATION_SUFFIXES) else part


def recorded_pages(
    folder: Path, start: datetime, parts: Sequence[str] = SPRING_PARTS
) -> list[tuple[str, str]]:
    """Return part and name of the pages with a version by ``start`` and two versions in all."""
    return [
        (part, page)
        for part in parts
        for page in _pages_of_part(_versions_file(folder, part), start)
    ]


def read_histories(
    folder: Path,
    pages: Sequence[tuple[str, str]],
    start: datetime,
    days: float,
    *,
    with_bodies: bool = True,
) -> list[PageHistory]:
    """Read the versions of pages that are served from ``start`` on, for so many days."""
    span = (start, start + timedelta(days=days))
    histories: dict[tuple[str, str], PageHistory] = {}
    for part in dict.fromkeys(part for part, _ in pages):
        names = [page for page_part, page in pages if page_part == part]
        path = _versions_file(folder, part)
        for page, table in _version_tables(path, names, with_bodies=with_bodies):
            histories[part, page] = _history(part, page, table, span)
    return [histories[page] for page in pages]


def sample_by_site(
    pages: Sequence[tuple[str, str]], count: int, *, seed: int
) -> list[tuple[str, str]]:
    """Draw pages at random; every site keeps its share of them, rounded.

    >>> pages = [("claude_docs", str(n)) for n in range(9)] + [("gdocs_spanner", "0")] * 3
    >>> [part for part, _ in sample_by_site(pages, 4, seed=1)]
    ['claude_docs', 'claude_docs', 'claude_docs', 'gdocs_spanner']
    """
    if count >= len(pages):
        return list(pages)
    rng = np.random.default_rng(seed)
    sites = np.array([site_of_part(part) for part, _ in pages])
    names, sizes = np.unique(sites, return_counts=True)
    shares = sizes * count / len(pages)
    counts = shares.astype(int)
    remainders = np.argsort(counts - shares, kind="stable")
    counts[remainders[: count - counts.sum()]] += 1
    drawn = [
        rng.choice(np.flatnonzero(sites == name), size, replace=False)
        for name, size in zip(names, counts, strict=True)
    ]
    return [pages[index] for index in np.sort(np.concatenate(drawn))]


def _versions_file(folder: Path, part: str) -> Path:
    path = folder / f"versions_{part}.parquet"
    if not path.is_file():
        raise BadInputError(
            f"{path} does not exist; give the folder that holds pages/versions_*.parquet"
        )
    return path


def _pages_of_part(path: Path, start: datetime) -> list[str]:
    table = pl.scan_parquet(path).group_by("page").agg(pl.col("time").min(), pl.len()).collect()
    is_recorded = (pl.col("time") <= start) & (pl.col("len") >= MIN_VERSIONS)
    return sorted(table.filter(is_recorded)["page"])


def _version_tables(
    path: Path, names: Sequence[str], *, with_bodies: bool
) -> Iterator[tuple[str, pl.DataFrame]]:
    columns = ["page", "time", "kind", "text_hash", *(["html"] if with_bodies else [])]
    versions = pl.scan_parquet(path).select(columns).filter(pl.col("page").is_in(list(names)))
    for (page,), table in versions.collect().group_by(["page"]):
        yield str(page), table.sort("time")


def _history(
    part: str, page: str, table: pl.DataFrame, span: tuple[datetime, datetime]
) -> PageHistory:
    """Return a page's versions from the one served at the start of a span to its end."""
    times = [to_epoch(time) for time in table["time"]]
    start, end = map(to_epoch, span)
    first = max(0, bisect_right(times, start) - 1)
    served = table[first : bisect_right(times, end)]
    bodies = served["html"] if "html" in served.columns else ()
    return PageHistory(
        site_of_part(part),
        page,
        tuple(map(to_epoch, served["time"])),
        tuple(served["text_hash"]),
        tuple((html or "").encode("utf-8", "replace") for html in bodies),
        is_markdown=table["kind"][0] == "markdown",
    )
