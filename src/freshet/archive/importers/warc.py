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

from freshet.archive.importers.base import HistoryReader, Observation
from freshet.archive.warc.build import NOT_MODIFIED_PROFILE
from freshet.archive.warc.http_message import parse_payload
from freshet.archive.warc.located_record import (
    ArchiveFault,
    LocatedRecord,
    RecordOrFault,
    gzip_member_of,
)
from freshet.archive.warc.read import read_records
from freshet.archive.warc.record import (
    CAPTURE_TYPES,
    FINAL_FIELD,
    OUTCOME_FIELD,
    PAGE_FIELD,
    WarcRecord,
    uid_of_record_id,
)
from freshet.core.errors import BadInputError
from freshet.core.types import BadRow, Outcome, Snapshot

SUFFIXES = (".warc", ".warc.gz", ".arc", ".arc.gz")
SOURCE = "warc"
COMPANION_TYPES = ("request", "metadata")
MAX_COMPANIONS = 8
MAX_HOP_RECORDS = 64
PENDING_CAPTURES = 4
PENDING_BYTES = 33_554_432
STATUS_NOT_MODIFIED = 304
TRUNCATION_OUTCOMES = {"length": Outcome.TOO_LARGE, "time": Outcome.TIMEOUT}

_METHOD = re.compile(rb"\s*([A-Za-z]{1,20})[ \t]")


@dataclass(frozen=True, slots=True)
class WarcCapture:
    """A record that shows a page, and the records that tell how it was had."""

    located: LocatedRecord
    companions: tuple[LocatedRecord, ...]


def read(path: Path, *, source: str | None = None) -> "WarcReader":
    """Read a WARC or ARC file, or all those in a folder and the folders beneath."""
    files = _files(path) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        raise BadInputError(
            f"{path}: there is no WARC file; give one ({', '.join(SUFFIXES)}) or a folder"
        )
    return WarcReader(files, SOURCE if source is None else source)


class WarcReader(HistoryReader):
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

    def __iter__(self) -> Iterator[Observation | BadRow]:
        before = 0
        for path in self._files:
            with path.open("rb") as file:
                for found in group_captures(read_records(path)):
                    self._done = max(self._done, before + _offset(found))
                    yield from self._items(found, file)
            before += path.stat().st_size
            self._done = before
        self._conclude()

    def _items(
        self, found: WarcCapture | ArchiveFault, file: BinaryIO
    ) -> Iterator[Observation | BadRow]:
        """Yield what a capture tells, or what is wrong with it; other than http(s) is counted."""
        if isinstance(found, ArchiveFault):
            self._faults += 1
            yield BadRow(f"{found.file}, offset {found.offset}", found.problem)
            return
        self._captures += 1
        if not _page(found.located.record).lower().startswith(("http://", "https://")):
            self._other += 1
        elif _request_method(found) not in {"", "GET"}:
            self._other_methods += 1
        else:
            yield self._item(found, file)

    def _item(self, capture: WarcCapture, file: BinaryIO) -> Observation | BadRow:
        """Return what a capture tells, or what is wrong with it."""
        try:
            return observation_of_capture(capture, self.source, file)
        except ValueError as error:
            return BadRow(_place(capture.located), str(error))

    def _conclude(self) -> None:
        """Note what was left out; refuse an input of which nothing could be read."""
        if self._faults and not self._captures:
            raise BadInputError(
                f"{self._files[0]}: no record of it can be read; check that it is a whole WARC file"
            )
        if self._other:
            self.notes.append(f"{self._other:,} records of other than http(s) pages were left out")
        if self._other_methods:
            left_out = f"{self._other_methods:,} responses to other requests than GET"
            self.notes.append(f"{left_out} (POST, HEAD and the like) were left out")


class _CompanionRecords:
    """Requests, metadata and redirecting answers of one capture, or of none yet; bounded."""

    def __init__(self) -> None:
        self._beside: deque[LocatedRecord] = deque(maxlen=MAX_COMPANIONS)
        self._hops: deque[LocatedRecord] = deque(maxlen=MAX_HOP_RECORDS)

    def __iter__(self) -> Iterator[LocatedRecord]:
        yield from self._beside
        yield from self._hops

    def add(self, item: LocatedRecord) -> None:
        """Keep one more record; where there are too many, the oldest goes."""
        (self._hops if item.record.visit_record_id else self._beside).append(item)

    def move_matching(self, to: "_CompanionRecords", chosen: Callable[[WarcRecord], bool]) -> None:
        """Move some records to the companions of a capture."""
        for item in list(self):
            if chosen(item.record):
                (self._hops if item.record.visit_record_id else self._beside).remove(item)
                to.add(item)

    @property
    def has_request(self) -> bool:
        """Whether the request of the capture is among them."""
        return any(item.record.type == "request" for item in self._beside)


@dataclass(frozen=True, slots=True)
class _PendingCapture:
    """A capture that waits for the records that belong to it."""

    capture: LocatedRecord
    companions: _CompanionRecords

    def is_named_with(self, companion: WarcRecord) -> bool:
        """Whether a record names the capture, or the capture names it."""
        capture = self.capture.record
        if companion.visit_record_id:
            return companion.visit_record_id == capture.id
        concurrent = _bare(capture.field("WARC-Concurrent-To"))
        return capture.id in _named(companion) or concurrent == companion.id

    def accepts(self, companion: WarcRecord) -> bool:
        """Whether a record that names no capture is of the same page, and the capture lacks it."""
        capture = self.capture.record
        if (
            companion.visit_record_id
            or any(_named(companion))
            or capture.field("WARC-Concurrent-To")
        ):
            return False
        is_second = companion.type == "request" and self.companions.has_request
        return companion.target_uri == capture.target_uri and not is_second


def group_captures(found: Iterator[RecordOrFault]) -> Iterator[WarcCapture | ArchiveFault]:
    """Yield each capture with its companions, which stand shortly before or after it."""
    unclaimed = _CompanionRecords()
    pending: deque[_PendingCapture] = deque()
    for item in found:
        if isinstance(item, ArchiveFault):
            yield item
        elif item.record.visit_record_id or item.record.type in COMPANION_TYPES:
            owners = (one.companions for one in reversed(pending) if one.is_named_with(item.record))
            next(owners, unclaimed).add(item)
        elif item.record.type in CAPTURE_TYPES:
            _claim(unclaimed, pending, _PendingCapture(item, _CompanionRecords()))
            while _is_full(pending):
                yield _joined(pending.popleft())
    if pending:
        unclaimed.move_matching(pending[-1].companions, pending[-1].accepts)
    yield from map(_joined, pending)


def _claim(
    unclaimed: _CompanionRecords, pending: deque[_PendingCapture], new: _PendingCapture
) -> None:
    """Share out what stands between the last capture and a new one, which joins the others."""
    unclaimed.move_matching(new.companions, new.is_named_with)
    if pending:
        unclaimed.move_matching(pending[-1].companions, pending[-1].accepts)
    unclaimed.move_matching(new.companions, new.accepts)
    pending.append(new)


def _is_full(pending: deque[_PendingCapture]) -> bool:
    """Whether the first capture has waited long enough for what belongs to it."""
    size = sum(len(one.capture.record.block) for one in pending)
    return len(pending) > 1 and (len(pending) > PENDING_CAPTURES or size > PENDING_BYTES)


def _joined(pending: _PendingCapture) -> WarcCapture:
    return WarcCapture(pending.capture, tuple(pending.companions))


def _named(companion: WarcRecord) -> tuple[str, ...]:
    """Return the ids of the records that a request or metadata record names."""
    fields = (companion.field(name) for name in ("WARC-Concurrent-To", "WARC-Refers-To"))
    return tuple(_bare(field) for field in fields if field)


def observation_of_capture(capture: WarcCapture, source: str, file: BinaryIO) -> Observation:
    """Return what a capture tells; ValueError says why it tells nothing."""
    located, record = capture.located, capture.located.record
    if located.is_partial:
        raise ValueError(f"record of {located.block_size:,} bytes is too large to be a page")
    status, headers, body = parse_payload(record)
    if record.type == "response" and status is None:
        raise ValueError("response has no HTTP header")
    url, final = _page(record), _final(record)
    again, outcome = record.type == "revisit", _outcome(record, status)
    # The HTTP header of such a revisit may be the original's, which replay programs need.
    status = STATUS_NOT_MODIFIED if outcome is Outcome.NOT_MODIFIED else status
    return Observation(
        url,
        source,
        record.date,
        uid_of_record_id(record.id),
        None
        if again or status == STATUS_NOT_MODIFIED
        else Snapshot(url, body, status or 200, headers),
        outcome=outcome,
        status=status,
        final_url=final,
        raw_record=gzip_member_of(located, file),
        companion_records=tuple(
            gzip_member_of(item, file) for item in capture.companions if not item.is_partial
        ),
        original_digest=record.field("WARC-Payload-Digest") if again else None,
        why=_told(record)[1],
        place=_place(located),
    )


def _request_method(capture: WarcCapture) -> str:
    """Return the method of the request that a capture answers; empty where it is not known."""
    requests = (item.record for item in capture.companions if item.record.type == "request")
    block = next((record.block for record in requests if not record.visit_record_id), b"")
    method = _METHOD.match(block)
    return method[1].decode("ascii").upper() if method else ""


def _outcome(record: WarcRecord, status: int | None) -> Outcome | None:
    """Return what the record itself says of how the visit ended."""
    told = _told(record)[0]
    if told is not None:
        return told
    cut = record.field("WARC-Truncated").strip().lower()
    if cut:
        return TRUNCATION_OUTCOMES.get(cut, Outcome.UNREADABLE)
    same = record.type == "revisit" and record.field("WARC-Profile").endswith(
        _last(NOT_MODIFIED_PROFILE)
    )
    return Outcome.NOT_MODIFIED if same or status == STATUS_NOT_MODIFIED else None


def _told(record: WarcRecord) -> tuple[Outcome | None, str]:
    """Return the outcome that we wrote into a record of ours, and why."""
    name, _, why = record.field(OUTCOME_FIELD).partition(";")
    known = name.strip() in Outcome.__members__.values()
    return (Outcome(name.strip()), why.strip()) if known else (None, "")


def _page(record: WarcRecord) -> str:
    """Return the URL of the record's page: the one it names, or else its own."""
    return _bare(record.field(PAGE_FIELD)) or _bare(record.target_uri)


def _final(record: WarcRecord) -> str | None:
    """Return where a visit ended that was redirected."""
    answered_by = _bare(record.target_uri) if record.field(PAGE_FIELD) else ""
    return _bare(record.field(FINAL_FIELD)) or answered_by or None


def _bare(text: str) -> str:
    """Return a record id or URL out of the angle brackets that some writers put it in."""
    return text.strip().removeprefix("<").removesuffix(">")


def _last(profile: str) -> str:
    """Return the name in a profile's address, which is the same in WARC 1.0 and 1.1."""
    return profile.rpartition("/")[2]


def _place(located: LocatedRecord) -> str:
    """Return where a record stands, for a person."""
    return f"{located.path.name}, offset {located.offset}"


def _offset(found: WarcCapture | ArchiveFault) -> int:
    """Return how far into its file something stands."""
    return found.offset if isinstance(found, ArchiveFault) else found.located.offset


def _files(folder: Path) -> list[Path]:
    """Return the WARC files in a folder and beneath, by name."""
    return sorted(
        file for file in folder.rglob("*") if file.is_file() and file.name.endswith(SUFFIXES)
    )
