"""The public Bing crawl histories (Kolobov et al. 2019): three tab-separated files in a folder.

``url_urlid_hostid`` holds URL, id and host id; ``urlid_imp`` id and importance;
``urlid_offset_history`` id, days from the common start to the first crawl, and the list of later
crawls as [days since the previous crawl, changed]. A page's first crawl is only its reference.
When the common start was is not published, so the default is arbitrary. The history's order is
kept; the other two files are walked beside it, and indexed on disk as soon as their order differs.
An importance that is not a number above 0 is named as a bad row, and its page has none.
"""

import json
import math
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from freshet.archive.importers.base import HistoryReader, Observation, row_uid
from freshet.archive.importers.line_reader import LineReader
from freshet.archive.spill import DiskIndex
from freshet.core.errors import BadInputError
from freshet.core.types import BadRow, Change, Outcome

START = datetime(2017, 6, 1, tzinfo=UTC)
HISTORY, IMPORTANCE, URLS = "urlid_offset_history", "urlid_imp", "url_urlid_hostid"
SUFFIXES = (".txt", ".tsv", ".txt.gz", ".tsv.gz")
LARGEST_ID = (1 << 63) - 1
CHANGE_BY_FLAG = {0: Change(changed=False), 1: Change(changed=True)}

Faults = deque[BadRow]
Check = Callable[[str], object]
Crawls = list[tuple[float, Change | None]]


def read(path: Path, *, source: str | None = None, start: datetime = START) -> "BingReader":
    """Read the folder of the Bing crawl histories; their source is ``bing`` unless given."""
    return BingReader(path, "bing" if source is None else source, start)


class BingReader(HistoryReader):
    """The crawl histories of one folder, counted in bytes of the history file."""

    def __init__(self, folder: Path, source: str, start: datetime) -> None:
        self._start = start
        self._faults: Faults = deque()
        self._histories = LineReader(find_file(folder, HISTORY))
        self._urls = SideTable(find_file(folder, URLS), (1, 0), check_url, self._faults)
        self._importance = SideTable(
            find_file(folder, IMPORTANCE), (0, 1), parse_importance, self._faults
        )
        super().__init__(self._histories.size, source)

    @property
    def done(self) -> int:
        """Return how many bytes of the history file were read."""
        return self._histories.position

    def __iter__(self) -> Iterator[Observation | BadRow]:
        with closing(self._urls), closing(self._importance):
            yield from self._items()

    def _items(self) -> Iterator[Observation | BadRow]:
        """Yield the crawls of each line, and after them what was wrong with the other files."""
        name = self._histories.path.name
        for number, line in enumerate(self._histories, 1):
            try:
                yield from self._history(line)
            except ValueError as error:
                yield BadRow(f"{name}, line {number}", str(error))
            while self._faults:
                yield self._faults.popleft()

    def _history(self, line: str) -> list[Observation]:
        """Return every crawl of one page; ValueError says why there are none."""
        fields = line.rstrip("\r\n").split("\t")
        if len(fields) != 3:
            raise ValueError(f"has {len(fields)} columns instead of 3")
        page = parse_page_id(fields[0])
        crawls = crawl_times(parse_days(fields[1]), fields[2])
        url = self._urls.get(page)
        if not url:
            raise ValueError(f"page {page} has no URL in {URLS}")
        importance = self._importance.get(page)
        weight = parse_importance(importance) if importance else None
        return [self._arrival(url, weight, days, change) for days, change in crawls]

    def _arrival(
        self, url: str, weight: float | None, days: float, change: Change | None
    ) -> Observation:
        """Return one crawl of a page."""
        time = time_after(self._start, days)
        return Observation(
            url,
            self.source,
            time,
            row_uid("bing", self.source, url, time),
            change=change,
            outcome=Outcome.REPORTED,
            importance=weight,
        )


class SideTable:
    """A table of id and value walked beside another; indexed on disk once the orders differ."""

    def __init__(self, path: Path, columns: tuple[int, int], check: Check, faults: Faults) -> None:
        self._path = path
        self._columns = columns
        self._check = check
        self._faults = faults
        self._rows = self._read(faults)
        self._current = next(self._rows, None)
        self._index: DiskIndex | None = None

    def get(self, key: int) -> str | None:
        """Return the value of an id, or None where the table has none."""
        if self._index is None:
            while self._current is not None and self._current[0] < key:
                self._current = next(self._rows, None)
            if self._current is not None and self._current[0] == key:
                return self._current[1]
            self._index = DiskIndex(self._read(deque()))
        return self._index.get(key)

    def close(self) -> None:
        """Let go of the index, if there is one."""
        if self._index is not None:
            self._index.close()

    def _read(self, faults: Faults) -> Iterator[tuple[int, str]]:
        """Yield the table's rows, its bad ones into ``faults``."""
        key, value = self._columns
        for number, line in enumerate(LineReader(self._path), 1):
            fields = line.rstrip("\r\n").split("\t")
            try:
                if len(fields) <= max(key, value):
                    raise ValueError(f"has {len(fields)} columns; at least 2 are needed")
                self._check(fields[value])
                yield parse_page_id(fields[key]), fields[value]
            except ValueError as error:
                faults.append(BadRow(f"{self._path.name}, line {number}", str(error)))


def parse_page_id(text: str) -> int:
    """Read the id of a page."""
    try:
        number = int(text)
    except ValueError:
        raise ValueError(f"id {text[:30]!r} is not a whole number") from None
    if abs(number) > LARGEST_ID:
        raise ValueError(f"id {text[:30]} is beyond {LARGEST_ID}")
    return number


def parse_importance(text: str) -> float:
    """Read an importance."""
    weight = _number(text)
    if not 0 < weight < math.inf:
        raise ValueError(f"importance {text[:30]!r} is not a number above 0")
    return weight


def parse_days(text: str) -> float:
    """Read the days until the first crawl."""
    days = _number(text)
    if not math.isfinite(days):
        raise ValueError(f"days until the first crawl {text[:30]!r} are not a number")
    return days


def _number(text: str) -> float:
    """Read a number; what is none becomes NaN."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def check_url(url: str) -> None:
    """Refuse a URL with bytes that were not UTF-8."""
    try:
        url.encode()
    except UnicodeEncodeError:
        raise ValueError("URL is not UTF-8") from None


def time_after(start: datetime, days: float) -> datetime:
    """Return the time some days after the start."""
    try:
        return start + timedelta(days=days)
    except (ValueError, OverflowError):
        raise ValueError(f"a crawl {days:g} days after the start is beyond the calendar") from None


def crawl_times(first: float, history: str) -> Crawls:
    """Return each crawl's days since the start, and what it found; the first is the reference.

    >>> crawls = crawl_times(5.5, "[[1.5, 0], [1, 1]]")
    >>> [(days, change and change.changed) for days, change in crawls]
    [(5.5, None), (7.0, False), (8.0, True)]
    """
    crawls: Crawls = [(first, None)]
    days = first
    for crawl in _listed(history):
        try:
            waited, changed = crawl
            is_crawl = 0 <= waited <= timedelta.max.days and changed in CHANGE_BY_FLAG
        except (TypeError, ValueError):
            is_crawl = False
        if not is_crawl:
            raise ValueError(f"crawl {str(crawl)[:80]} is not [days since the previous, 0 or 1]")
        days += waited
        crawls.append((days, CHANGE_BY_FLAG[changed]))
    return crawls


def _listed(history: str) -> list[Any]:
    """Read the list of later crawls."""
    try:
        crawls = json.loads(history)
    except (ValueError, RecursionError):
        crawls = None
    if not isinstance(crawls, list):
        raise ValueError(f"history {history[:30]!r} is not a list in JSON")
    return crawls


def find_file(folder: Path, name: str) -> Path:
    """Return the file of that name in the folder, whichever of its suffixes it has."""
    for path in (folder / (name + suffix) for suffix in SUFFIXES):
        if path.is_file():
            return path
    raise BadInputError(
        f"{folder}: there is no {name}.txt; give the folder that holds {HISTORY}, {IMPORTANCE}"
        f" and {URLS} (.txt or .tsv, also .gz)"
    )
