"""Group the records of a WARC file: each capture with its request, metadata and redirects."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from freshet.archive.warc.located_record import ArchiveFault, LocatedRecord, RecordOrFault
from freshet.archive.warc.record import CAPTURE_TYPES, WarcRecord, strip_brackets

COMPANION_TYPES = ("request", "metadata")
MAX_COMPANIONS = 8
MAX_HOP_RECORDS = 64
MAX_PENDING_CAPTURES = 4
MAX_PENDING_BYTES = 33_554_432


@dataclass(frozen=True, slots=True)
class WarcCapture:
    """A record that captures a page, and the records of its request, metadata and redirects."""

    located: LocatedRecord
    companions: tuple[LocatedRecord, ...]


class _CompanionRecords:
    """The requests, metadata and redirects of one capture, or of none yet; bounded."""

    def __init__(self) -> None:
        self._requests_and_metadata: deque[LocatedRecord] = deque(maxlen=MAX_COMPANIONS)
        self._hops: deque[LocatedRecord] = deque(maxlen=MAX_HOP_RECORDS)

    def __iter__(self) -> Iterator[LocatedRecord]:
        yield from self._requests_and_metadata
        yield from self._hops

    def add(self, located: LocatedRecord) -> None:
        """Add a record; if there are too many, the oldest is dropped."""
        self._queue_of(located).append(located)

    def move_matching(
        self, target: "_CompanionRecords", matches: Callable[[WarcRecord], bool]
    ) -> None:
        """Move the matching records to another object."""
        for located in list(self):
            if matches(located.record):
                self._queue_of(located).remove(located)
                target.add(located)

    def _queue_of(self, located: LocatedRecord) -> deque[LocatedRecord]:
        return self._hops if located.record.visit_record_id else self._requests_and_metadata

    @property
    def has_request(self) -> bool:
        """Return whether the request of the capture is among them."""
        return any(item.record.type == "request" for item in self._requests_and_metadata)


@dataclass(frozen=True, slots=True)
class _PendingCapture:
    """A capture that waits for its companion records."""

    capture: LocatedRecord
    companions: _CompanionRecords = field(default_factory=_CompanionRecords)

    def is_named_with(self, companion: WarcRecord) -> bool:
        """Return whether a record refers to the capture, or the capture to the record."""
        record = self.capture.record
        if companion.visit_record_id:
            return companion.visit_record_id == record.id
        concurrent_id = strip_brackets(record.field("WARC-Concurrent-To"))
        return record.id in _named_record_ids(companion) or concurrent_id == companion.id

    def accepts(self, companion: WarcRecord) -> bool:
        """Return whether a record without references fits the capture, which lacks it."""
        record = self.capture.record
        has_reference = companion.visit_record_id or any(_named_record_ids(companion))
        if has_reference or record.field("WARC-Concurrent-To"):
            return False
        is_second_request = companion.type == "request" and self.companions.has_request
        return companion.target_uri == record.target_uri and not is_second_request

    def finished(self) -> WarcCapture:
        """Return the capture with the companions found so far."""
        return WarcCapture(self.capture, tuple(self.companions))


def group_captures(items: Iterator[RecordOrFault]) -> Iterator[WarcCapture | ArchiveFault]:
    """Yield each capture with its companions, which are shortly before or after it."""
    unclaimed = _CompanionRecords()
    pending: deque[_PendingCapture] = deque()
    for item in items:
        if isinstance(item, ArchiveFault):
            yield item
        elif item.record.visit_record_id or item.record.type in COMPANION_TYPES:
            named = (capture for capture in reversed(pending) if capture.is_named_with(item.record))
            owner = next(named, None)
            (owner.companions if owner else unclaimed).add(item)
        elif item.record.type in CAPTURE_TYPES:
            _assign_companions(unclaimed, pending, _PendingCapture(item))
            while _is_full(pending):
                yield pending.popleft().finished()
    if pending:
        unclaimed.move_matching(pending[-1].companions, pending[-1].accepts)
    yield from (capture.finished() for capture in pending)


def _assign_companions(
    unclaimed: _CompanionRecords, pending: deque[_PendingCapture], new_capture: _PendingCapture
) -> None:
    """Assign the records between the last capture and a new one, and add the new one."""
    unclaimed.move_matching(new_capture.companions, new_capture.is_named_with)
    if pending:
        unclaimed.move_matching(pending[-1].companions, pending[-1].accepts)
    unclaimed.move_matching(new_capture.companions, new_capture.accepts)
    pending.append(new_capture)


def _is_full(pending: deque[_PendingCapture]) -> bool:
    """Return whether the first capture has waited long enough for its companions."""
    size = sum(len(waiting.capture.record.block) for waiting in pending)
    return len(pending) > 1 and (len(pending) > MAX_PENDING_CAPTURES or size > MAX_PENDING_BYTES)


def _named_record_ids(companion: WarcRecord) -> tuple[str, ...]:
    """Return the ids of the records that a request or metadata record refers to."""
    fields = (companion.field(name) for name in ("WARC-Concurrent-To", "WARC-Refers-To"))
    return tuple(strip_brackets(value) for value in fields if value)
