"""Whatever a single page raises costs that page an outcome, never the crawl."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from freshet.archive.catalog.rows import NewPage
from freshet.collection.collection import Collection
from freshet.core.types import PageKey
from tests.fetch.crawls import make_collection, outcomes
from tests.fetch.faults import STAGES, faulty_crawl
from tests.fetch.servers import Loopback, ScriptedPage, Site

WORDS = "<p>the river rose in spring and the fields along it were green again</p>"
GOOD = ("one", "two", "three")
NO_URLS = ("note: x", "example.org:8080/news")
VISITS = 120
FAILED = {
    "settings": ["unreadable"],
    "request": ["refused"],
    "middleware": ["refused"],
    "failure": ["refused"],
    "observe": ["unreadable"],
    "redirect": ["unreadable"],
    "parse": ["unreadable"],
    "measure": ["ok", "unreadable"],
    "learn": ["ok"],
    "unlearnable": ["ok"],
}
UNSENT = {"settings", "request", "middleware", "failure"}
WITHOUT_BYTES = ("observe", "redirect")


@dataclass(frozen=True, slots=True)
class Crawled:
    """A collection after a crawl with faults, the crawl's log, and the requests of pages."""

    folder: Path
    log: str
    asked: Counter[str]

    def outcomes(self) -> dict[str, list[str]]:
        return {url.rpartition("/")[2]: ended for url, ended in outcomes(self.folder).items()}


def page(name: str) -> ScriptedPage:
    versions = (f"<title>{name}</title>{WORDS}<p>number {n} of many</p>" for n in range(7))
    return ScriptedPage(tuple(versions), etag=False)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """Crawl pages of which each fails at another stage, beside good ones and two that are none."""
    names = (*GOOD, *STAGES)
    with Loopback({"a": Site({f"/{name}": page(name) for name in names})}) as server:
        urls = [f"{server.urls['a']}/{name}" for name in names]
        folder = make_collection(tmp_path_factory.mktemp("faults") / "c", urls, server.allow)
        with Collection.open(folder) as collection:
            settings = collection.page(f"{server.urls['a']}/settings")
            collection.change_settings(settings, [("headers.accept", "text/html")])
            old = [NewPage(PageKey(url), "h", "h", "h/") for url in NO_URLS]
            collection.catalog.add_pages(old, collection.clock.now())
        ran = faulty_crawl(folder, visits=VISITS, budget="2000000/day")
        asked = Counter(entry.path[1:] for entry in server.log.entries("a"))
    assert ran.returncode == 0, ran.stderr
    del asked["robots.txt"]
    return Crawled(folder, ran.stderr, asked)


def test_the_other_pages_are_visited_on_and_on(crawled: Crawled) -> None:
    outcomes = crawled.outcomes()
    for name in (*GOOD, "noise", "bursts"):
        assert len(outcomes[name]) > 5
        assert set(outcomes[name]) == {"ok"}


def test_a_page_at_fault_gets_an_outcome_and_is_backed_off(crawled: Crawled) -> None:
    outcomes = crawled.outcomes()
    assert {name: outcomes[name] for name in FAILED} == FAILED


def test_every_fault_is_logged_with_its_traceback(crawled: Crawled) -> None:
    places = (
        "Settings.for_page", "request_lifecycle.request_for_job",
        "RobotsMiddleware.process_request", "record_middleware.observation_without_answer",
        "record_middleware._observe_answer", "FollowRedirectsMiddleware.process_response",
        "parsed_visit.parse_snapshot",
        "recorder.measure_change", "noise.learned_mask",
        "BurstQueue.update_from_visits", "PageStates.add_visits",
    )  # fmt: skip
    for place in places:
        assert f"{place}\n" in crawled.log
    assert "Traceback (most recent call last):" in crawled.log


def test_pages_that_are_no_urls_are_refused_with_the_reason(crawled: Crawled) -> None:
    with Collection.open(crawled.folder) as collection:
        visits = [collection.page(url).history()[-1].visit for url in NO_URLS]
    assert [visit.why for visit in visits] == [
        "its URL has the scheme note; only http and https can be fetched",
        "its URL has no scheme; write https://example.org:8080/news",
    ]
    assert {visit.outcome for visit in visits} == {"refused"}


def test_nothing_is_lost_or_doubled(crawled: Crawled) -> None:
    outcomes = {name: len(ended) for name, ended in crawled.outcomes().items()}
    assert {name: outcomes[name] for name in crawled.asked} == dict(crawled.asked)
    assert UNSENT.isdisjoint(crawled.asked)
    with Collection.open(crawled.folder) as collection:
        assert collection.catalog.leases() == []
        day = collection.clock.now().date().isoformat()
        booked = collection.catalog.spending(day).requests
        # The request that a middleware stopped may have gone out, for all that is known.
        assert booked == sum(crawled.asked.values()) + 1
        assert collection.check().is_sound
        kept = [row for page in collection.pages() for row in page.history() if row.visit.location]
        assert len(kept) == sum(crawled.asked.values()) - sum(
            crawled.asked[name] for name in WITHOUT_BYTES
        )


def test_a_later_crawl_begins_with_the_pages_at_fault(crawled: Crawled) -> None:
    ran = faulty_crawl(crawled.folder, seconds=0.5, budget="2000000/day")
    assert ran.returncode == 0, ran.stderr
