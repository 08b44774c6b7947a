"""The metrics of a crawl: each event is counted, and served on loopback only on request."""

import socket
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client import generate_latest

from freshet.core.clock import to_epoch
from freshet.core.errors import UsageError
from freshet.core.types import Change, Outcome, Visit
from freshet.crawl.fetch_job import CrawlDaySpending
from freshet.fetch.event_dispatcher import CrawlEvent
from freshet.fetch.metrics import PrometheusMetrics, StallDetector
from freshet.fetch.politeness.request_queue import QueueStatus

NOW = datetime(2026, 11, 15, tzinfo=UTC)


def crawl_event(*results: tuple[Outcome, Change | None]) -> CrawlEvent:
    visits = [
        (Visit(bytes([place] * 16), place, NOW, outcome), change)
        for place, (outcome, change) in enumerate(results)
    ]
    spending = CrawlDaySpending("2026-11-15", 7, 500, 2, 40)
    return CrawlEvent(visits, spending, QueueStatus(3, 1, (0.002, 0.5)), 0.02)


@pytest.fixture
def metrics(tmp_path: Path) -> PrometheusMetrics:
    return PrometheusMetrics(tmp_path)


def value(metrics: PrometheusMetrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def test_visits_are_counted_by_outcome_and_changes_apart(metrics: PrometheusMetrics) -> None:
    metrics(
        crawl_event((Outcome.OK, Change(True)), (Outcome.OK, Change(False)), (Outcome.GONE, None))
    )
    metrics(crawl_event((Outcome.OK, None)))
    assert value(metrics, "freshet_visits_total", outcome="ok") == 3
    assert value(metrics, "freshet_visits_total", outcome="gone") == 1
    assert value(metrics, "freshet_changes_total") == 1


def test_spending_pages_and_queue_are_those_of_the_last_event(metrics: PrometheusMetrics) -> None:
    metrics(crawl_event())
    names = ("requests_spent", "requests_budget", "requests_apart", "pages")
    assert [value(metrics, f"freshet_{name}") for name in names] == [7, 500, 2, 40]
    assert value(metrics, "freshet_queue_waiting") == 3
    assert value(metrics, "freshet_queue_active") == 1


def test_lateness_and_batches_are_histograms(metrics: PrometheusMetrics) -> None:
    metrics(crawl_event((Outcome.OK, None)))
    assert value(metrics, "freshet_start_lateness_seconds_count") == 2
    assert value(metrics, "freshet_start_lateness_seconds_bucket", le="0.1") == 1
    assert value(metrics, "freshet_batch_seconds_sum") == 0.02


def test_silence_is_no_batch(metrics: PrometheusMetrics) -> None:
    metrics(crawl_event())
    assert value(metrics, "freshet_batch_seconds_count") == 0


def test_the_archive_is_measured_on_request(metrics: PrometheusMetrics, tmp_path: Path) -> None:
    assert value(metrics, "freshet_archive_bytes") == 0
    (tmp_path / "a.warc.gz").write_bytes(b"x" * 9)
    assert value(metrics, "freshet_archive_bytes") == 9


def test_two_crawls_of_one_process_do_not_share_numbers(
    metrics: PrometheusMetrics, tmp_path: Path
) -> None:
    metrics(crawl_event((Outcome.OK, None)))
    assert b'outcome="ok"' not in generate_latest(PrometheusMetrics(tmp_path).registry)


def test_numbers_are_served_on_loopback_and_no_longer_afterwards(
    metrics: PrometheusMetrics,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(UsageError, match=f"127.0.0.1:{port}.*choose another port"),
            metrics.serve(port),
        ):
            raise AssertionError
    address = f"http://127.0.0.1:{port}/metrics"
    with metrics.serve(port), urllib.request.urlopen(address, timeout=10) as answer:
        assert b"freshet_pages" in answer.read()
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(address, timeout=10)


def test_port_0_serves_nothing(metrics: PrometheusMetrics) -> None:
    with metrics.serve(0):
        assert value(metrics, "freshet_changes_total") == 0


def test_the_last_successful_visit_is_that_before_the_crawl_until_there_is_one(
    tmp_path: Path,
) -> None:
    name = "freshet_last_successful_visit_timestamp_seconds"
    before = NOW.replace(year=2025)
    metrics = PrometheusMetrics(tmp_path, last_look=before)
    metrics(crawl_event((Outcome.TIMEOUT, None)))
    assert value(metrics, name) == to_epoch(before)
    metrics(crawl_event((Outcome.NOT_MODIFIED, None)))
    assert value(metrics, name) == to_epoch(NOW)
    assert value(PrometheusMetrics(tmp_path), name) == 0


class TestStalls:
    @pytest.fixture
    def times(self) -> list[float]:
        return [0.0]

    @pytest.fixture
    def stalls(self, times: list[float]) -> StallDetector:
        return StallDetector(600.0, clock=lambda: times[0])

    def report(
        self, stalls: StallDetector, times: list[float], *, until: float, **what: int
    ) -> None:
        """Report the same every 30 seconds up to a time."""
        while times[0] < until:
            times[0] += 30.0
            stalls.report(visits=what.get("visits", 0), requests=what.get("requests", 0))

    def test_a_crawl_that_has_nothing_to_do_is_not_stalled(
        self, stalls: StallDetector, times: list[float]
    ) -> None:
        self.report(stalls, times, until=5_000.0)
        assert not stalls.is_stalled()

    def test_a_crawl_that_records_visits_is_not_stalled(
        self, stalls: StallDetector, times: list[float]
    ) -> None:
        self.report(stalls, times, until=5_000.0, visits=1, requests=7)
        assert not stalls.is_stalled()

    def test_requests_without_visits_are_a_stall_until_one_is_recorded(
        self, stalls: StallDetector, times: list[float]
    ) -> None:
        self.report(stalls, times, until=600.0, requests=7)
        assert not stalls.is_stalled()
        self.report(stalls, times, until=690.0, requests=7)
        assert stalls.is_stalled()
        stalls.report(visits=1, requests=6)
        assert not stalls.is_stalled()

    def test_a_crawl_that_reports_no_more_is_stalled(
        self, stalls: StallDetector, times: list[float]
    ) -> None:
        stalls.report(visits=1, requests=0)
        times[0] = 59.0
        assert not stalls.is_stalled()
        times[0] = 61.0
        assert stalls.is_stalled()
