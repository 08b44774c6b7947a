"""Visits that were redirected and got no last answer: what they brought is the last redirect."""

from dataclasses import replace

from freshet.archive.observation import Observation
from freshet.archive.warc.build import build_response
from freshet.archive.warc.http_message import parse_payload
from freshet.core.types import Snapshot
from freshet.record.record_store import strip_transfer_coding


def with_last_redirect(arrival: Observation) -> Observation:
    """Return the arrival with its last redirecting answer, where no other came after it."""
    if not arrival.hops or arrival.exchange is not None or arrival.snapshot is not None:
        return arrival
    *before, last = arrival.hops
    record = build_response(
        last.url, arrival.time, strip_transfer_coding(last.exchange.response_head) + last.body
    )
    status, headers, body = parse_payload(record)
    return replace(
        arrival,
        snapshot=Snapshot(last.url, body, status or 0, headers),
        status=status,
        exchange=last.exchange,
        hops=tuple(before),
        answering_url=last.url,
    )
