"""What hosts ask for is kept, by the log of the hosts themselves."""

from itertools import groupby, pairwise
from pathlib import Path

from tests.fetch.hostile import laws
from tests.fetch.hostile.kinds import CALM
from tests.fetch.hostile.lies import not_modified_for_ever
from tests.fetch.hostile.run import CrawlBounds, crawl_over
from tests.fetch.servers import Entry, ScriptedPage, Site

WAIT = 1.5
AUDIT_EVERY = 3


def pages(*paths: str, delay: float = 0.0) -> dict[str, ScriptedPage]:
    return {path: ScriptedPage((CALM,), delay=delay) for path in paths}


def busy(seconds: int) -> ScriptedPage:
    """Return a page that answers 429, and asks for some time without requests."""
    return ScriptedPage(("later",), status=429, headers={"retry_after": str(seconds)})


def test_what_hosts_ask_for_is_kept(tmp_path: Path) -> None:
    sites = {
        "closed": Site(
            pages("/open", "/secret/a", "/secret/b"), "User-agent: *\nDisallow: /secret"
        ),
        "slow": Site(pages("/a", "/b", "/c", "/d"), f"User-agent: *\nCrawl-delay: {WAIT}"),
        "busy": Site({"/busy": busy(2)} | pages("/a", "/b", "/c")),
        "plain": Site(pages(*(f"/{number}" for number in range(20)))),
    }
    bounds = CrawlBounds(delay=0.3, page_interval=0.5)
    kinds = (not_modified_for_ever,)
    run = crawl_over(tmp_path / "run", sites, kinds, seconds=8, bounds=bounds)
    assert run.problems == []
    assert laws.too_short_gaps(run.entries, bounds.delay) == []
    assert laws.too_short_gaps(laws.pages_of(run.requests("slow")), WAIT) == []
    assert laws.max_concurrent_requests(run.entries) == 1
    assert {entry.path for entry in run.requests("closed")} == {"/robots.txt", "/open"}
    assert_left_alone(laws.pages_of(run.requests("busy")), 2)
    assert_audited(laws.pages_of(run.requests("not modified for ever")))


def assert_left_alone(entries: list[Entry], seconds: float) -> None:
    """See that a host which asked for it had no request in the time after."""
    rests = [after.began - at.earliest for at, after in pairwise(entries) if at.path == "/busy"]
    assert rests
    assert min(rests) > seconds


def assert_audited(lied_to: list[Entry]) -> None:
    """See that a server which always says 304 is asked for the whole page again and again."""
    conditional = [entry.header("if-none-match") is not None for entry in lied_to]
    runs = [(kind, len(list(group))) for kind, group in groupby(conditional)]
    assert max(length for is_conditional, length in runs if is_conditional) <= AUDIT_EVERY
    assert conditional.count(False) > 1


def test_a_host_has_no_more_in_flight_than_it_may(tmp_path: Path) -> None:
    site = Site(pages(*(f"/{number}" for number in range(20)), delay=0.3))
    bounds = CrawlBounds(delay=0.0, per_host=3, page_interval=0.5)
    run = crawl_over(tmp_path / "run", {"wide": site}, seconds=3, bounds=bounds)
    assert laws.max_concurrent_requests(laws.pages_of(run.entries)) == 3
