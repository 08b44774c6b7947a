"""Reads an archive with warcio and fastwarc, which have to agree on every record."""

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path
from urllib.parse import unquote

from warcio.archiveiterator import ArchiveIterator

from freshet.archive.warc.record import NOT_MODIFIED_FIELD, VISIT_FIELD
from tests.fetch.crash.web import REQUEST_HEADER

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    from fastwarc.warc import ArchiveIterator as FastwarcIterator

_NAME = re.compile(rf"(?im)^{REQUEST_HEADER}: *(\S+)")
ANSWERS = frozenset({"response", "revisit"})


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """One record; ``request`` is the number that the server gave the request it answers.

    ``visit`` is the record of the visit that a redirecting answer belongs to, empty for others.
    """

    id: str
    type: str
    target: str
    visit: str
    request: str
    digest: str

    @property
    def uid(self) -> str:
        """Return the visit's identity, as the catalog has it, in hexadecimal digits."""
        return (self.visit or self.id).strip("<>").removeprefix("urn:uuid:").replace("-", "")


def read_by_warcio(folder: Path) -> Iterator[StoredRecord]:
    """Read the records of a folder with warcio, which also compares their digests."""
    for path in sorted(folder.glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                fields, http = record.rec_headers, record.http_headers
                body = record.content_stream().read()
                yield StoredRecord(
                    fields.get_header("WARC-Record-ID"),
                    record.rec_type,
                    fields.get_header("WARC-Target-URI") or "",
                    fields.get_header(VISIT_FIELD) or "",
                    _request(
                        fields.get_header(NOT_MODIFIED_FIELD),
                        http and http.get_header(REQUEST_HEADER),
                    ),
                    sha1(body).hexdigest(),
                )


def read_by_fastwarc(folder: Path) -> Iterator[StoredRecord]:
    """Read the records of a folder with fastwarc."""
    for path in sorted(folder.glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in FastwarcIterator(file, strict_mode=True):
                fields, http = record.headers, record.http_headers
                yield StoredRecord(
                    record.record_id,
                    fields.get("WARC-Type") or "",
                    fields.get("WARC-Target-URI") or "",
                    fields.get(VISIT_FIELD) or "",
                    _request(fields.get(NOT_MODIFIED_FIELD), http and http.get(REQUEST_HEADER)),
                    sha1(record.reader.read()).hexdigest(),
                )


def _request(not_modified: str | None, answer_header: str | None) -> str:
    """Return the request's number from the header of the 304, or of the answer."""
    match = _NAME.search(unquote(not_modified or ""))
    return match[1] if match else answer_header or ""
