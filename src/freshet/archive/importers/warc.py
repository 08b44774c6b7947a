"""WARC and ARC files: every response, resource and revisit of an http(s) page arrives as it is.

Its gzip member is copied byte for byte where it has one to itself, with those of its request and
metadata; in a file of ours, redirecting answers go with the visit that they led to. The body keeps
its content coding. A capture that was cut when it was made is no look; an answer to another request
than GET is no page. Where no source is given, all captures have the source ``warc``, so that those
of a URL are one history; an empty source joins them to the live pages.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from freshet.archive.importers.base import Arrival, Reader
from freshet.archive.warc.build import NOT_MODIFIED
from freshet.archive.warc.http_message import payload
from freshet.archive.warc.located_record import Fault, Found, Located, member
from freshet.archive.warc.read import records
from freshet.archive.warc.record import (
    CAPTURES,
    FINAL_FIELD,
    OUTCOME_FIELD,
    PAGE_FIELD,
    Record,
    uid,
)
from freshet.core.errors import BadInput
from freshet.core.types import BadRow, Outcome, Snapshot

SUFFIXES = (".warc", ".warc.gz", ".arc", ".arc.gz")
SOURCE = "warc"
COMPANIONS = ("request", "metadata")
MOST_COMPANIONS = 8
MOST_HOP_RECORDS = 64
PENDING_CAPTURES = 4
PENDING_BYTES = 33_554_432
UNCHANGED = 304
CUT = {"length": Outcome.TOO_LARGE, "time": Outcome.TIMEOUT}

_METHOD = re.compile(rb"\s*([A-Za-z]{1,20})[ \t]")


@dataclass(frozen=True, slots=True)
class Capture:
    """A record that shows a page, and the records that tell how it was had."""

    record: Located
    companions: tuple[Located, ...]


def read(path: Path, *, source: str | None = None) -> "WarcReader":
    """Read a WARC or ARC file, or all those in a folder and the folders beneath."""
    files = _files(path) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        raise BadInput(
            f"{path}: there is no WARC file; give one ({', '.join(SUFFIXES)}) or a folder"
        )
    return WarcReader(files, SOURCE if source is None else source)


class WarcReader(Reader):
    """The captures of some WARC files, counted in bytes."""

    def __init__(self, files: Sequence[Path], source: str) -> None:
        super().__init__(sum(file.stat().st_size for file in files), source)
        self._files = files
        self._done = 0
        self._other = 0
        self._other_methods = 0
        self._captures = 0
        self._faults = 0

    @property
    def done(self) -> int:
        """Return how many bytes of the files were read."""
        return self._done

    def __iter__(self) -> Iterator[Arrival | BadRow]:
        before = 0
        for path in self._files:
            with path.open("rb") as file:
                for found in captures(records(path)):
                    self._done = max(self._done, before + _offset(found))
                    yield from self._items(found, file)
            before += path.stat().st_size
            self._done = before
        self._conclude()

    def _items(self, found: Capture | Fault, file: BinaryIO) -> Iterator[Arrival | BadRow]:
        """Yield what a capture tells, or what is wrong with it; other than http(s) is counted."""
        if isinstance(found, Fault):
            self._faults += 1
            yield BadRow(f"{found.file}, offset {found.offset}", found.what)
            return
        self._captures += 1
        if not _page(found.record.record).lower().startswith(("http://", "https://")):
            self._other += 1
        elif _request_method(found) not in {"", "GET"}:
            self._other_methods += 1
        else:
            yield self._item(found, file)

    def _item(self, capture: Capture, file: BinaryIO) -> Arrival | BadRow:
        """Return what a capture tells, or what is wrong with it."""
        try:
            return arrival(capture, self.source, file)
        except ValueError as error:
            return BadRow(_place(capture.record), str(error))

    def _conclude(self) -> None:
        """Note what was left out; refuse an input of which nothing could be read."""
        if self._faults and not self._captures:
            raise BadInput(
                f"{self._files[0]}: no record of it can be read; check that it is a whole WARC file"
            )
        if self._other:
            self.notes.append(f"{self._other:,} records of other than http(s) pages were left out")
        if self._other_methods:
            left_out = f"{self._other_methods:,} responses to other requests than GET"
            self.notes.append(f"{left_out} (POST, HEAD and the like) were left out")


class _Companions:
    """Requests, metadata and redirecting answers of one capture, or of none yet; bounded."""

    def __init__(self) -> None:
        self._beside: deque[Located] = deque(maxlen=MOST_COMPANIONS)
        self._hops: deque[Located] = deque(maxlen=MOST_HOP_RECORDS)

    def __iter__(self) -> Iterator[Located]:
        yield from self._beside
        yield from self._hops

    def add(self, item: Located) -> None:
        """Keep one more record; where there are too many, the oldest goes."""
        (self._hops if item.record.visit else self._beside).append(item)

    def move(self, to: "_Companions", chosen: Callable[[Record], bool]) -> None:
        """Move some records to the companions of a capture."""
        for item in list(self):
            if chosen(item.record):
                (self._hops if item.record.visit else self._beside).remove(item)
                to.add(item)

    @property
    def has_request(self) -> bool:
        """Whether the request of the capture is among them."""
        return any(item.record.type == "request" for item in self._beside)


@dataclass(frozen=True, slots=True)
class _Pending:
    """A capture that waits for the records that belong to it."""

    capture: Located
    own: _Companions

    def is_named_with(self, companion: Record) -> bool:
        """Whether a record names the capture, or the capture names it."""
        capture = self.capture.record
        if companion.visit:
            return companion.visit == capture.id
        concurrent = _bare(capture.field("WARC-Concurrent-To"))
        return capture.id in _named(companion) or concurrent == companion.id

    def takes(self, companion: Record) -> bool:
        """Whether a record that names no capture is of the same page, and the capture lacks it."""
        capture = self.capture.record
        if companion.visit or any(_named(companion)) or capture.field("WARC-Concurrent-To"):
            return False
        is_second = companion.type == "request" and self.own.has_request
        return companion.target == capture.target and not is_second


def captures(found: Iterator[Found]) -> Iterator[Capture | Fault]:
    """Yield each capture with its companions, which stand shortly before or after it."""
    unclaimed = _Companions()
    pending: deque[_Pending] = deque()
    for item in found:
        if isinstance(item, Fault):
            yield item
        elif item.record.visit or item.record.type in COMPANIONS:
            owners = (one.own for one in reversed(pending) if one.is_named_with(item.record))
            next(owners, unclaimed).add(item)
        elif item.record.type in CAPTURES:
            _claim(unclaimed, pending, _Pending(item, _Companions()))
            while _is_full(pending):
                yield _joined(pending.popleft())
    if pending:
        unclaimed.move(pending[-1].own, pending[-1].takes)
    yield from map(_joined, pending)


def _claim(unclaimed: _Companions, pending: deque[_Pending], new: _Pending) -> None:
    """Share out what stands between the last capture and a new one, which joins the others."""
    unclaimed.move(new.own, new.is_named_with)
    if pending:
        unclaimed.move(pending[-1].own, pending[-1].takes)
    unclaimed.move(new.own, new.takes)
    pending.append(new)


def _is_full(pending: deque[_Pending]) -> bool:
    """Whether the first capture has waited long enough for what belongs to it."""
    size = sum(len(one.capture.record.block) for one in pending)
    return len(pending) > 1 and (len(pending) > PENDING_CAPTURES or size > PENDING_BYTES)


def _joined(pending: _Pending) -> Capture:
    return Capture(pending.capture, tuple(pending.own))


def _named(companion: Record) -> tuple[str, ...]:
    """Return the ids of the records that a request or metadata record names."""
    fields = (companion.field(name) for name in ("WARC-Concurrent-To", "WARC-Refers-To"))
    return tuple(_bare(field) for field in fields if field)


def arrival(capture: Capture, source: str, file: BinaryIO) -> Arrival:
    """Return what a capture tells; ValueError says why it tells nothing."""
    located, record = capture.record, capture.record.record
    if located.is_partial:
        raise ValueError(f"record of {located.size:,} bytes is too large to be a page")
    status, headers, body = payload(record)
    if record.type == "response" and status is None:
        raise ValueError("response has no HTTP header")
    url, final = _page(record), _final(record)
    again, outcome = record.type == "revisit", _outcome(record, status)
    # The HTTP header of such a revisit may be the original's, which replay programs need.
    status = UNCHANGED if outcome is Outcome.NOT_MODIFIED else status
    return Arrival(
        url,
        source,
        record.date,
        uid(record.id),
        None if again or status == UNCHANGED else Snapshot(url, body, status or 200, headers),
        outcome=outcome,
        status=status,
        final_url=final,
        raw=member(located, file),
        companions=tuple(member(item, file) for item in capture.companions if not item.is_partial),
        earlier=record.field("WARC-Payload-Digest") if again else None,
        why=_told(record)[1],
        place=_place(located),
    )


def _request_method(capture: Capture) -> str:
    """Return the method of the request that a capture answers; empty where it is not known."""
    requests = (item.record for item in capture.companions if item.record.type == "request")
    block = next((record.block for record in requests if not record.visit), b"")
    method = _METHOD.match(block)
    return method[1].decode("ascii").upper() if method else ""


def _outcome(record: Record, status: int | None) -> Outcome | None:
    """Return what the record itself says of how the visit ended."""
    told = _told(record)[0]
    if told is not None:
        return told
    cut = record.field("WARC-Truncated").strip().lower()
    if cut:
        return CUT.get(cut, Outcome.UNREADABLE)
    same = record.type == "revisit" and record.field("WARC-Profile").endswith(_last(NOT_MODIFIED))
    return Outcome.NOT_MODIFIED if same or status == UNCHANGED else None


def _told(record: Record) -> tuple[Outcome | None, str]:
    """Return the outcome that we wrote into a record of ours, and why."""
    name, _, why = record.field(OUTCOME_FIELD).partition(";")
    known = name.strip() in Outcome.__members__.values()
    return (Outcome(name.strip()), why.strip()) if known else (None, "")


def _page(record: Record) -> str:
    """Return the URL of the record's page: the one it names, or else its own."""
    return _bare(record.field(PAGE_FIELD)) or _bare(record.target)


def _final(record: Record) -> str | None:
    """Return where a visit ended that was redirected."""
    answered_by = _bare(record.target) if record.field(PAGE_FIELD) else ""
    return _bare(record.field(FINAL_FIELD)) or answered_by or None


def _bare(text: str) -> str:
    """Return a record id or URL out of the angle brackets that some writers put it in."""
    return text.strip().removeprefix("<").removesuffix(">")


def _last(profile: str) -> str:
    """Return the name in a profile's address, which is the same in WARC 1.0 and 1.1."""
    return profile.rpartition("/")[2]


def _place(located: Located) -> str:
    """Return where a record stands, for a person."""
    return f"{located.path.name}, offset {located.offset}"


def _offset(found: Capture | Fault) -> int:
    """Return how far into its file something stands."""
    return found.offset if isinstance(found, Fault) else found.record.offset


def _files(folder: Path) -> list[Path]:
    """Return the WARC files in a folder and beneath, by name."""
    return sorted(
        file for file in folder.rglob("*") if file.is_file() and file.name.endswith(SUFFIXES)
    )
