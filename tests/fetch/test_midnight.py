"""Requests that were let go before midnight and go out after it are paid for by the new day."""

import asyncio
from pathlib import Path

from freshet.collection.collection import Collection
from tests.fetch.crawls import make_collection, outcomes
from tests.fetch.midnight import DAY, NEXT_DAY, crawl_over_midnight
from tests.fetch.servers import ROBOTS, Exchange, Loopback

PAGE = "<title>t</title><p>the river rose in spring and the fields were green again</p>"
AT_ONCE = {"delay": 0.0, "page_interval": 0.0}
BUDGET = 6


class Midnight:
    """Lets midnight come when so many requests wait for it; they are answered afterwards."""

    def __init__(self, file: Path, requests: int) -> None:
        self.file = file
        self._requests = requests
        self._has_come = asyncio.Event()

    async def wait(self) -> None:
        self._requests -= 1
        if self._requests <= 0:
            self.file.touch()
            self._has_come.set()
        await self._has_come.wait()


def spent(folder: Path) -> tuple[int, int]:
    """Return what was booked on the day and on the next one."""
    with Collection.open(folder) as collection:
        catalog = collection.catalog
        return catalog.spending(DAY).requests, catalog.spending(NEXT_DAY).requests


def pages_asked(server: Loopback) -> list[str]:
    return [entry.path for entry in server.log.entries() if entry.path != ROBOTS]


def test_pages_that_wait_for_a_robots_txt_over_midnight_do_not_exceed_the_day(
    tmp_path: Path,
) -> None:
    midnight = Midnight(tmp_path / "midnight", BUDGET)

    async def slow_robots(exchange: Exchange) -> None:
        if exchange.entry.path == ROBOTS:
            await midnight.wait()
            await exchange.answer("", 404)
        else:
            await exchange.answer(PAGE)

    with Loopback({f"h{number}": slow_robots for number in range(2 * BUDGET)}) as server:
        urls = [f"{url}/" for url in server.urls.values()]
        folder = make_collection(tmp_path / "c", urls, server.allow, AT_ONCE)
        crawl_over_midnight(folder, midnight.file, budget=BUDGET, visits=2 * BUDGET)
        assert len(pages_asked(server)) == BUDGET
    assert spent(folder) == (0, BUDGET)
    assert [ended for ended in outcomes(folder).values() if ended] == [["ok"]] * BUDGET


def test_a_page_that_waits_for_a_free_slot_over_midnight_is_booked_again(tmp_path: Path) -> None:
    midnight = Midnight(tmp_path / "midnight", 1)

    async def slow_page(exchange: Exchange) -> None:
        if exchange.entry.path != ROBOTS:
            await midnight.wait()
        await exchange.answer(PAGE, 200 if exchange.entry.path != ROBOTS else 404)

    with Loopback({"a": slow_page, "b": slow_page}) as server:
        urls = [f"{url}/" for url in server.urls.values()]
        one = {"concurrency": 1}
        folder = make_collection(tmp_path / "c", urls, server.allow, AT_ONCE, network=one)
        crawl_over_midnight(folder, midnight.file, budget=2, visits=2)
        assert len(pages_asked(server)) == 2
    assert spent(folder) == (1, 1)


def test_a_redirect_that_is_followed_after_midnight_is_booked_again(tmp_path: Path) -> None:
    midnight = Midnight(tmp_path / "midnight", 1)

    async def target(exchange: Exchange) -> None:
        if exchange.entry.path == ROBOTS:
            await midnight.wait()
            await exchange.answer("", 404)
        else:
            await exchange.answer(PAGE)

    async def start(exchange: Exchange) -> None:
        if exchange.entry.path == ROBOTS:
            await exchange.answer("", 404)
        else:
            await exchange.answer("", 302, location=f"{server.urls['b']}/end")

    with Loopback({"a": start, "b": target}) as server:
        folder = make_collection(
            tmp_path / "c", [f"{server.urls['a']}/start"], server.allow, AT_ONCE
        )
        crawl_over_midnight(folder, midnight.file, budget=2, visits=1)
        assert pages_asked(server) == ["/start", "/end"]
    assert spent(folder) == (2, 1)
    assert list(outcomes(folder).values()) == [["ok"]]
