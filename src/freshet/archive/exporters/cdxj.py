"""The index that replay programs look captures up in: a line per record, sorted (CDXJ).

The lines are those that cdxj-indexer writes for the same records, key by key, but for user names
and passwords in URLs, which are left out.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from freshet.archive.exporters.surt import surt
from freshet.archive.spill import sort_lines
from freshet.archive.warc.digest import format_digest, sha1
from freshet.archive.warc.http_message import parse_payload, stored_body
from freshet.archive.warc.located_record import LocatedRecord
from freshet.archive.warc.read import closed_name
from freshet.archive.warc.record import WarcRecord
from freshet.core.partial_files import atomic_output
from freshet.core.redaction import strip_user_info
from freshet.core.types import RecordLocation

REVISIT = "warc/revisit"
INDEXED_TYPES = frozenset({"response", "revisit", "resource", "metadata"})
WARC_FIELDS = "application/warc-fields"

_AFTER_MEDIA_TYPE = re.compile(r"[;\s]")


def write(path: Path, records: Iterable[LocatedRecord]) -> int:
    """Write the lines of records, in order; return how many there were."""
    written = 0
    with atomic_output(path) as part, part.open("wb") as file:
        for text in sort_lines(index_lines(records)):
            file.write(text + b"\n")
            written += 1
    return written


def index_lines(records: Iterable[LocatedRecord]) -> Iterator[bytes]:
    """Yield the index line of each record that replay programs may show."""
    for found in records:
        if is_indexed(found.record):
            place = RecordLocation(closed_name(found.path), found.offset, found.length)
            yield index_line(found.record, place).encode()


def is_indexed(record: WarcRecord) -> bool:
    """Whether a record has a line; requests and mere facts about records have none."""
    return record.type in INDEXED_TYPES and record.media_type != WARC_FIELDS


def index_line(record: WarcRecord, place: RecordLocation) -> str:
    """Return the index line of a record: key, time to the second, and where it lies."""
    status, headers, _ = parse_payload(record)
    url = strip_user_info(record.target_uri)
    fields = {
        "url": url,
        "mime": _media_type(record, dict(reversed([(n.lower(), v) for n, v in headers]))),
        "status": str(status) if status and record.type != "resource" else None,
        "digest": record.field("WARC-Payload-Digest") or format_digest(sha1(stored_body(record))),
        "length": str(place.length),
        "offset": str(place.offset),
        "filename": place.file,
    }
    known = {name: value for name, value in fields.items() if value is not None}
    return f"{surt(url)} {record.date:%Y%m%d%H%M%S} {json.dumps(known)}"


def _media_type(record: WarcRecord, http_headers: dict[str, str]) -> str | None:
    if record.type == "revisit":
        return REVISIT
    declared = http_headers.get("content-type")
    return _AFTER_MEDIA_TYPE.split(declared, maxsplit=1)[0] if declared else declared
