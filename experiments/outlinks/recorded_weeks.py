"""Reads the weekly states of real pages: sizes, sets of links, and words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
from xxhash import xxh3_64_intdigest

from experiments.outlinks.weekly_pages import WeeklyPages, WeekVersions, pages_of_columns
from experiments.page_versions import page_versions
from freshet.core.content.sparse_rows import count_rows
from freshet.core.errors import BadInputError
from freshet.core.tables import BoolArray
from freshet.core.types import INTERNAL, HashArray, IndexArray, Snapshot, TermCounts
from freshet.engine.result_cache import Columns, ResultCache
from freshet.view.parse import parse_snapshot
from freshet.view.url import LinkResolver, page_address, site_of_host

WEEKS = 27
LAST_DAY = date(2026, 8, 22)
PARTS = ("gdocs_bigquery", "gdocs_spanner", "ota_contrib_snap", "ota_france_snap", "stalker",
         "claude_docs", "gh_trending")  # fmt: skip
CACHE_VERSION = "weekly links 1"
NO_VERSION = -1
HTML, TEXT = "text/html; charset=utf-8", "text/plain; charset=utf-8"
TEXT_LINKS = re.compile(r"\]\(\s*<?([^)\s>]+)|<?(https?://[^\s)>\]]+)")


@dataclass(frozen=True, slots=True)
class WeekVersion:
    """What a version of a page has: bytes, words, and links without the page itself."""

    size: int
    text_hash: int
    terms: TermCounts
    links: HashArray
    is_internal: BoolArray


@dataclass(slots=True)
class _VersionTable:
    pages: list[tuple[str, str]] = field(default_factory=list)
    weeks: list[IndexArray] = field(default_factory=list)
    rows: list[WeekVersion] = field(default_factory=list)


def read_weeks(folder: Path, work: Path | None = None) -> WeeklyPages:
    """Read the pages of a data folder; with a folder for work, parse them only once."""
    files = version_files(folder)
    cache = ResultCache(work, CACHE_VERSION) if work else None
    key = {
        "files": np.array([path.name for path in files]),
        "sizes": np.array([path.stat().st_size for path in files]),
    }
    stored = cache.get(key) if cache else None
    if stored is None:
        stored = _columns(_read_files(files))
        if cache:
            cache.put(key, stored)
    return pages_of_columns(stored)


def version_files(folder: Path) -> list[Path]:
    """Return the files of versions in a data folder or in its folder ``pages``."""
    pages = folder / "pages" if (folder / "pages").is_dir() else folder
    files = sorted(path for part in PARTS for path in pages.glob(f"versions_{part}*.parquet"))
    if not files:
        raise BadInputError(f"{folder} has no pages/versions_*.parquet; give the folder of pages/")
    return files


def week_ends() -> list[date]:
    """Return the last day of each week."""
    return [LAST_DAY - timedelta(days=7 * week) for week in range(WEEKS - 1, -1, -1)]


def _read_files(files: Sequence[Path]) -> _VersionTable:
    table = _VersionTable()
    names: set[str] = set()
    for path in files:
        observed = _observed_days(path)
        for page, versions in page_versions(path, "kind"):
            if page not in names:
                _add_page(page, versions, observed.get(page, ()), path.stem, table)
                names.add(page)
    return table


def _observed_days(path: Path) -> dict[str, Sequence[date]]:
    """Return the days on which each page was observed."""
    part = path.stem.removeprefix("versions_")
    days = (
        pl
        .scan_parquet(path.parent / "observations.parquet")
        .filter(pl.col("part") == part, pl.col("day") > week_ends()[0] - timedelta(days=7))
        .select("page", "day")
        .group_by("page")
        .all()
        .collect()
    )
    return dict(days.iter_rows())


def _add_page(
    page: str, versions: pl.DataFrame, observed: Sequence[date], part: str, table: _VersionTable
) -> None:
    """Add the state at the end of each week in which the page was seen."""
    days = [time.date() for time in versions["time"].to_list()]
    seen = {*days, *observed}
    weeks = np.full(WEEKS, NO_VERSION, np.int32)
    rows: dict[int, int] = {}
    for week, end in enumerate(week_ends()):
        index = sum(day <= end for day in days) - 1
        if index < 0 or not any(end - timedelta(days=back) in seen for back in range(7)):
            continue
        if index not in rows:
            rows[index] = len(table.rows)
            table.rows.append(parse_version(page, versions["html"][index], versions["kind"][index]))
        weeks[week] = rows[index]
    if (weeks != NO_VERSION).any():
        table.pages.append((page, part.removeprefix("versions_")))
        table.weeks.append(weeks)


def parse_version(page: str, content: str | None, kind: str) -> WeekVersion:
    """Return the words and links of a version; kinds other than html have links in Markdown."""
    text = content or ""
    headers = (("content-type", HTML if kind == "html" else TEXT),)
    view = parse_snapshot(Snapshot(page, text.encode("utf-8", "replace"), headers=headers))
    links = {
        url: bool(flags & INTERNAL)
        for url, flags in zip(view.links.urls, view.links.flags.tolist(), strict=True)
    }
    if kind != "html":
        links = dict(_text_links(page, text))
    without_fragments = {url.partition("#")[0]: is_internal for url, is_internal in links.items()}
    without_fragments.pop(page.partition("#")[0], None)
    hashes, first = np.unique(_hashes(list(without_fragments)), return_index=True)
    is_internal = np.array(list(without_fragments.values()), np.bool_)[first]
    return WeekVersion(len(text), int(view.text_hash), view.terms, hashes, is_internal)


def _text_links(page: str, text: str) -> Iterator[tuple[str, bool]]:
    resolver = LinkResolver(page, "")
    for match in TEXT_LINKS.finditer(text):
        link = resolver.resolve(match[1] or match[2])
        if link is not None:
            yield link[0], bool(link[1] & INTERNAL)


def _hashes(urls: Sequence[str]) -> HashArray:
    return np.array([xxh3_64_intdigest(url.encode("utf-8", "replace")) for url in urls], np.uint64)


def _columns(table: _VersionTable) -> Columns:
    terms, vocabulary = count_rows([row.terms for row in table.rows])
    hosts = [page_address(page).host for page, _ in table.pages]
    sites = [site_of_host(host) for host in hosts]
    sizes = [len(row.links) for row in table.rows]
    versions = WeekVersions(
        np.array([row.size for row in table.rows], np.int64),
        np.array([row.text_hash for row in table.rows], np.uint64),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([row.links for row in table.rows]),
        np.concatenate([row.is_internal for row in table.rows]),
    )
    return {
        "names": np.array([page for page, _ in table.pages]),
        "parts": np.array([part for _, part in table.pages]),
        "sites": _hashes(sites),
        "domain_depths": np.array([
            max(host.count(".") - site.count("."), 0)
            for host, site in zip(hosts, sites, strict=True)
        ]),
        "url_hashes": _hashes([page for page, _ in table.pages]),
        "weeks": np.stack(table.weeks),
        "vocabulary": vocabulary,
        "term_starts": terms.starts,
        "term_columns": terms.columns,
        "term_values": terms.values.astype(np.float32),
        **versions.columns(),
    }
