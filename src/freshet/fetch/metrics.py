"""A crawl in numbers, in a registry of its own, as Prometheus reads them."""

from collections.abc import Iterator
from contextlib import contextmanager
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
from freshet.core.errors import UsageError
from freshet.fetch.desk import Tidings

ADDRESS = "127.0.0.1"
LATENESS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
BATCHES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


class Metrics:
    """Hears a crawl's tidings and keeps its numbers."""

    def __init__(self, archive: Path) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = own = CollectorRegistry()
        self._visits = Counter(
            "freshet_visits", "Visits kept, by outcome.", ["outcome"], registry=own
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
            buckets=LATENESS,
            registry=own,
        )
        self._batches = Histogram(
            "freshet_batch_seconds", "How long recording a batch of visits takes.",
            buckets=BATCHES, registry=own,
        )  # fmt: skip
        size = Gauge("freshet_archive_bytes", "The size of the archive's files.", registry=own)
        size.set_function(lambda: sum(path.stat().st_size for path in archive_files(archive)))

    def __call__(self, tidings: Tidings) -> None:
        """Take in what a crawl tells."""
        for visit, change in tidings.learnt:
            self._visits.labels(str(visit.outcome)).inc()
            if change is not None and change.changed:
                self._changes.inc()
        self._spent.set(tidings.spending.spent)
        self._budget.set(tidings.spending.budget)
        self._apart.set(tidings.spending.apart)
        self._pages.set(tidings.spending.pages)
        self._waiting.set(tidings.queue.waiting)
        self._active.set(tidings.queue.active)
        for seconds in tidings.queue.lateness:
            self._lateness.observe(seconds)
        if tidings.learnt:
            self._batches.observe(tidings.seconds)

    @contextmanager
    def served(self, port: int) -> Iterator[None]:
        """Serve the numbers on this machine's loopback address; port 0 serves nothing."""
        if not port:
            yield
            return
        try:
            server, thread = start_http_server(port, ADDRESS, self.registry)
        except OSError as error:
            raise UsageError(
                f"metrics cannot be served on {ADDRESS}:{port}: {error.strerror}; "
                "choose another port"
            ) from error
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
