"""One host as people see it: how it is treated, what closed it, and how to open it again."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from freshet.archive.catalog.rows import HostState
from freshet.archive.warc.lock import ArchiveLock
from freshet.core.clock import from_epoch
from freshet.core.errors import NotFoundError
from freshet.core.local_time import format_to_second
from freshet.crawl.hosts import delay_of, host_names
from freshet.record.archive_writer import is_crawl
from freshet.record.store import CollectionStore
from freshet.view.url import canonical_url, page_address


@dataclass(frozen=True, slots=True)
class RobotsReport:
    """What is known of a robots.txt: for pages of http or https, where a host has both.

    ``status`` is None where no answer came; ``failing_since`` is set while the file cannot be had,
    and ``why`` says what came instead. Until ``expires`` it is not asked for again.
    """

    scheme: str
    fetched: datetime
    expires: datetime
    status: int | None
    failing_since: datetime | None
    why: str

    def line(self) -> str:
        """Say it in one line."""
        if self.failing_since is None:
            found = "read" if self.status and self.status // 100 == 2 else f"none ({self.status})"
            return f"{found} {format_to_second(self.fetched)}, holds until {format_to_second(self.expires)}"
        return (
            f"cannot be had since {format_to_second(self.failing_since)} ({self.why or 'no answer'}); "
            f"asked again after {format_to_second(self.expires)}"
        )


@dataclass(frozen=True, slots=True)
class HostReport:
    """How a host is treated; ``next_allowed`` and ``closed_until`` are None where it is now.

    ``delay`` is the seconds between two requests, ``crawl_delay`` what its robots.txt asks for,
    ``failures`` how many requests in a row have failed, ``pages`` how many live pages lie on it.
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
        """Return what there is to say, each with what it is about."""
        of_robots = " (its Crawl-delay)" if self.crawl_delay == self.delay else ""
        closed = f"until {format_to_second(self.closed_until)}" if self.closed_until else "no"
        ahead = [time for time in (self.next_allowed, self.closed_until) if time is not None]
        robots = [(f"robots.txt ({file.scheme})", file.line()) for file in self.robots]
        return [
            ("host", self.host),
            ("pages", f"{self.pages:,}"),
            ("delay", f"{self.delay:g} s between two requests{of_robots}"),
            (
                "next request",
                f"not before {format_to_second(max(ahead))}" if ahead else "at any time",
            ),
            ("backed off", closed),
            ("failures in a row", str(self.failures)),
            *(robots or [("robots.txt", "not asked for yet")]),
        ]


@dataclass(frozen=True, slots=True)
class ReopenedHost:
    """A host whose back-off was cleared, and the crawl that takes this up; empty if none runs."""

    host: HostReport
    crawl: str


def host_report(collection: CollectionStore, name: str) -> HostReport:
    """Return how a host is treated; the name is a host, with a port where it has one, or a URL."""
    host, now = parse_host_name(name), collection.clock.now()
    states = {key: collection.catalog.host_state(key) for key in host_names(host)}
    pages = collection.catalog.count_host_pages(host)
    if not pages and not any(states.values()):
        raise NotFoundError(
            f"no page lies on {host} and nothing is known of it; see 'freshet list'"
        )
    state = states[host] or HostState(host)
    robots = [_robots(host, key, kept.robots) for key, kept in states.items() if kept]
    return HostReport(
        host,
        pages,
        delay_of(collection.settings.politeness, state.delay),
        state.delay,
        _ahead(state.next_allowed, now),
        _ahead(state.backoff_until, now),
        state.failures,
        tuple(report for report in robots if report is not None),
    )


def reopen_host(collection: CollectionStore, name: str) -> ReopenedHost:
    """Clear a host's back-off, and what failed of its robots.txt; its delay holds on."""
    host = host_report(collection, name).host
    collection.catalog.reopen_hosts(host_names(host))
    writer = ArchiveLock(collection.archive_folder).holder()
    return ReopenedHost(host_report(collection, host), writer if is_crawl(writer) else "")


def parse_host_name(text: str) -> str:
    """Return the host that a person names, by its name or by a URL on it.

    >>> parse_host_name("Example.org"), parse_host_name("https://example.org:8080/a"), parse_host_name("127.0.0.1:80")
    ('example.org', 'example.org:8080', '127.0.0.1:80')
    """
    url = canonical_url(text if "://" in text else f"https://{text}/")
    if url is None or not url.startswith(("http://", "https://")):
        raise NotFoundError(f"{text!r} is no host; name it as example.org or example.org:8080")
    return page_address(url).host


def _robots(host: str, key: str, kept: Mapping[str, Any]) -> RobotsReport | None:
    if not kept:
        return None
    scheme = "https" if len(host_names(host)) > 1 else "this port"
    since = kept.get("failing_since")
    return RobotsReport(
        scheme if key == host else "http",
        from_epoch(float(kept["fetched"])),
        from_epoch(float(kept["expires"])),
        kept.get("status"),
        None if since is None else from_epoch(float(since)),
        kept.get("why") or "",
    )


def _ahead(moment: datetime | None, now: datetime) -> datetime | None:
    return moment if moment is not None and moment > now else None
