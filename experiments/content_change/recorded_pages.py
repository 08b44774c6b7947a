"""Reads the daily versions of real pages into a content grid."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
from xxhash import xxh3_64_intdigest

from experiments.page_versions import page_versions
from freshet.core.content.content_grid import NO_VERSION, ContentGrid, find_link_targets
from freshet.core.content.sparse_rows import SparseRows, count_rows
from freshet.core.errors import BadInputError
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.tables import DAY_SECONDS
from freshet.core.types import HashArray, IndexArray, Snapshot, TermCounts
from freshet.engine.result_cache import Columns, ResultCache
from freshet.view.parse import parse_snapshot
from freshet.view.url import page_address

SNAPSHOT_FILES = ("versions_ota_contrib_snap*.parquet", "versions_ota_france_snap*.parquet")
OBSERVATIONS = "observations.parquet"
CACHE_VERSION = "content grid 2"
HTML_TYPE = (("content-type", "text/html; charset=utf-8"),)


@dataclass(frozen=True, slots=True)
class RecordedVersion:
    """The content of one distinct version of a page."""

    text_hash: int
    terms: TermCounts
    links: TermCounts


@dataclass(slots=True)
class VersionTable:
    """The distinct versions of all pages read so far; a page's equal versions share a row."""

    rows: list[RecordedVersion]
    pages: list[str]
    steps: list[IndexArray]


def snapshot_files(folder: Path) -> list[Path]:
    """Return the files of daily snapshots in a data folder or in its folder ``pages``."""
    pages = folder / "pages" if (folder / "pages").is_dir() else folder
    files = sorted(path for pattern in SNAPSHOT_FILES for path in pages.glob(pattern))
    if not files:
        raise BadInputError(
            f"{folder} has no pages/{SNAPSHOT_FILES[0]}; give the folder in which pages/ lies"
        )
    return files


def read_grid(
    folder: Path, work: Path | None = None, progress: ProgressCallback = ignore_progress
) -> ContentGrid:
    """Read the pages of a data folder; with a folder for work, parse them only once."""
    files = snapshot_files(folder)
    cache = ResultCache(work, CACHE_VERSION) if work else None
    key = {
        "files": np.array([path.name for path in files]),
        "sizes": np.array([path.stat().st_size for path in files]),
    }
    stored = cache.get(key) if cache else None
    if stored is None:
        stored = grid_columns(_parse_files(files, progress))
        if cache:
            cache.put(key, stored)
    return grid_of_columns(stored)


def grid_columns(grid: ContentGrid) -> Columns:
    """Return a grid as columns."""
    return {
        "page_names": np.array(grid.page_names),
        "hosts": grid.hosts,
        "times": grid.times,
        "versions": grid.versions,
        "vocabulary": grid.vocabulary,
        "text_hashes": grid.text_hashes,
        "term_starts": grid.terms.starts,
        "term_columns": grid.terms.columns,
        "term_values": grid.terms.values.astype(np.float32),
        "link_starts": grid.links.starts,
        "link_columns": grid.links.columns,
        "link_targets": grid.link_targets,
    }


def grid_of_columns(columns: Columns) -> ContentGrid:
    """Return the grid that was stored as columns."""
    links = SparseRows(
        columns["link_starts"],
        columns["link_columns"],
        np.ones(len(columns["link_columns"])),
        len(columns["link_targets"]),
    )
    terms = SparseRows(
        columns["term_starts"],
        columns["term_columns"],
        columns["term_values"].astype(np.float64),
        len(columns["vocabulary"]),
    )
    return ContentGrid(
        tuple(columns["page_names"].tolist()),
        columns["hosts"],
        columns["times"],
        columns["versions"],
        terms,
        columns["vocabulary"],
        columns["text_hashes"],
        links,
        columns["link_targets"],
    )


def _parse_files(files: Sequence[Path], progress: ProgressCallback) -> ContentGrid:
    days = _run_days(files)
    table = VersionTable([], [], [])
    for done, path in enumerate(files):
        observed = _observed_days(path)
        for page, versions in page_versions(path, "text_hash"):
            steps = _steps_of_page(versions, days, observed.get(page), table)
            table.pages.append(page)
            table.steps.append(steps)
        progress(done + 1, len(files))
    terms, vocabulary = count_rows([version.terms for version in table.rows])
    links, link_hashes = count_rows([version.links for version in table.rows])
    hosts = [xxh3_64_intdigest(page_address(page).host.encode()) for page in table.pages]
    return ContentGrid(
        tuple(table.pages),
        np.array(hosts, np.uint64),
        np.array([day.toordinal() - date(1970, 1, 1).toordinal() for day in days]) * DAY_SECONDS,
        np.stack(table.steps),
        terms,
        vocabulary,
        np.array([version.text_hash for version in table.rows], np.uint64),
        links,
        find_link_targets(link_hashes, _hash_urls(table.pages)),
    )


def _run_days(files: Sequence[Path]) -> list[date]:
    """Return all days from the first version to the last one."""
    spans = [
        pl
        .scan_parquet(path)
        .select(pl.col("time").min().alias("first"), pl.col("time").max().alias("last"))
        .collect()
        .row(0)
        for path in files
    ]
    first = min(span[0] for span in spans).date()
    last = max(span[1] for span in spans).date()
    return [date.fromordinal(day) for day in range(first.toordinal(), last.toordinal() + 1)]


def _observed_days(path: Path) -> dict[str, set[date]]:
    """Return the days on which each page was seen; nothing if that was not recorded."""
    observations = path.parent / OBSERVATIONS
    if not observations.is_file():
        return {}
    part = path.stem.removeprefix("versions_")
    table = (
        pl
        .scan_parquet(observations)
        .filter(pl.col("part") == part)
        .select("page", "day")
        .group_by("page")
        .all()
        .collect()
    )
    return {page: set(days) for page, days in table.iter_rows()}


def _steps_of_page(
    versions: pl.DataFrame, days: Sequence[date], observed: set[date] | None, table: VersionTable
) -> IndexArray:
    """Add a page's versions to the table and return the row of each day.

    The state at the end of a day counts. A day after the first version on which the page was not
    observed is not known.
    """
    steps = np.full(len(days), NO_VERSION, np.int32)
    rows: dict[tuple[int, bytes], int] = {}
    page = versions["page"][0]
    for time, html, text_hash in versions.select("time", "html", "text_hash").iter_rows():
        row = _version_row(page, html or "", int(text_hash, 16), table, rows)
        steps[(time.date() - days[0]).days :] = row
    if observed is not None:
        first = versions["time"][0].date()
        is_known = [day == first or day in observed for day in days]
        steps[~np.array(is_known)] = NO_VERSION
    return steps


def _version_row(
    page: str, html: str, text_hash: int, table: VersionTable, rows: dict[tuple[int, bytes], int]
) -> int:
    view = parse_snapshot(Snapshot(page, html.encode("utf-8", "replace"), headers=HTML_TYPE))
    link_hashes = _hash_links(view.links.urls)
    key = text_hash, link_hashes.tobytes()
    if key not in rows:
        rows[key] = len(table.rows)
        links = TermCounts(link_hashes, np.ones(len(link_hashes), np.uint32))
        table.rows.append(RecordedVersion(text_hash, view.terms, links))
    return rows[key]


def _hash_links(urls: Sequence[str]) -> HashArray:
    return np.unique(_hash_urls(urls))


def _hash_urls(urls: Sequence[str]) -> HashArray:
    return np.array([xxh3_64_intdigest(url.encode("utf-8", "replace")) for url in urls], np.uint64)
