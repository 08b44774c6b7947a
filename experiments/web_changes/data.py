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
from freshet.core.types import Floats, Indices, Snapshot, View
from freshet.core.version_series import Series, series_of
from freshet.engine.result_cache import Columns
from freshet.measure.statistics.groups import NO_GROUP, depth, tld
from freshet.view.parse import look
from freshet.view.url import canonical, place
from freshet.view.words import vocabulary

DAY = 86_400.0
DAYS = 35
LEAST_DAYS = 18
ROWS_AT_ONCE = 256
HOURLY = ("bbc_front", "hn_front", "cdr_home")
# Bursts of a few days, then monthly: neither an hour nor a day grid has a state to show.
LEFT_OUT = ("news_de",)
# Where the URL was put together from a file name, its slashes became hyphens.
NO_DEPTH = ("stalker",)


@dataclass(frozen=True, slots=True)
class Window:
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
class Batch:
    """Some windows whose rows lie together in one file."""

    file: str
    windows: tuple[Window, ...]

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
class Watched:
    """A real page as it is measured: its words by text, its DOM rows by document.

    ``tld`` and ``depth`` are "none" where the page's id is no web address.
    """

    part: str
    page: str
    site: str
    tld: str
    depth: str
    texts: Series
    documents: Series


def batches(folder: Path, seed: int) -> Iterator[Batch]:
    """Yield what is to be read of all files in a folder of page histories."""
    for file in sorted(folder.glob("versions_*.parquet")):
        part = file.stem.removeprefix("versions_")
        if part not in LEFT_OUT:
            days = watched_days(folder, part)
            yield from together(file, list(windows(file, part, days, seed)))


def batch_of(columns: Columns) -> Batch:
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
    return Batch(str(columns["file"][0]), tuple(Window(*piece) for piece in pieces))


def watched_days(folder: Path, part: str) -> Mapping[str, Indices]:
    """Return for each page of a part the days on which it was looked at."""
    table = pl.scan_parquet(folder / "observations.parquet").filter(pl.col("part") == part)
    days = table.group_by("page").agg(pl.col("day").to_physical().sort()).collect()
    return {page: held.to_numpy() for page, held in zip(days["page"], days["day"], strict=True)}


def windows(file: Path, part: str, days: Mapping[str, Indices], seed: int) -> Iterator[Window]:
    """Yield the window of every page of a file that was watched for long enough."""
    table = pl.scan_parquet(file).select("page", "kind", pl.col("time").dt.epoch("ms"))
    pages = table.with_row_index("row").collect().partition_by("page", maintain_order=True)
    for rows in pages:
        page, kind = rows["page"][0], rows["kind"][0]
        versions = rows["time"].to_numpy() / 1000.0
        looks = versions if part in HOURLY else ends(days.get(page, np.empty(0)))
        rng = np.random.default_rng([seed, crc32(f"{part} {page}".encode())])
        times = first_weeks(looks) if part in HOURLY else five_weeks(looks, rng)
        times = times[times >= versions[0]]
        if len(times):
            numbers = rows["row"].to_numpy()[np.searchsorted(versions, times, side="right") - 1]
            distinct, shown = np.unique(numbers, return_inverse=True)
            yield Window(
                part, page, kind, tuple(times.tolist()), tuple(shown.tolist()),
                tuple(distinct.tolist()),
            )  # fmt: skip


def ends(days: Indices) -> Floats:
    """Return the last second of each day, told in days since 1970."""
    return np.asarray(days * DAY + DAY - 1)


def first_weeks(looks: Floats) -> Floats:
    """Return the looks of the first five weeks."""
    return looks[looks <= looks[0] + DAYS * DAY]


def five_weeks(looks: Floats, rng: np.random.Generator) -> Floats:
    """Return the looks of five weeks drawn among those with enough of them; none where none has.

    >>> five_weeks(np.arange(100) * DAY, np.random.default_rng(1)).shape
    (36,)
    >>> five_weeks(np.arange(30) * DAY, np.random.default_rng(1)).shape
    (0,)
    """
    ends_at = np.searchsorted(looks, looks + DAYS * DAY, side="right")
    whole = looks + DAYS * DAY <= looks[-1] if len(looks) else np.empty(0, np.bool_)
    begins = np.flatnonzero(whole & (ends_at - np.arange(len(looks)) >= LEAST_DAYS))
    if not len(begins):
        return np.empty(0)
    begin = int(rng.choice(begins))
    return looks[begin : ends_at[begin]]


def together(file: Path, windows: Sequence[Window]) -> Iterator[Batch]:
    """Yield windows in batches of so few rows that memory holds a row group or two."""
    some: list[Window] = []
    for window in windows:
        if some and window.rows[-1] - some[0].rows[0] >= ROWS_AT_ONCE:
            yield Batch(str(file), tuple(some))
            some = []
        some.append(window)
    if some:
        yield Batch(str(file), tuple(some))


def watched(batch: Batch) -> Iterator[Watched]:
    """Read and view the versions of a batch, page by page."""
    rows = pl.scan_parquet(batch.file).slice(batch.first, batch.last - batch.first + 1)
    html = rows.select("html").collect()["html"]
    for window in batch.windows:
        bodies = html.gather([row - batch.first for row in window.rows]).to_list()
        yield page_of(window, [view_of(window, body) for body in bodies])


def spelling(batch: Batch, page: str) -> Mapping[int, str]:
    """Return the words that a page of a batch showed, by their term id."""
    window = next(window for window in batch.windows if window.page == page)
    rows = pl.scan_parquet(batch.file).slice(batch.first, batch.last - batch.first + 1)
    bodies = rows.select("html").collect()["html"].gather([n - batch.first for n in window.rows])
    lines = {line for body in bodies for line in view_of(window, body).text.splitlines()}
    return vocabulary("\n".join(lines))


def view_of(window: Window, body: str) -> View:
    """Return the view of one version."""
    kind = MEDIA_TYPES.get(window.kind, "text/plain")
    headers = (("content-type", f"{kind}; charset=utf-8"),)
    return look(Snapshot(window.page, body.encode(), headers=headers), dom=window.kind == "html")


def page_of(window: Window, views: Sequence[View]) -> Watched:
    """Return a page as its looks showed it; versions that only differ in markup share a text."""
    hashes = [view.text_hash for view in views]
    first_with: dict[int, int] = {}
    for number, text in enumerate(hashes):
        first_with.setdefault(text, number)
    kept = list(first_with.values())
    text_of = [kept.index(first_with[text]) for text in hashes]
    url = canonical(window.page) or window.page
    return Watched(
        window.part,
        window.page,
        place(url).site,
        tld(url),
        NO_GROUP if window.part in NO_DEPTH else depth(url),
        series_of(window.times, [text_of[n] for n in window.shown],
                  [views[number].terms for number in kept]),
        series_of(window.times, window.shown, [view.terms for view in views],
                  [view.dom for view in views]),
    )  # fmt: skip
