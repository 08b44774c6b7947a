"""The raw traces: every day of real pages, those on which whole sites changed included."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote, urlsplit

import numpy as np

from experiments.wild.generated_pages import GeneratedSites, generate_histories
from experiments.wild.page_history import (
    SPRING_PARTS,
    PageHistory,
    read_histories,
    recorded_pages,
)
from freshet.backtest.trace import ChangeTimes, PageGroupKeys, Trace, build_trace
from freshet.backtest.trace_formats.open_trace import open_trace
from freshet.core.clock import to_epoch
from freshet.core.errors import BadInputError
from freshet.core.tables import DAY_SECONDS

PAGES_FOLDER = "pages"
GENERATED, RECORDED_MOMENTS = "generated", "raw-moments"
DAYS = 91
# Parts that go back to 2025; all but the first are other sites than those of the spring.
EARLIER_PARTS = (
    "claude_docs", "ota_contrib_ver", "ota_contrib_ver_b", "ota_france_ver", "ota_other_ver_pga",
    "ota_other_ver_vlopses", "stalker", "telegram",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RawTraceSource:
    """The origin of a raw trace: its parts of the data, or generated pages if it has none.

    With ``has_moments`` pages change when their versions were recorded, else at drawn moments.
    """

    name: str
    start: datetime
    parts: tuple[str, ...] = ()
    folder: str = ""
    days: int = DAYS
    pages_per_site: int = 0
    has_moments: bool = False


def trace_sources(data: Path | None, *, pages_per_site: int = 100) -> list[RawTraceSource]:
    """Return the generated trace, or with a data folder the real ones."""
    if data is None:
        start = datetime(2026, 4, 1, tzinfo=UTC)
        return [RawTraceSource(GENERATED, start, pages_per_site=pages_per_site)]
    folder = pages_folder(data)
    if not any(folder.glob("versions_*.parquet")):
        raise BadInputError(f"{data} has no pages/versions_*.parquet; give the data folder")
    return [
        RawTraceSource(
            name,
            datetime(*day, tzinfo=UTC),
            parts,
            str(folder),
            has_moments=name == RECORDED_MOMENTS,
        )
        for name, day, parts in (
            ("raw", (2026, 4, 1), SPRING_PARTS),
            (RECORDED_MOMENTS, (2026, 4, 1), SPRING_PARTS),
            ("raw-may", (2026, 5, 20), SPRING_PARTS),
            ("raw-october", (2025, 10, 1), EARLIER_PARTS),
            ("raw-january", (2026, 1, 1), EARLIER_PARTS),
        )
    ]


def pages_folder(data: Path) -> Path:
    """Return the folder of the recorded pages: ``pages`` in the data folder, or that folder."""
    return data / PAGES_FOLDER if (data / PAGES_FOLDER).is_dir() else data


@lru_cache(maxsize=1)
def open_source(source: RawTraceSource) -> Trace:
    """Return the trace of a source, read as ``freshet simulate FILE.csv`` reads it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{source.name}.csv"
        histories = source_histories(source)
        write_raw_trace(path, histories, source.start, source.days)
        trace = open_trace(path)
    return with_recorded_moments(trace, histories, source.start) if source.has_moments else trace


def with_recorded_moments(trace: Trace, histories: Sequence[PageHistory], start: datetime) -> Trace:
    """Return a trace of the same pages whose changes have their recorded moments.

    Its site-wide days are those of the given trace; they are not counted again.
    """
    start_seconds = to_epoch(start)
    end_seconds = start_seconds + trace.cycles * DAY_SECONDS
    times = [
        np.array(history.text_changes(start_seconds, end_seconds)) - start_seconds
        for history in histories
    ]
    changed = np.zeros((len(histories), trace.cycles), np.bool_)
    for page, page_times in enumerate(times):
        changed[page, (page_times // DAY_SECONDS).astype(int)] = True
    table = trace.pages
    keys = PageGroupKeys(table.hosts, table.sites, table.directories)
    starts = np.cumsum([0, *map(len, times)], dtype=np.int64)
    return replace(
        build_trace(trace.name, keys, changed),
        change_times=ChangeTimes(starts, np.concatenate(times)),
        site_wide_days=trace.site_wide_days,
    )


def source_histories(source: RawTraceSource) -> list[PageHistory]:
    """Return the pages of a source, without their bodies if they are recorded ones."""
    if not source.parts:
        size = GeneratedSites(pages_per_site=source.pages_per_site)
        return generate_histories(size, source.start, source.days)
    folder = Path(source.folder)
    pages = recorded_pages(folder, source.start, source.parts)
    return read_histories(folder, pages, source.start, source.days, with_bodies=False)


def write_raw_trace(
    path: Path, histories: Sequence[PageHistory], start: datetime, days: int
) -> None:
    """Write the columns page, time, changed: a row for every page and day, at midnight UTC.

    A day is changed if the page's text at its start differs from that a day before.
    """
    midnights = [start + timedelta(days=day) for day in range(days)]
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["page", "time", "changed"])
        for number, history in enumerate(histories, 1):
            url = trace_url(history, number)
            texts = [history.texts[history.version_at(to_epoch(day))] for day in midnights]
            for day, text, before in zip(midnights, texts, [texts[0], *texts], strict=False):
                rows.writerow([url, day.isoformat(), int(text != before)])


def trace_url(history: PageHistory, number: int) -> str:
    """Return the URL of a page in a trace; its source is the host, its number makes it unique.

    >>> trace_url(PageHistory("docs", "https://example.org/a b", (), ()), 7)
    'http://docs.example/example.org/a%20b?i=7'
    """
    name = history.name if "://" in history.name else f"http://x/{history.name}"
    address = urlsplit(name)
    return f"http://{history.site}.example/{address.netloc}{quote(address.path)}?i={number}"
