"""Strict verification of an archive file: every cut and every altered byte is a Fault."""

from collections.abc import Iterator
from pathlib import Path

from freshet.archive.warc.digest import matches_digest, matches_sha1
from freshet.archive.warc.http_message import decode_chunked, stored_body
from freshet.archive.warc.located_record import ArchiveFault, LocatedRecord
from freshet.archive.warc.read import read_records
from freshet.archive.warc.record import WarcRecord, uid_of_record_id

_NO_PAYLOAD_HERE = frozenset({"revisit", "continuation"})


def check_file(path: Path, *, seen_uids: set[bytes] | None = None) -> Iterator[ArchiveFault]:
    """Yield whatever is wrong with an archive file.

    ``seen_uids`` gathers the uids of all records, so that several files can be checked for doubles.
    A file cut exactly between two records is whole in itself; only the catalog knows better.
    """
    seen_uids = set() if seen_uids is None else seen_uids
    for found in read_records(path):
        if isinstance(found, ArchiveFault):
            yield found
        else:
            for what in record_problems(found, seen_uids):
                yield ArchiveFault(found.path.name, found.offset, what, found.record.id)


def record_problems(found: LocatedRecord, seen_uids: set[bytes]) -> Iterator[str]:
    """Yield what is wrong with one record, ``seen_uids`` holding the uids of those before it."""
    yield from found.problems
    if not _block_agrees(found):
        yield "block does not have its WARC-Block-Digest"
    if not (found.is_partial or _payload_agrees(found.record)):
        yield "payload does not have its WARC-Payload-Digest"
    identity = uid_of_record_id(found.record.id)
    if identity in seen_uids:
        yield "record id is used twice"
    seen_uids.add(identity)


def _block_agrees(found: LocatedRecord) -> bool:
    declared = found.record.field("WARC-Block-Digest")
    if found.block_sha1 is not None:
        return matches_sha1(declared, found.block_sha1)
    return matches_digest(declared, found.record.block)


def _payload_agrees(record: WarcRecord) -> bool:
    """Whether the payload has its digest, with or without its chunked coding."""
    declared = record.field("WARC-Payload-Digest")
    if not declared or record.type in _NO_PAYLOAD_HERE or record.field("WARC-Segment-Number"):
        return True
    body = stored_body(record)
    if matches_digest(declared, body):
        return True
    joined = decode_chunked(body)
    return joined is not None and matches_digest(declared, joined)
