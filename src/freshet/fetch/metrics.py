"""The metrics of a crawl for Prometheus, in a registry of their own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    start_http_server,
)

from freshet.archive.warc.read import archive_files
from freshet.core.clock import monotonic_seconds, to_epoch
from freshet.core.errors import UsageError
from freshet.fetch.event_dispatcher import CrawlEvent

ADDRESS = "127.0.0.1"
LATENESS_BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
BATCH_BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
# A crawl reports every second; without a report for this time it is stalled.
MAX_SILENT_SECONDS = 60.0
# Requests may wait or be active for this time without a recorded visit.
STALL_SECONDS = 600.0


@dataclass(slots=True)
class StallDetector:
    """Distinguishes a stalled crawl from an idle one.

    A crawl is stalled if it has not reported for a minute, or if requests have been waiting or
    active for ``stall_seconds`` without a recorded visit.
    """

    stall_seconds: float = STALL_SECONDS
    clock: Callable[[], float] = monotonic_seconds
    _reported: float = field(init=False)
    _busy_since: float | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._reported = self.clock()

    def report(self, *, visits: int, requests: int) -> None:
        """Report the number of recorded visits, and of waiting and active requests."""
        self._reported = self.clock()
        if not requests:
            self._busy_since = None
        elif visits or self._busy_since is None:
            self._busy_since = self._reported

    def is_stalled(self) -> bool:
        """Whether the crawl is stalled now."""
        now = self.clock()
        is_silent = now - self._reported > MAX_SILENT_SECONDS
        return is_silent or (
            self._busy_since is not None and now - self._busy_since > self.stall_seconds
        )


class PrometheusMetrics:
    """Keeps the metrics of a crawl from its events.

    ``last_look`` is the time of the last successful visit before this crawl.
    """

    def __init__(
        self,
        archive: Path,
        *,
        last_look: datetime | None = None,
        stalls: StallDetector | None = None,
    ) -> None:
        self._stalls = stalls or StallDetector()
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = own = CollectorRegistry()
        self._visits = Counter(
            "freshet_visits", "Visits recorded, by outcome.", ["outcome"], registry=own
        )
        self._changes = Counter("freshet_changes", "Changes found.", registry=own)
        self._spent = Gauge("freshet_requests_spent", "Page requests of the day.", registry=own)
        self._budget = Gauge("freshet_requests_budget", "The day's budget.", registry=own)
        self._apart = Gauge(
            "freshet_requests_apart", "The day's requests for robots.txt.", registry=own
        )
        self._pages = Gauge("freshet_pages", "Pages kept fresh.", registry=own)
        self._waiting = Gauge(
            "freshet_queue_waiting", "Requests that wait for their time or host.", registry=own
        )
        self._active = Gauge("freshet_queue_active", "Requests under way.", registry=own)
        self._lateness = Histogram(
            "freshet_start_lateness_seconds",
            "How long after their time and their host's turn requests start.",
            buckets=LATENESS_BUCKETS,
            registry=own,
        )
        self._batches = Histogram(
            "freshet_batch_seconds", "How long recording a batch of visits takes.",
            buckets=BATCH_BUCKETS, registry=own,
        )  # fmt: skip
        self._last_look = Gauge(
            "freshet_last_successful_visit_timestamp_seconds",
            "When a visit last showed a page's content, or that it is unchanged (epoch seconds).",
            registry=own,
        )
        self._last_look.set(to_epoch(last_look) if last_look else 0)
        stalled = Gauge(
            "freshet_stalled",
            "1 while requests are due and nothing is recorded, or the crawl does not report.",
            registry=own,
        )
        stalled.set_function(lambda: float(self._stalls.is_stalled()))
        size = Gauge("freshet_archive_bytes", "The size of the archive's files.", registry=own)
        size.set_function(lambda: sum(path.stat().st_size for path in archive_files(archive)))

    def __call__(self, event: CrawlEvent) -> None:
        """Update the metrics from an event."""
        for visit, change in event.visits:
            self._visits.labels(str(visit.outcome)).inc()
            if change is not None and change.changed:
                self._changes.inc()
            if visit.outcome.is_look:
                self._last_look.set(to_epoch(visit.time))
        self._stalls.report(
            visits=len(event.visits), requests=event.queue.waiting + event.queue.active
        )
        self._spent.set(event.spending.spent)
        self._budget.set(event.spending.budget)
        self._apart.set(event.spending.apart)
        self._pages.set(event.spending.pages)
        self._waiting.set(event.queue.waiting)
        self._active.set(event.queue.active)
        for seconds in event.queue.lateness:
            self._lateness.observe(seconds)
        if event.visits:
            self._batches.observe(event.recording_seconds)

    @contextmanager
    def serve(self, port: int, address: str = ADDRESS) -> Iterator[None]:
        """Serve the metrics at an address of this machine; port 0 serves nothing."""
        if not port:
            yield
            return
        try:
            server, thread = start_http_server(port, address, self.registry)
        except OSError as error:
            raise UsageError(
                f"metrics cannot be served on {address}:{port}: {error.strerror}; "
                "choose another port or address"
            ) from error
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
