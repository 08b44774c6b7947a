"""Hosts: the delay between requests, robots.txt and back-off of each."""

from dataclasses import dataclass
from datetime import datetime

from freshet.collection.host_report import HostReport, host_reports
from freshet.serve.dashboard import Dashboard
from freshet.serve.parameters import (
    ParameterValues,
    QueryParameter,
    decode_cursor,
    encode_cursor,
)

HOST_ORDER = "host"
HOST_PARAMETERS = (
    QueryParameter("q", "Part of the name that hosts must have."),
    QueryParameter("cursor", "The 'next' of the previous part of the list."),
    QueryParameter("limit", "Number of hosts.", 50, low=1, high=200),
)


@dataclass(frozen=True, slots=True)
class HostRow:
    """A host, and its report as a line for each fact."""

    report: HostReport
    lines: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class HostsDocument:
    """A part of the list of hosts; ``next`` is the cursor of the next part, None at the end."""

    made: datetime
    rows: list[HostRow]
    next: str | None


def read_hosts(dashboard: Dashboard, values: ParameterValues) -> HostsDocument:
    """Return a part of the list of hosts."""
    collection, limit = dashboard.collection, values["limit"]
    (after,) = decode_cursor(values["cursor"], HOST_ORDER) or ("",)
    hosts = collection.catalog.listed_hosts(values["q"], after=after, limit=limit + 1)
    reports = host_reports(collection, hosts[:limit])
    return HostsDocument(
        collection.clock.now(),
        [HostRow(report, report.lines()) for report in reports],
        encode_cursor(HOST_ORDER, [reports[-1].host]) if len(hosts) > limit else None,
    )
