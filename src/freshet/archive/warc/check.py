"""Strict verification of records: digests and record ids."""

from collections.abc import Iterator

from freshet.archive.warc.digest import matches_digest, matches_sha1
from freshet.archive.warc.http_message import decode_chunked, stored_body
from freshet.archive.warc.located_record import LocatedRecord
from freshet.archive.warc.record import WarcRecord, uid_of_record_id

_TYPES_WITHOUT_PAYLOAD = frozenset({"revisit", "continuation"})


def record_problems(located: LocatedRecord, seen_uids: set[bytes]) -> Iterator[str]:
    """Yield the problems of one record; ``seen_uids`` holds the uids of the records before it."""
    yield from located.problems
    if not _block_matches(located):
        yield "block does not match its WARC-Block-Digest"
    if not (located.is_partial or _payload_matches(located.record)):
        yield "payload does not match its WARC-Payload-Digest"
    uid = uid_of_record_id(located.record.id)
    if uid in seen_uids:
        yield "record id is used twice"
    seen_uids.add(uid)


def _block_matches(located: LocatedRecord) -> bool:
    declared = located.record.field("WARC-Block-Digest")
    if located.block_sha1 is not None:
        return matches_sha1(declared, located.block_sha1)
    return matches_digest(declared, located.record.block)


def _payload_matches(record: WarcRecord) -> bool:
    """Return whether the payload has its declared digest, with or without its chunked coding."""
    declared = record.field("WARC-Payload-Digest")
    if not declared or record.type in _TYPES_WITHOUT_PAYLOAD or record.field("WARC-Segment-Number"):
        return True
    body = stored_body(record)
    if matches_digest(declared, body):
        return True
    unchunked = decode_chunked(body)
    return unchunked is not None and matches_digest(declared, unchunked)
