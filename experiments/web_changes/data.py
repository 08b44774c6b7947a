"""Real page histories, each seen through five weeks of its looks, as the paper saw its pages.

A page that is looked at once a day is seen through one window of 36 days, drawn by a seed among
those in which it was watched on at least half of the days: its looks are the ends of the watched
days. The few pages whose versions come every half hour are seen through their first five weeks;
there the versions are the looks, since nothing tells of looks that found no change.
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
# Bursts of a few days, then monthly: neither an hour nor a day grid has a state to show.
EXCLUDED_PARTS = ("news_de",)
# Where the URL was put together from a file name, its slashes became hyphens.
PARTS_WITHOUT_DEPTH = ("stalker",)


@dataclass(frozen=True, slots=True)
class PageWindow:
    """What is to be read of a page: when it was looked at, and which rows of its file it showed.

    ``rows`` are those of the distinct versions, ``shown`` says for each look which of them.
    """

    part: str
    page: str
    kind: str
    times: tuple[float, ...]
    shown: tuple[int, ...]
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WindowBatch:
    """Some windows whose rows lie together in one file."""

    file: str
    windows: tuple[PageWindow, ...]

    def columns(self) -> Columns:
        """Return the batch as an engine takes it."""
        flat = {
            name: np.array([one for window in self.windows for one in getattr(window, name)])
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
        """Return the first row that is needed."""
        return min(min(window.rows) for window in self.windows)

    @property
    def last(self) -> int:
        """Return the last row that is needed."""
        return max(max(window.rows) for window in self.windows)


@dataclass(frozen=True, slots=True)
class ObservedPage:
    """A real page as it is measured: its words by text, its DOM rows by document.

    ``top_level_domain`` and ``path_depth`` are "none" where the page's id is no web address.
    """

    part: str
    page: str
    site: str
    tld: str
    depth: str
    texts: VersionSeries
    documents: VersionSeries


def window_batches(folder: Path, seed: int) -> Iterator[WindowBatch]:
    """Yield what is to be read of all files in a folder of page histories."""
    for file in sorted(folder.glob("versions_*.parquet")):
        part = file.stem.removeprefix("versions_")
        if part not in EXCLUDED_PARTS:
            days = observed_days(folder, part)
            yield from group_windows(file, list(page_windows(file, part, days, seed)))


def batch_from_columns(columns: Columns) -> WindowBatch:
    """Return the batch that columns tell of."""
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
    """Return for each page of a part the days on which it was looked at."""
    table = pl.scan_parquet(folder / "observations.parquet").filter(pl.col("part") == part)
    days = table.group_by("page").agg(pl.col("day").to_physical().sort()).collect()
    return {page: held.to_numpy() for page, held in zip(days["page"], days["day"], strict=True)}


def page_windows(
    file: Path, part: str, days: Mapping[str, IndexArray], seed: int
) -> Iterator[PageWindow]:
    """Yield the window of every page of a file that was watched for long enough."""
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
            numbers = rows["row"].to_numpy()[np.searchsorted(versions, times, side="right") - 1]
            distinct, shown = np.unique(numbers, return_inverse=True)
            yield PageWindow(
                part, page, kind, tuple(times.tolist()), tuple(shown.tolist()),
                tuple(distinct.tolist()),
            )  # fmt: skip


def day_ends(days: IndexArray) -> FloatArray:
    """Return the last second of each day, told in days since 1970."""
    return np.asarray(days * DAY + DAY - 1)


def first_weeks(looks: FloatArray) -> FloatArray:
    """Return the looks of the first five weeks."""
    return looks[looks <= looks[0] + WINDOW_DAYS * DAY]


def draw_five_weeks(looks: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the looks of five weeks drawn among those with enough of them; none where none has.

    >>> draw_five_weeks(np.arange(100) * DAY, np.random.default_rng(1)).shape
    (36,)
    >>> draw_five_weeks(np.arange(30) * DAY, np.random.default_rng(1)).shape
    (0,)
    """
    ends_at = np.searchsorted(looks, looks + WINDOW_DAYS * DAY, side="right")
    whole = looks + WINDOW_DAYS * DAY <= looks[-1] if len(looks) else np.empty(0, np.bool_)
    begins = np.flatnonzero(whole & (ends_at - np.arange(len(looks)) >= MIN_DAYS))
    if not len(begins):
        return np.empty(0)
    begin = int(rng.choice(begins))
    return looks[begin : ends_at[begin]]


def group_windows(file: Path, windows: Sequence[PageWindow]) -> Iterator[WindowBatch]:
    """Yield windows in batches of so few rows that memory holds a row group or two."""
    some: list[PageWindow] = []
    for window in windows:
        if some and window.rows[-1] - some[0].rows[0] >= ROW_BATCH:
            yield WindowBatch(str(file), tuple(some))
            some = []
        some.append(window)
    if some:
        yield WindowBatch(str(file), tuple(some))


def read_pages(batch: WindowBatch) -> Iterator[ObservedPage]:
    """Read and view the versions of a batch, page by page."""
    rows = pl.scan_parquet(batch.file).slice(batch.first, batch.last - batch.first + 1)
    html = rows.select("html").collect()["html"]
    for window in batch.windows:
        bodies = html.gather([row - batch.first for row in window.rows]).to_list()
        yield observed_page(window, [view_of(window, body) for body in bodies])


def words_by_term(batch: WindowBatch, page: str) -> Mapping[int, str]:
    """Return the words that a page of a batch showed, by their term id."""
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
    """Return a page as its looks showed it; versions that only differ in markup share a text."""
    hashes = [view.text_hash for view in views]
    first_with: dict[int, int] = {}
    for number, text in enumerate(hashes):
        first_with.setdefault(text, number)
    kept = list(first_with.values())
    text_of = [kept.index(first_with[text]) for text in hashes]
    url = canonical_url(window.page) or window.page
    return ObservedPage(
        window.part,
        window.page,
        page_address(url).site,
        top_level_domain(url),
        NO_GROUP if window.part in PARTS_WITHOUT_DEPTH else path_depth(url),
        build_series(window.times, [text_of[n] for n in window.shown],
                  [views[number].terms for number in kept]),
        build_series(window.times, window.shown, [view.terms for view in views],
                  [view.dom for view in views]),
    )  # fmt: skip
