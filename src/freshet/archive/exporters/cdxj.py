"""Export the sorted index that replay programs use to find captures (CDXJ).

The lines equal those that cdxj-indexer writes for the same records, except that user names and
passwords are removed from URLs.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from freshet.archive.disk_index import sort_lines
from freshet.archive.exporters.surt import surt
from freshet.archive.warc.digest import format_digest, sha1
from freshet.archive.warc.http_message import parse_payload, stored_body
from freshet.archive.warc.located_record import LocatedRecord
from freshet.archive.warc.read import closed_name
from freshet.archive.warc.record import HeaderFields, WarcRecord
from freshet.core.files import atomic_output
from freshet.core.redaction import strip_user_info
from freshet.core.types import RecordLocation

REVISIT = "warc/revisit"
INDEXED_TYPES = frozenset({"response", "revisit", "resource", "metadata"})
WARC_FIELDS = "application/warc-fields"

_AFTER_MEDIA_TYPE = re.compile(r"[;\s]")


def write(path: Path, records: Iterable[LocatedRecord]) -> int:
    """Write the sorted index lines of records; return their number."""
    written = 0
    with atomic_output(path) as partial_path, partial_path.open("wb") as file:
        for text in sort_lines(index_lines(records)):
            file.write(text + b"\n")
            written += 1
    return written


def index_lines(records: Iterable[LocatedRecord]) -> Iterator[bytes]:
    """Yield the index line of each record that a replay program can show."""
    for located in records:
        if is_indexed(located.record):
            location = RecordLocation(closed_name(located.path), located.offset, located.length)
            yield index_line(located.record, location).encode()


def is_indexed(record: WarcRecord) -> bool:
    """Return whether a record has an index line; requests and metadata have none."""
    return record.type in INDEXED_TYPES and record.media_type != WARC_FIELDS


def index_line(record: WarcRecord, location: RecordLocation) -> str:
    """Return the index line of a record: key, time to the second, and location."""
    status, headers, _ = parse_payload(record)
    url = strip_user_info(record.target_uri)
    fields = {
        "url": url,
        "mime": _media_type(record, headers),
        "status": str(status) if status and record.type != "resource" else None,
        "digest": record.field("WARC-Payload-Digest") or format_digest(sha1(stored_body(record))),
        "length": str(location.length),
        "offset": str(location.offset),
        "filename": location.file,
    }
    known_fields = {name: value for name, value in fields.items() if value is not None}
    return f"{surt(url)} {record.date:%Y%m%d%H%M%S} {json.dumps(known_fields)}"


def _media_type(record: WarcRecord, headers: HeaderFields) -> str | None:
    if record.type == "revisit":
        return REVISIT
    declared = (value for name, value in headers if name.lower() == "content-type")
    content_type = next(declared, None)
    return _AFTER_MEDIA_TYPE.split(content_type, maxsplit=1)[0] if content_type else content_type
