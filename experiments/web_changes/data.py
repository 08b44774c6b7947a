"""Real page histories, each seen through five weeks of its looks, as in the paper.

A page with daily looks is seen through one window of 36 days, drawn by a seed among those in which
it was observed on at least half of the days; its looks are the ends of the observed days. The few
pages with a version every half hour are seen through their first five weeks. Their versions are the
looks, because the data has no looks without a change.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
import polars as pl

from freshet.archive.importers.parquet import MEDIA_TYPES
from freshet.core.types import FloatArray, IndexArray, Snapshot, View
from freshet.core.version_series import VersionSeries, build_series
from freshet.engine.result_cache import Columns
from freshet.measure.statistics.groups import NO_GROUP, path_depth, top_level_domain
from freshet.view.parse import parse_snapshot
from freshet.view.url import canonical_url, page_address
from freshet.view.words import vocabulary

DAY = 86_400.0
WINDOW_DAYS = 35
MIN_DAYS = 18
ROW_BATCH = 256
HOURLY_PARTS = ("bbc_front", "hn_front", "cdr_home")
# Observed in bursts of a few days, then monthly: too irregular for an hourly or daily grid.
EXCLUDED_PARTS = ("news_de",)
# The URLs were assembled from file names in which hyphens replace slashes.
PARTS_WITHOUT_DEPTH = ("stalker",)


@dataclass(frozen=True, slots=True)
class PageWindow:
    """The part of a page's history to read: the times of its looks and the rows of its file.

    ``rows`` are the rows of the distinct versions; ``shown`` has for each look the index of its
    row.
    """

    part: str
    page: str
    kind: str
    times: tuple[float, ...]
    shown: tuple[int, ...]
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WindowBatch:
    """Windows whose rows lie together in one file."""

    file: str
    windows: tuple[PageWindow, ...]

    def columns(self) -> Columns:
        """Return the batch as engine columns."""
        flat = {
            name: np.array([value for window in self.windows for value in getattr(window, name)])
            for name in ("times", "shown", "rows")
        }
        return flat | {
            "file": np.array([self.file]),
            "part": np.array([window.part for window in self.windows]),
            "page": np.array([window.page for window in self.windows]),
            "kind": np.array([window.kind for window in self.windows]),
            "looks": np.array([len(window.times) for window in self.windows]),
            "versions": np.array([len(window.rows) for window in self.windows]),
        }

    @property
    def first(self) -> int:
        """Return the first row to read."""
        return min(min(window.rows) for window in self.windows)

    @property
    def last(self) -> int:
        """Return the last row to read."""
        return max(max(window.rows) for window in self.windows)


@dataclass(frozen=True, slots=True)
class ObservedPage:
    """A real page for measurement: its words by text, its DOM rows by document.

    ``tld`` and ``depth`` are "none" if the page's id is not a web address; ``visitors`` and
    ``category`` are known in the generated world only.
    """

    part: str
    page: str
    site: str
    tld: str
    depth: str
    texts: VersionSeries
    documents: VersionSeries
    visitors: str = NO_GROUP
    category: str = NO_GROUP


def window_batches(folder: Path, seed: int) -> Iterator[WindowBatch]:
    """Yield the batches of all files in a folder of page histories."""
    for file in sorted(folder.glob("versions_*.parquet")):
        part = file.stem.removeprefix("versions_")
        if part not in EXCLUDED_PARTS:
            days = observed_days(folder, part)
            yield from group_windows(file, list(page_windows(file, part, days, seed)))


def batch_from_columns(columns: Columns) -> WindowBatch:
    """Return the batch from engine columns."""
    looks, versions = np.cumsum(columns["looks"])[:-1], np.cumsum(columns["versions"])[:-1]
    pieces = zip(
        columns["part"].tolist(),
        columns["page"].tolist(),
        columns["kind"].tolist(),
        (tuple(times.tolist()) for times in np.split(columns["times"], looks)),
        (tuple(shown.tolist()) for shown in np.split(columns["shown"], looks)),
        (tuple(rows.tolist()) for rows in np.split(columns["rows"], versions)),
        strict=True,
    )
    return WindowBatch(str(columns["file"][0]), tuple(PageWindow(*piece) for piece in pieces))


def observed_days(folder: Path, part: str) -> Mapping[str, IndexArray]:
    """Return the days on which each page of a part was observed."""
    table = pl.scan_parquet(folder / "observations.parquet").filter(pl.col("part") == part)
    days = table.group_by("page").agg(pl.col("day").to_physical().sort()).collect()
    return {
        page: page_days.to_numpy()
        for page, page_days in zip(days["page"], days["day"], strict=True)
    }


def page_windows(
    file: Path, part: str, days: Mapping[str, IndexArray], seed: int
) -> Iterator[PageWindow]:
    """Yield the window of every page of a file that was observed for long enough."""
    table = pl.scan_parquet(file).select("page", "kind", pl.col("time").dt.epoch("ms"))
    pages = table.with_row_index("row").collect().partition_by("page", maintain_order=True)
    for rows in pages:
        page, kind = rows["page"][0], rows["kind"][0]
        versions = rows["time"].to_numpy() / 1000.0
        looks = versions if part in HOURLY_PARTS else day_ends(days.get(page, np.empty(0)))
        rng = np.random.default_rng([seed, crc32(f"{part} {page}".encode())])
        times = first_weeks(looks) if part in HOURLY_PARTS else draw_five_weeks(looks, rng)
        times = times[times >= versions[0]]
        if len(times):
            row_numbers = rows["row"].to_numpy()[np.searchsorted(versions, times, side="right") - 1]
            distinct, shown = np.unique(row_numbers, return_inverse=True)
            yield PageWindow(
                part, page, kind, tuple(times.tolist()), tuple(shown.tolist()),
                tuple(distinct.tolist()),
            )  # fmt: skip


def day_ends(days: IndexArray) -> FloatArray:
    """Return the last second of each day, given in days since 1970."""
    return np.asarray(days * DAY + DAY - 1)


def first_weeks(looks: FloatArray) -> FloatArray:
    """Return the looks of the first five weeks."""
    return looks[looks <= looks[0] + WINDOW_DAYS * DAY]


def draw_five_weeks(looks: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the looks of a random window of five weeks that has enough looks, else none.

    >>> draw_five_weeks(np.arange(100) * DAY, np.random.default_rng(1)).shape
    (36,)
    >>> draw_five_weeks(np.arange(30) * DAY, np.random.default_rng(1)).shape
    (0,)
    """
    ends_at = np.searchsorted(looks, looks + WINDOW_DAYS * DAY, side="right")
    is_complete = looks + WINDOW_DAYS * DAY <= looks[-1] if len(looks) else np.empty(0, np.bool_)
    start_indices = np.flatnonzero(is_complete & (ends_at - np.arange(len(looks)) >= MIN_DAYS))
    if not len(start_indices):
        return np.empty(0)
    start = int(rng.choice(start_indices))
    return looks[start : ends_at[start]]


def group_windows(file: Path, windows: Sequence[PageWindow]) -> Iterator[WindowBatch]:
    """Yield windows in batches of few rows, so that memory holds one or two row groups."""
    batch: list[PageWindow] = []
    for window in windows:
        if batch and window.rows[-1] - batch[0].rows[0] >= ROW_BATCH:
            yield WindowBatch(str(file), tuple(batch))
            batch = []
        batch.append(window)
    if batch:
        yield WindowBatch(str(file), tuple(batch))


def read_pages(batch: WindowBatch) -> Iterator[ObservedPage]:
    """Read and parse the versions of a batch, page by page."""
    rows = pl.scan_parquet(batch.file).slice(batch.first, batch.last - batch.first + 1)
    html = rows.select("html").collect()["html"]
    for window in batch.windows:
        bodies = html.gather([row - batch.first for row in window.rows]).to_list()
        yield observed_page(window, [view_of(window, body) for body in bodies])


def words_by_term(batch: WindowBatch, page: str) -> Mapping[int, str]:
    """Return the words of a page of a batch by term id."""
    window = next(window for window in batch.windows if window.page == page)
    rows = pl.scan_parquet(batch.file).slice(batch.first, batch.last - batch.first + 1)
    bodies = rows.select("html").collect()["html"].gather([n - batch.first for n in window.rows])
    lines = {line for body in bodies for line in view_of(window, body).text.splitlines()}
    return vocabulary("\n".join(lines))


def view_of(window: PageWindow, body: str) -> View:
    """Return the view of one version."""
    kind = MEDIA_TYPES.get(window.kind, "text/plain")
    headers = (("content-type", f"{kind}; charset=utf-8"),)
    return parse_snapshot(
        Snapshot(window.page, body.encode(), headers=headers), dom=window.kind == "html"
    )


def observed_page(window: PageWindow, views: Sequence[View]) -> ObservedPage:
    """Return a page with its looks; versions that differ only in markup share a text."""
    text_hashes = [view.text_hash for view in views]
    first_with: dict[int, int] = {}
    for number, text in enumerate(text_hashes):
        first_with.setdefault(text, number)
    distinct_texts = list(first_with.values())
    text_of = [distinct_texts.index(first_with[text]) for text in text_hashes]
    url = canonical_url(window.page) or window.page
    return ObservedPage(
        window.part,
        window.page,
        page_address(url).site,
        top_level_domain(url),
        NO_GROUP if window.part in PARTS_WITHOUT_DEPTH else path_depth(url),
        build_series(window.times, [text_of[n] for n in window.shown],
                  [views[number].terms for number in distinct_texts]),
        build_series(window.times, window.shown, [view.terms for view in views],
                  [view.dom for view in views]),
    )  # fmt: skip
