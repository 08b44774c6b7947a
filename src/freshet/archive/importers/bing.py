"""Import the public Bing crawl histories (Kolobov et al. 2019): three tab-separated files.

``url_urlid_hostid`` holds URL, id and host id; ``urlid_imp`` holds id and importance;
``urlid_offset_history`` holds id, days from the common start to the first crawl, and a list of
later crawls as [days since the previous crawl, changed]. The first crawl of a page is its reference
only. The common start is not published, so the default is arbitrary. Observations keep the order of
the history file. The other two files are read in parallel, and indexed on disk if their order
differs. An importance that is not a number above 0 becomes a bad row, and its page has no
importance.
"""

import json
import math
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from freshet.archive.disk_index import DiskIndex
from freshet.archive.importers.base import HistoryReader, row_uid
from freshet.archive.importers.line_reader import LineReader
from freshet.archive.observation import Observation
from freshet.core.errors import BadInputError
from freshet.core.types import BadRow, Change, Outcome

START = datetime(2017, 6, 1, tzinfo=UTC)
HISTORY, IMPORTANCE, URLS = "urlid_offset_history", "urlid_imp", "url_urlid_hostid"
SUFFIXES = (".txt", ".tsv", ".txt.gz", ".tsv.gz")
MAX_ID = (1 << 63) - 1
CHANGE_BY_FLAG = {0: Change(changed=False), 1: Change(changed=True)}

BadRows = deque[BadRow]
ValueCheck = Callable[[str], object]
Crawls = list[tuple[float, Change | None]]


def read(path: Path, *, source: str | None = None, start: datetime = START) -> "BingReader":
    """Read a folder of Bing crawl histories; the default source is ``bing``."""
    return BingReader(path, "bing" if source is None else source, start)


class BingReader(HistoryReader):
    """Reads the crawl histories of one folder; progress is counted in bytes of the history file."""

    def __init__(self, folder: Path, source: str, start: datetime) -> None:
        self._start = start
        self._bad_rows: BadRows = deque()
        self._histories = LineReader(find_file(folder, HISTORY))
        self._urls = SideTable(find_file(folder, URLS), (1, 0), check_url, self._bad_rows)
        self._importance = SideTable(
            find_file(folder, IMPORTANCE), (0, 1), parse_importance, self._bad_rows
        )
        super().__init__(self._histories.size, source)

    @property
    def done(self) -> int:
        """Return the number of bytes read of the history file."""
        return self._histories.position

    def __iter__(self) -> Iterator[Observation | BadRow]:
        name = self._histories.path.name
        with closing(self._urls), closing(self._importance):
            for number, line in enumerate(self._histories, 1):
                try:
                    yield from self._parse_history(line)
                except ValueError as error:
                    yield BadRow(f"{name}, line {number}", str(error))
                while self._bad_rows:
                    yield self._bad_rows.popleft()

    def _parse_history(self, line: str) -> list[Observation]:
        """Return every crawl of one page; raise ValueError if the line is invalid."""
        fields = line.rstrip("\r\n").split("\t")
        if len(fields) != 3:
            raise ValueError(f"has {len(fields)} columns instead of 3")
        page_id = parse_page_id(fields[0])
        crawls = crawl_times(parse_days(fields[1]), fields[2])
        url = self._urls.get(page_id)
        if not url:
            raise ValueError(f"page {page_id} has no URL in {URLS}")
        importance_text = self._importance.get(page_id)
        importance = parse_importance(importance_text) if importance_text else None
        return [self._observation(url, importance, days, change) for days, change in crawls]

    def _observation(
        self, url: str, importance: float | None, days: float, change: Change | None
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
            importance=importance,
        )


class SideTable:
    """A table of ids and values, read beside the history; indexed if the order differs."""

    def __init__(
        self, path: Path, columns: tuple[int, int], check: ValueCheck, bad_rows: BadRows
    ) -> None:
        self._path = path
        self._columns = columns
        self._check = check
        self._rows = self._read(bad_rows)
        self._current = next(self._rows, None)
        self._index: DiskIndex | None = None

    def get(self, key: int) -> str | None:
        """Return the value of an id, or None if there is none."""
        if self._index is None:
            while self._current is not None and self._current[0] < key:
                self._current = next(self._rows, None)
            if self._current is not None and self._current[0] == key:
                return self._current[1]
            self._index = DiskIndex(self._read(deque()))
        return self._index.get(key)

    def close(self) -> None:
        """Delete the index, if there is one."""
        if self._index is not None:
            self._index.close()

    def _read(self, bad_rows: BadRows) -> Iterator[tuple[int, str]]:
        """Yield the table's rows; append invalid ones to ``bad_rows``."""
        key, value = self._columns
        for number, line in enumerate(LineReader(self._path), 1):
            fields = line.rstrip("\r\n").split("\t")
            try:
                if len(fields) <= max(key, value):
                    raise ValueError(f"has {len(fields)} columns; at least 2 are needed")
                self._check(fields[value])
                yield parse_page_id(fields[key]), fields[value]
            except ValueError as error:
                bad_rows.append(BadRow(f"{self._path.name}, line {number}", str(error)))


def parse_page_id(text: str) -> int:
    """Parse the id of a page."""
    try:
        page_id = int(text)
    except ValueError:
        raise ValueError(f"id {text[:30]!r} is not a whole number") from None
    if abs(page_id) > MAX_ID:
        raise ValueError(f"id {text[:30]} is beyond {MAX_ID}")
    return page_id


def parse_importance(text: str) -> float:
    """Parse an importance."""
    importance = _parse_number(text)
    if not 0 < importance < math.inf:
        raise ValueError(f"importance {text[:30]!r} is not a number above 0")
    return importance


def parse_days(text: str) -> float:
    """Parse the days until the first crawl."""
    days = _parse_number(text)
    if not math.isfinite(days):
        raise ValueError(f"days until the first crawl {text[:30]!r} is not a number")
    return days


def _parse_number(text: str) -> float:
    """Parse a number; anything else is NaN."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def check_url(url: str) -> None:
    """Raise ValueError for a URL with bytes that are not UTF-8."""
    try:
        url.encode()
    except UnicodeEncodeError:
        raise ValueError("URL is not UTF-8") from None


def time_after(start: datetime, days: float) -> datetime:
    """Return the time some days after the start."""
    try:
        return start + timedelta(days=days)
    except (ValueError, OverflowError):
        raise ValueError(f"a crawl {days:g} days after the start is out of range") from None


def crawl_times(first_days: float, history: str) -> Crawls:
    """Return each crawl's days since the start and its change; the first crawl is the reference.

    >>> crawls = crawl_times(5.5, "[[1.5, 0], [1, 1]]")
    >>> [(days, change and change.changed) for days, change in crawls]
    [(5.5, None), (7.0, False), (8.0, True)]
    """
    crawls: Crawls = [(first_days, None)]
    days = first_days
    for entry in _parse_crawl_list(history):
        try:
            days_since_previous, changed = entry
            is_valid = 0 <= days_since_previous <= timedelta.max.days and changed in CHANGE_BY_FLAG
        except (TypeError, ValueError):
            is_valid = False
        if not is_valid:
            raise ValueError(f"crawl {str(entry)[:80]} is not [days since the previous, 0 or 1]")
        days += days_since_previous
        crawls.append((days, CHANGE_BY_FLAG[changed]))
    return crawls


def _parse_crawl_list(history: str) -> list[Any]:
    """Parse the list of later crawls."""
    try:
        crawls = json.loads(history)
    except (ValueError, RecursionError):
        crawls = None
    if not isinstance(crawls, list):
        raise ValueError(f"history {history[:30]!r} is not a JSON list")
    return crawls


def find_file(folder: Path, name: str) -> Path:
    """Return the file of that name in the folder, with any of the known suffixes."""
    for path in (folder / (name + suffix) for suffix in SUFFIXES):
        if path.is_file():
            return path
    raise BadInputError(
        f"{folder}: there is no {name}.txt; give the folder that holds {HISTORY}, {IMPORTANCE}"
        f" and {URLS} (.txt or .tsv, also .gz)"
    )
