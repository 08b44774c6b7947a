"""Bursts from end to end: a page that is never the same twice, crawled by a quick clock."""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from freshet.collection.collection import Collection
from freshet.collection.page import CollectionPage
from freshet.core.clock import ScaledClock, monotonic_seconds
from freshet.core.settings import Settings
from freshet.crawl.live_policy import warm_up_policy
from freshet.fetch.collection_thread import WARM_UP_SNAPSHOT
from freshet.fetch.recording_loop import CrawlLimits
from freshet.fetch.run_crawl import run_crawl
from freshet.record.page_bursts import PageBurst, page_bursts
from freshet.record.parsed_visit import parse_visit
from tests.fetch.crawls import make_collection
from tests.fetch.servers import Exchange, Loopback
from tests.warm_process import run_module

START = datetime(2026, 3, 1, 6, tzinfo=UTC)
# A minute of the crawl's clock takes a third of a second.
SPEED = 200.0
WORDS = [
    "the",
    "river",
    "rose",
    "in",
    "spring",
    "and",
    "the",
    "fields",
    "along",
    "it",
    "were",
    "green",
    "again",
    "that",
    "year",
]
# A fast burst follows four hours after the instant burst at the start of a series.
UNTIL_FAST = timedelta(hours=4, minutes=-3)
POLITE = {"delay": 0.0, "per_host": 2, "page_interval": 60.0}


async def never_the_same(exchange: Exchange) -> None:
    """Show other words all over the page from minute to minute, and how many requests there were.

    The words are the same for two requests at once; only the number is made by the visit.
    """
    if exchange.entry.path == "/robots.txt":
        await exchange.answer("", 404)
        return
    number = exchange.entry.number
    minute = int(monotonic_seconds() * SPEED / 60)
    drawn = (Random(f"{minute} {line}").choices(WORDS, k=9) for line in range(5))
    lines = "".join(f"<p>{' '.join(words)}</p>" for words in drawn)
    await exchange.answer(f"{lines}<p>{number}</p>", etag='"x"')


def run(folder: Path, start: datetime, visits: int, budget: str) -> None:
    """Crawl in a process of its own until there are so many visits more."""
    options = json.dumps([str(folder), start.isoformat(), visits, budget])
    done = run_module("tests.fetch.test_bursts", options, timeout=120)
    assert done.returncode == 0, done.stderr


def minutes(collection: Collection, url: str, one: PageBurst) -> list[float]:
    """Return when the samples of a burst were taken, in minutes after its first."""
    times = {row.visit.id: row.visit.time for row in collection.page(url).history()}
    return [(times[visit] - times[one.visits[0]]) / timedelta(minutes=1) for visit in one.visits]


def number(page: CollectionPage, visit: int) -> int:
    """Return the number that the page showed at a visit: how many requests came before it."""
    [view] = [page.view_of_visit(row) for row in page.history() if row.visit.id == visit]
    assert view is not None
    return int(view.text.split()[-1])


def last_visit(folder: Path, url: str) -> datetime:
    with Collection.open(folder) as collection:
        return collection.page(url).history()[-1].visit.time


def test_a_page_never_the_same_gets_instant_and_fast_bursts_that_a_restart_does_not_break(
    tmp_path: Path,
) -> None:
    budget = 600
    with Loopback({"a": never_the_same}) as server:
        url = f"{server.urls['a']}/"
        folder = make_collection(tmp_path / "c", [url], server.allow, POLITE)
        run(folder, START, 6, f"{budget}/day")
        run(folder, last_visit(folder, url) + UNTIL_FAST, 4, f"{budget}/day")
        with Collection.open(folder) as collection:
            _, begun = page_bursts(collection.catalog, collection.page(url).id)
            assert 0 < len(begun.visits) < 4
        run(folder, last_visit(folder, url), 34, f"{budget}/day")
        asked = [entry for entry in server.log.entries("a") if entry.path == "/"]
    with Collection.open(folder) as collection:
        page = collection.page(url)
        first, fast, instant = page_bursts(collection.catalog, page.id)
        looks = [row.visit.id for row in page.history()]
        taken = minutes(collection, url, fast)
        spending = collection.catalog.spending("2026-03-01")
        at_once = [minutes(collection, url, one) for one in (first, instant)]
        visits = (*first.visits, *fast.visits, *instant.visits)
        sampled = [number(page, visit) for visit in visits]
    assert looks.index(first.visits[0]) == 3
    # None is early, or later than the shortest interval: a busy machine takes its time.
    assert all(-0.1 < at - due < 2 for at, due in zip(taken, (0, 2, 16, 32), strict=True))
    assert [one.kind for one in (first, fast, instant)] == ["instant", "fast", "instant"]
    assert (first.is_spaced, instant.is_spaced) == (False, False)
    assert all(len(each) == 2 and each[1] < 0.1 for each in at_once)
    assert {asked[number].header("if-none-match") for number in sampled} == {None}
    assert {entry.header("if-none-match") for entry in asked} == {None, '"x"'}
    assert spending.requests == len(asked)
    assert spending.burst_requests <= budget // 10


def main(folder: str, start: str, visits: int, budget: str) -> None:
    """Crawl in this process by a quick clock, which starts when everything is loaded."""
    parse_visit(WARM_UP_SNAPSHOT, Settings().limits)
    warm_up_policy(Settings(), START)
    clock = ScaledClock(datetime.fromisoformat(start), SPEED)
    run_crawl(
        Path(folder), budget=budget, clock=clock, limits=CrawlLimits(visits=visits, seconds=90.0)
    )


if __name__ == "__main__":
    main(*json.loads(sys.argv[1]))
