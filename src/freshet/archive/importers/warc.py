"""Import WARC and ARC files: every response, resource and revisit of an http(s) page, unchanged.

The gzip member of a capture is copied without change if it holds no other record, together with the
members of its request and metadata; in a file written by Freshet, redirects belong to the visit
that they led to. The body keeps its content coding. A truncated capture is not a look; responses to
requests other than GET are ignored. The default source is ``warc`` for all captures, so that the
captures of a URL form one history; an empty source joins them to the live pages.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from freshet.archive.importers.base import HistoryReader
from freshet.archive.observation import Observation
from freshet.archive.warc.build import NOT_MODIFIED_PROFILE
from freshet.archive.warc.captures import WarcCapture, group_captures
from freshet.archive.warc.http_message import parse_payload
from freshet.archive.warc.located_record import ArchiveFault, LocatedRecord, gzip_member_of
from freshet.archive.warc.read import read_records
from freshet.archive.warc.record import (
    FINAL_FIELD,
    OUTCOME_FIELD,
    PAGE_FIELD,
    WarcRecord,
    strip_brackets,
    uid_of_record_id,
)
from freshet.core.errors import BadInputError
from freshet.core.types import BadRow, Outcome, Snapshot

SUFFIXES = (".warc", ".warc.gz", ".arc", ".arc.gz")
SOURCE = "warc"
STATUS_NOT_MODIFIED = 304
TRUNCATION_OUTCOMES = {"length": Outcome.TOO_LARGE, "time": Outcome.TIMEOUT}

_REQUEST_METHOD = re.compile(rb"\s*([A-Za-z]{1,20})[ \t]")


def read(path: Path, *, source: str | None = None) -> "WarcReader":
    """Read a WARC or ARC file, or all such files in a folder and its subfolders."""
    files = [path]
    if path.is_dir():
        names = (file for file in path.rglob("*") if file.name.endswith(SUFFIXES))
        files = sorted(file for file in names if file.is_file())
    if not files or not files[0].is_file():
        raise BadInputError(
            f"{path}: there is no WARC file; give one ({', '.join(SUFFIXES)}) or a folder"
        )
    return WarcReader(files, SOURCE if source is None else source)


class WarcReader(HistoryReader):
    """Reads the captures of WARC files; progress is counted in bytes."""

    def __init__(self, files: Sequence[Path], source: str) -> None:
        super().__init__(sum(file.stat().st_size for file in files), source)
        self._files = files
        self._other_schemes = 0
        self._other_methods = 0
        self._capture_count = 0
        self._fault_count = 0

    def __iter__(self) -> Iterator[Observation | BadRow]:
        bytes_before = 0
        for path in self._files:
            with path.open("rb") as file:
                for item in group_captures(read_records(path)):
                    position = item if isinstance(item, ArchiveFault) else item.located
                    self._done = max(self._done, bytes_before + position.offset)
                    yield from self._observations(item, file)
            bytes_before += path.stat().st_size
            self._done = bytes_before
        self._finish()

    def _observations(
        self, item: WarcCapture | ArchiveFault, file: BinaryIO
    ) -> Iterator[Observation | BadRow]:
        """Yield the observation or bad row of a capture; count captures that are ignored."""
        if isinstance(item, ArchiveFault):
            self._fault_count += 1
            yield BadRow(f"{item.file}, offset {item.offset}", item.problem)
            return
        self._capture_count += 1
        if not _page_url(item.located.record).lower().startswith(("http://", "https://")):
            self._other_schemes += 1
        elif _request_method(item) not in {"", "GET"}:
            self._other_methods += 1
        else:
            yield self._observation_or_bad_row(item, file)

    def _observation_or_bad_row(self, capture: WarcCapture, file: BinaryIO) -> Observation | BadRow:
        """Return the observation of a capture, or a bad row."""
        try:
            return observation_of_capture(capture, self.source, file)
        except ValueError as error:
            return BadRow(_describe_position(capture.located), str(error))

    def _finish(self) -> None:
        """Add notes about ignored captures; raise an error if nothing at all could be read."""
        if self._fault_count and not self._capture_count:
            raise BadInputError(
                f"{self._files[0]}: no record can be read; check that it is a complete WARC file"
            )
        if self._other_schemes:
            self.notes.append(
                f"{self._other_schemes:,} records of pages other than http(s) were skipped"
            )
        if self._other_methods:
            responses = f"{self._other_methods:,} responses to requests other than GET"
            self.notes.append(f"{responses} (such as POST and HEAD) were skipped")


def observation_of_capture(capture: WarcCapture, source: str, file: BinaryIO) -> Observation:
    """Return the observation of a capture; raise ValueError if it is unusable."""
    located, record = capture.located, capture.located.record
    if located.is_partial:
        raise ValueError(f"record of {located.block_size:,} bytes is too large to be a page")
    status, headers, body = parse_payload(record)
    if record.type == "response" and status is None:
        raise ValueError("response has no HTTP header")
    url = _page_url(record)
    is_revisit = record.type == "revisit"
    outcome = _outcome(record, status)
    # The HTTP header of such a revisit can be the original's, so its status says nothing.
    status = STATUS_NOT_MODIFIED if outcome is Outcome.NOT_MODIFIED else status
    has_content = not is_revisit and status != STATUS_NOT_MODIFIED
    return Observation(
        url,
        source,
        record.date,
        uid_of_record_id(record.id),
        Snapshot(url, body, status or 200, headers) if has_content else None,
        outcome=outcome,
        status=status,
        final_url=_final_url(record),
        raw_record=gzip_member_of(located, file),
        companion_records=tuple(
            gzip_member_of(item, file) for item in capture.companions if not item.is_partial
        ),
        original_digest=record.field("WARC-Payload-Digest") if is_revisit else None,
        why=_recorded_outcome(record)[1],
        place=_describe_position(located),
    )


def _request_method(capture: WarcCapture) -> str:
    """Return the method of the request that a capture answers; empty if it is unknown."""
    records = (located.record for located in capture.companions)
    requests = (item for item in records if item.type == "request" and not item.visit_record_id)
    method = _REQUEST_METHOD.match(next((request.block for request in requests), b""))
    return method[1].decode("ascii").upper() if method else ""


def _outcome(record: WarcRecord, status: int | None) -> Outcome | None:
    """Return the outcome that the record itself states."""
    recorded = _recorded_outcome(record)[0]
    if recorded is not None:
        return recorded
    truncation = record.field("WARC-Truncated").strip().lower()
    if truncation:
        return TRUNCATION_OUTCOMES.get(truncation, Outcome.UNREADABLE)
    # The last part of the profile is the same in WARC 1.0 and 1.1.
    profile = record.field("WARC-Profile").rpartition("/")[2]
    is_unchanged = record.type == "revisit" and profile == NOT_MODIFIED_PROFILE.rpartition("/")[2]
    return Outcome.NOT_MODIFIED if is_unchanged or status == STATUS_NOT_MODIFIED else None


def _recorded_outcome(record: WarcRecord) -> tuple[Outcome | None, str]:
    """Return the outcome and its explanation that Freshet wrote into a record of its own."""
    name, _, why = record.field(OUTCOME_FIELD).partition(";")
    is_outcome = name.strip() in Outcome.__members__.values()
    return (Outcome(name.strip()), why.strip()) if is_outcome else (None, "")


def _page_url(record: WarcRecord) -> str:
    """Return the URL of the record's page: the one in its page field, or else its target."""
    return strip_brackets(record.field(PAGE_FIELD)) or strip_brackets(record.target_uri)


def _final_url(record: WarcRecord) -> str | None:
    """Return the URL at which a redirected visit ended."""
    answering_url = strip_brackets(record.target_uri) if record.field(PAGE_FIELD) else ""
    return strip_brackets(record.field(FINAL_FIELD)) or answering_url or None


def _describe_position(located: LocatedRecord) -> str:
    """Return the position of a record, for messages."""
    return f"{located.path.name}, offset {located.offset}"
