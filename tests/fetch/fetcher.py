"""Fetches URLs with Freshet's handler and guard in a process of its own, for tests.

A Twisted reactor runs once in a process: ``fetch_all`` starts one, hands it what to fetch and
returns what came of it. ``names`` are the addresses that names resolve to there.
"""

import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.http import Response
from scrapy.utils.reactor import install_reactor
from twisted.internet.address import IPv4Address
from twisted.python.failure import Failure

from freshet.core.clock import SystemClock
from freshet.core.settings import PolitenessSettings, Settings
from freshet.fetch.network.connections import REQUEST_HEAD_KEY, RESPONSE_HEAD_KEY
from freshet.fetch.network.download_handler import HANDLERS, HEADER_BYTES
from freshet.fetch.network.failures import classify_error
from freshet.fetch.network.guard import ALLOW, RESOLVER
from freshet.fetch.politeness.host_schedule import HostSchedule
from freshet.fetch.politeness.proxy_schedules import ProxySchedules
from tests.warm_process import run_module

REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
SECONDS = 1.0
OBEYING = {"DOWNLOADER_MIDDLEWARES": {"freshet.fetch.robots_middleware.RobotsMiddleware": 100}}


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a request: an answer, or an outcome and why."""

    status: int = 0
    body: str = ""
    head: str = ""
    sent: str = ""
    peer: str = ""
    outcome: str = ""
    why: str = ""


def fetch_all(
    requests: Mapping[str, str | Mapping[str, Any]],
    *,
    allow: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
    robots: bool = False,
    environment: Mapping[str, str] | None = None,
) -> dict[str, Result]:
    """Fetch each request (a URL, or a URL and meta) at the same time; return results by name."""
    task = {
        "requests": {name: _of(request) for name, request in requests.items()},
        "names": dict(names or {}),
        "settings": {ALLOW: list(allow), **(settings or {}), **(OBEYING if robots else {})},
    }
    done = run_module("tests.fetch.fetcher", text=json.dumps(task), environment=environment)
    assert done.returncode == 0, done.stderr
    return {name: Result(**result) for name, result in json.loads(done.stdout).items()}


def _of(request: str | Mapping[str, Any]) -> dict[str, Any]:
    return {"url": request} if isinstance(request, str) else dict(request)


class Names:
    """A resolver that knows a few names, and literals as they are."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = known

    def resolveHostName(self, receiver: Any, hostName: str, *_: Any) -> None:
        address = self._known.get(hostName, hostName)
        if address.replace(".", "").isdecimal():
            receiver.addressResolved(IPv4Address("TCP", address, 0))
        receiver.resolutionComplete()


class Fetcher(Spider):
    """Asks for everything at once, and keeps what comes."""

    name = "fetcher"
    results: dict[str, Result]
    requests: dict[str, dict[str, Any]]

    async def start(self) -> AsyncIterator[Request]:
        for name, request in self.requests.items():
            yield Request(
                request["url"],
                meta=request.get("meta", {}) | {"handle_httpstatus_all": True},
                callback=self.keep,
                errback=self.keep_failure,
                cb_kwargs={"name": name},
                dont_filter=True,
            )

    def keep(self, response: Response, name: str) -> None:
        self.results[name] = Result(
            status=response.status,
            body=response.body.decode("latin-1"),
            head=response.meta[RESPONSE_HEAD_KEY].decode("latin-1"),
            sent=response.meta[REQUEST_HEAD_KEY].decode("latin-1"),
            peer=str(response.ip_address),
        )

    def keep_failure(self, failure: Failure) -> None:
        outcome, why = classify_error(failure.value)
        name = failure.request.cb_kwargs["name"]  # type: ignore[attr-defined]
        self.results[name] = Result(outcome=outcome, why=why)


class FakeRuntime:
    """The parts of a crawl runtime that the middleware for robots.txt needs."""

    clock = SystemClock()
    settings = Settings()

    def __init__(self, crawler: Crawler) -> None:
        self.host_schedule = HostSchedule(PolitenessSettings(delay=0.0))
        self.proxy_schedules = ProxySchedules(self.host_schedule.politeness)
        self.environment = self.requests = self.writer = self
        self._crawler = crawler

    def require_budget_day(self, request: Request) -> None:
        """Let every day pay."""

    async def download(self, request: Request) -> Response:
        """Download a request at once."""
        assert self._crawler.engine is not None
        return await self._crawler.engine.download_async(request)

    def book_unbudgeted(self, requests: int) -> None:
        """Count nothing."""

    def end_turn(self, request: Request, *, was_sent: bool) -> None:
        """Note nothing."""

    def pass_turn(self, page: Request, robots: Request) -> None:
        """Note nothing."""

    def awaiting_robots(self, host: str) -> AbstractContextManager[None]:
        """Hold nothing back."""
        return nullcontext()


def _main() -> None:
    task = json.loads(sys.stdin.read())
    results: dict[str, Result] = {}
    install_reactor(REACTOR)
    process = AsyncCrawlerProcess({
        "TWISTED_DNS_RESOLVER": RESOLVER,
        "DOWNLOAD_HANDLERS": HANDLERS,
        "DOWNLOAD_TIMEOUT": SECONDS,
        "DOWNLOAD_MAXSIZE": 100_000,
        HEADER_BYTES: 20_000,
        "COMPRESSION_ENABLED": False,
        "REDIRECT_ENABLED": False,
        "RETRY_ENABLED": False,
        "CONCURRENT_REQUESTS": 100,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 100,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
        **task["settings"],
    })
    if task["names"]:
        from twisted.internet import reactor  # noqa: PLC0415 (its import chooses a reactor)

        reactor.installNameResolver(Names(task["names"]))  # type: ignore[attr-defined]
    crawler = process.create_crawler(Fetcher)
    crawler.freshet = FakeRuntime(crawler)  # type: ignore[attr-defined]
    process.crawl(crawler, requests=task["requests"], results=results)
    process.start()
    sys.stdout.write(json.dumps({name: asdict(result) for name, result in results.items()}))


if __name__ == "__main__":
    _main()
