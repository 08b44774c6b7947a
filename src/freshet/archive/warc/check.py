"""Strict verification of an archive file: every cut and every altered byte is a Fault."""

from collections.abc import Iterator
from pathlib import Path

from freshet.archive.warc.digest import agrees, sha1_agrees
from freshet.archive.warc.http_message import join_chunks, stored_body
from freshet.archive.warc.located_record import Fault, Located
from freshet.archive.warc.read import records
from freshet.archive.warc.record import Record, uid

_NO_PAYLOAD_HERE = frozenset({"revisit", "continuation"})


def check(path: Path, *, seen: set[bytes] | None = None) -> Iterator[Fault]:
    """Yield whatever is wrong with an archive file.

    ``seen`` gathers the uids of all records, so that several files can be checked for doubles.
    A file cut exactly between two records is whole in itself; only the catalog knows better.
    """
    seen = set() if seen is None else seen
    for found in records(path):
        if isinstance(found, Fault):
            yield found
        else:
            for what in problems(found, seen):
                yield Fault(found.path.name, found.offset, what, found.record.id)


def problems(found: Located, seen: set[bytes]) -> Iterator[str]:
    """Yield what is wrong with one record, ``seen`` holding the uids of those before it."""
    yield from found.problems
    if not _block_agrees(found):
        yield "block does not have its WARC-Block-Digest"
    if not (found.is_partial or _payload_agrees(found.record)):
        yield "payload does not have its WARC-Payload-Digest"
    identity = uid(found.record.id)
    if identity in seen:
        yield "record id is used twice"
    seen.add(identity)


def _block_agrees(found: Located) -> bool:
    declared = found.record.field("WARC-Block-Digest")
    if found.block_sha1 is not None:
        return sha1_agrees(declared, found.block_sha1)
    return agrees(declared, found.record.block)


def _payload_agrees(record: Record) -> bool:
    """Whether the payload has its digest, with or without its chunked coding."""
    declared = record.field("WARC-Payload-Digest")
    if not declared or record.type in _NO_PAYLOAD_HERE or record.field("WARC-Segment-Number"):
        return True
    body = stored_body(record)
    if agrees(declared, body):
        return True
    joined = join_chunks(body)
    return joined is not None and agrees(declared, joined)
