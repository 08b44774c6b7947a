"""The interface of importers, and what they share: row ids, times and limits."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from xxhash import xxh3_128_digest

from freshet.archive.observation import Observation
from freshet.core.clock import to_epoch
from freshet.core.types import BadRow

MAX_BODY_BYTES = 64_000_000
OBSERVATIONS_FILE = "observations.parquet"
MAX_LINK_COUNT = 1_000_000_000
LINK_COLUMNS = ("n_new_links_internal", "n_new_links_external")
# The columns of new links that count, by the name of their kind.
LINK_KINDS: Mapping[str, tuple[str, ...]] = {
    "all": LINK_COLUMNS,
    "internal": LINK_COLUMNS[:1],
    "external": LINK_COLUMNS[1:],
    "never-seen": ("n_new_links_never_seen",),
}
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?")
# A date of digits only (ISO 8601 basic format), optionally with the time as in web archives.
_DIGIT_DATE = re.compile(r"((?:19|20|21)[0-9]{6})([0-9]{6})?")


class HistoryReader(ABC):
    """An imported history, read once as a stream; ``done`` of ``total`` is the progress.

    ``source`` is the source of its observations; ``notes`` are remarks about the input for the
    user.
    """

    def __init__(self, total: int, source: str) -> None:
        self.total = total
        self.source = source
        self.notes: list[str] = []
        self._done = 0

    @property
    def done(self) -> int:
        """Return how much of ``total`` has been read."""
        return self._done

    @abstractmethod
    def __iter__(self) -> Iterator[Observation | BadRow]:
        """Yield observations and bad rows in the order of the input."""


def row_uid(kind: str, source: str, url: str, time: datetime, commit: str = "") -> bytes:
    """Return 16 bytes that are equal whenever the same row is read, so that no visit is doubled.

    >>> noon = datetime.fromisoformat("2024-01-01T12:00:00+00:00")
    >>> row_uid("csv", "shop", "a", noon) == row_uid("csv", "shop", "a", noon)
    True
    """
    row = "\0".join((kind, source, url, str(to_epoch(time)), commit))
    return xxh3_128_digest(row.encode("utf-8", "surrogatepass"))


def input_name(path: Path) -> str:
    """Return the name of an input without ``.gz`` and its last suffix.

    >>> input_name(Path("prices.csv.gz"))
    'prices'
    """
    return Path(path.name.removesuffix(".gz")).stem


def parse_time(text: str) -> datetime:
    """Parse a time in ISO 8601 or in epoch seconds; a time without a zone is in UTC.

    Eight digits that form a date from 1900 to 2199 are a date; six more digits are its time of day.
    Other numbers are epoch seconds.

    >>> parse_time("2024-01-01T02:00:00+02:00").isoformat()
    '2024-01-01T00:00:00+00:00'
    >>> parse_time("86400").isoformat()
    '1970-01-02T00:00:00+00:00'
    >>> parse_time("20240101").isoformat(), parse_time("20240101120000").isoformat()
    ('2024-01-01T00:00:00+00:00', '2024-01-01T12:00:00+00:00')
    """
    text = text.strip()
    try:
        if _NUMBER.fullmatch(text):
            return _parse_digit_date(text) or datetime.fromtimestamp(float(text), UTC)
        time = datetime.fromisoformat(text)
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"time {text[:100]!r} is neither ISO 8601 nor epoch seconds") from None


def _parse_digit_date(text: str) -> datetime | None:
    """Parse YYYYMMDD or YYYYMMDDhhmmss; return None if the digits form no date."""
    match = _DIGIT_DATE.fullmatch(text)
    if match is None:
        return None
    try:
        return datetime.fromisoformat(f"{match[1]}T{match[2] or '000000'}+00:00")
    except ValueError:
        return None
