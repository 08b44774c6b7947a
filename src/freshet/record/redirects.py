"""Visits that were redirected and got no last answer: what they brought is the last redirect."""

from dataclasses import replace

from freshet.archive.importers.base import Arrival
from freshet.archive.warc.build import response
from freshet.archive.warc.http_message import payload
from freshet.core.types import Snapshot
from freshet.record.record_store import told_head


def with_answer(arrival: Arrival) -> Arrival:
    """Return the arrival with its last redirecting answer, where no other came after it."""
    if not arrival.hops or arrival.http is not None or arrival.snapshot is not None:
        return arrival
    *before, last = arrival.hops
    record = response(last.url, arrival.time, told_head(last.http.head) + last.body)
    status, headers, body = payload(record)
    return replace(
        arrival,
        snapshot=Snapshot(last.url, body, status or 0, headers),
        status=status,
        http=last.http,
        hops=tuple(before),
        answered_by=last.url,
    )
