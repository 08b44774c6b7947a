"""A crawl over servers that misbehave in every way, beside one that does not."""

from pathlib import Path

from tests.fetch.hostile import laws
from tests.fetch.hostile.misbehaviours import KINDS
from tests.fetch.hostile.run import CrawlBounds, CrawlRun, crawl_over, healthy_site

BOUNDS = CrawlBounds()
SECONDS = 14.0
SLACK_SECONDS = 3.0
MOST_MEGABYTES = 600


def test_a_crawl_outlives_every_misbehaviour(tmp_path: Path) -> None:
    sites = {"healthy": healthy_site()}
    run = crawl_over(tmp_path / "run", sites, KINDS, seconds=SECONDS, bounds=BOUNDS)
    assert laws.wrong_outcomes(run, KINDS) == {}
    assert run.problems == []
    assert_bounded(run)
    assert_polite(run)
    assert_healthy_host_is_kept_fresh(run)


def assert_bounded(run: CrawlRun) -> None:
    assert laws.too_long_connections(run.entries, BOUNDS.seconds + SLACK_SECONDS) == []
    assert laws.too_large_answers(run.entries, BOUNDS.response_bytes) == []
    assert laws.excess_requests(run, KINDS) == []
    assert run.peak_megabytes < MOST_MEGABYTES
    assert run.wall_seconds < SECONDS + BOUNDS.seconds + 30
    assert laws.control_characters(run.output) == ""


def assert_polite(run: CrawlRun) -> None:
    assert laws.too_short_gaps(run.entries, BOUNDS.delay) == []
    assert laws.max_concurrent_requests(run.entries) == BOUNDS.per_host
    assert [entry for entry in run.entries if entry.header("cookie")] == []


def assert_healthy_host_is_kept_fresh(run: CrawlRun) -> None:
    """See that it never waits for the others; ``make hostile`` measures what it keeps."""
    assert all(visit.outcome.is_look for visit in run.visits["healthy"])
    assert laws.longest_gap(run.requests("healthy")) < BOUNDS.seconds
