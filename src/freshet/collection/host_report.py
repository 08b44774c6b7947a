"""Reports the state of one host: its delay, its back-off and its robots.txt; ends a back-off."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from freshet.archive.catalog.rows import HostPages, HostState
from freshet.core.clock import from_epoch
from freshet.core.errors import NotFoundError
from freshet.core.local_time import format_to_second
from freshet.crawl.hosts import delay_of, host_names
from freshet.record.collection_store import CollectionStore
from freshet.record.writer_lock import running_crawl
from freshet.view.url import canonical_url, page_address


@dataclass(frozen=True, slots=True)
class RobotsReport:
    """The state of a robots.txt, for pages of http or https if a host has both.

    ``status`` is None if no answer came; ``failing_since`` is set while the file cannot be fetched,
    and ``why`` gives the reason. It is not fetched again before ``expires``.
    """

    scheme: str
    fetched: datetime
    expires: datetime
    status: int | None
    failing_since: datetime | None
    why: str

    def line(self) -> str:
        """Return the state in one line."""
        expires = format_to_second(self.expires)
        if self.failing_since is None:
            has_file = self.status is not None and self.status // 100 == 2
            state = "read" if has_file else f"none ({self.status})"
            return f"{state} {format_to_second(self.fetched)}, holds until {expires}"
        since, reason = format_to_second(self.failing_since), self.why or "no answer"
        return f"unavailable since {since} ({reason}); next request after {expires}"


@dataclass(frozen=True, slots=True)
class HostReport:
    """The state of a host; ``next_allowed`` and ``closed_until`` are None unless in the future.

    ``delay`` is the number of seconds between two requests, ``crawl_delay`` that of its robots.txt,
    ``failures`` the number of requests in a row that failed, ``pages`` that of its live pages.
    """

    host: str
    pages: int
    delay: float
    crawl_delay: float | None
    next_allowed: datetime | None
    closed_until: datetime | None
    failures: int
    robots: tuple[RobotsReport, ...]

    def lines(self) -> list[tuple[str, str]]:
        """Return the labels and texts of the report."""
        delay_origin = " (its Crawl-delay)" if self.crawl_delay == self.delay else ""
        closed = f"until {format_to_second(self.closed_until)}" if self.closed_until else "no"
        times = [time for time in (self.next_allowed, self.closed_until) if time is not None]
        next_request = f"not before {format_to_second(max(times))}" if times else "at any time"
        robots = [(f"robots.txt ({file.scheme})", file.line()) for file in self.robots]
        return [
            ("host", self.host),
            ("pages", f"{self.pages:,}"),
            ("delay", f"{self.delay:g} s between two requests{delay_origin}"),
            ("next request", next_request),
            ("backed off", closed),
            ("failures in a row", str(self.failures)),
            *(robots or [("robots.txt", "not requested yet")]),
        ]


@dataclass(frozen=True, slots=True)
class ReopenedHost:
    """A host whose back-off was cleared, and the running crawl that visits it; empty if none."""

    host: HostReport
    crawl: str


def host_report(collection: CollectionStore, name: str) -> HostReport:
    """Return the state of a host, given by its name (with a port if it has one) or by a URL."""
    host = parse_host_name(name)
    states = collection.catalog.host_states_of(host_names(host))
    page_count = collection.catalog.count_host_pages(host)
    if not page_count and not states:
        raise NotFoundError(f"no page is on {host} and it has no state; see 'freshet list'")
    return _report(collection, HostPages(host, page_count), states)


def host_reports(collection: CollectionStore, hosts: Sequence[HostPages]) -> list[HostReport]:
    """Return the states of hosts, given with the numbers of their pages."""
    names = [name for item in hosts for name in host_names(item.host)]
    states = collection.catalog.host_states_of(names)
    return [_report(collection, item, states) for item in hosts]


def _report(
    collection: CollectionStore, item: HostPages, states: Mapping[str, HostState]
) -> HostReport:
    host, page_count, now = item.host, item.pages, collection.clock.now()
    state = states.get(host) or HostState(host)
    reports = [
        _robots_report(host, key, states[key].robots) for key in host_names(host) if key in states
    ]
    return HostReport(
        host,
        page_count,
        delay_of(collection.settings.politeness, state.delay),
        state.delay,
        _if_future(state.next_allowed, now),
        _if_future(state.backoff_until, now),
        state.failures,
        tuple(report for report in reports if report is not None),
    )


def reopen_host(collection: CollectionStore, name: str) -> ReopenedHost:
    """Clear a host's back-off and the failure of its robots.txt; its delay stays."""
    host = host_report(collection, name).host
    collection.catalog.reopen_hosts(host_names(host))
    return ReopenedHost(host_report(collection, host), running_crawl(collection.archive_folder))


def parse_host_name(text: str) -> str:
    """Return the host of a host name or of a URL.

    >>> parse_host_name("Example.org"), parse_host_name("https://example.org:8080/a")
    ('example.org', 'example.org:8080')
    """
    url = canonical_url(text if "://" in text else f"https://{text}/")
    if url is None or not url.startswith(("http://", "https://")):
        raise NotFoundError(f"{text!r} is not a host; write it as example.org or example.org:8080")
    return page_address(url).host


def _robots_report(host: str, key: str, robots: Mapping[str, Any]) -> RobotsReport | None:
    if not robots:
        return None
    scheme = "https" if len(host_names(host)) > 1 else "this port"
    since = robots.get("failing_since")
    return RobotsReport(
        scheme if key == host else "http",
        from_epoch(float(robots["fetched"])),
        from_epoch(float(robots["expires"])),
        robots.get("status"),
        None if since is None else from_epoch(float(since)),
        robots.get("why") or "",
    )


def _if_future(time: datetime | None, now: datetime) -> datetime | None:
    return time if time is not None and time > now else None
