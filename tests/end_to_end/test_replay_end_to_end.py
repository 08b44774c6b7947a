"""A live crawl, replayed by pywb: each capture shows what the server sent."""

import gzip
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from freshet.collection.collection import Collection
from freshet.core.types import Outcome
from tests.end_to_end.replay_tools import Replay, pywb, run_tool
from tests.fetch.crawls import crawl, make_collection
from tests.fetch.servers import Exchange, Loopback

PAGES = ("/changing", "/tagged", "/same", "/packed", "/moved")
WORDS = "the river rose in spring and the fields along it were green again that year"
# Captures of one URL are told apart by their second, so no page is asked twice within one.
APART = {"delay": 0.02, "page_interval": 1.05}


@dataclass(slots=True)
class Server:
    """A host that remembers for each path the bodies that it has shown."""

    shown: dict[str, list[bytes]] = field(default_factory=lambda: defaultdict(list))

    async def __call__(self, exchange: Exchange) -> None:
        """Answer a request, and note what the page shows then."""
        path = exchange.entry.path
        if path == "/moved":
            await exchange.answer("over there", 301, location="/target")
        elif path == "/tagged":
            await self._tagged(exchange)
        elif path == "/packed":
            await self._send(exchange, body("packed"), content_encoding="gzip")
        elif path in {"/same", "/target"}:
            await self._send(exchange, body(path))
        elif path == "/changing":
            await self._send(exchange, body(f"version {exchange.entry.number}"))
        else:
            await exchange.answer("", 404)

    async def _tagged(self, exchange: Exchange) -> None:
        """Show two versions, each to two requests, the second time by 304."""
        number = exchange.entry.number // 2
        tag, content = f'"{number}"', body(f"tagged {number}")
        if exchange.entry.header("if-none-match") == tag:
            self.shown["/tagged"].append(content)
            await exchange.answer("", 304, etag=tag, x_fresh="yes")
        else:
            await self._send(exchange, content, etag=tag)

    async def _send(self, exchange: Exchange, content: bytes, **headers: str) -> None:
        self.shown[exchange.entry.path].append(content)
        packed = headers.get("content_encoding") == "gzip"
        sent = gzip.compress(content, mtime=0) if packed else content
        await exchange.answer(sent, x_shown="once", **headers)


def body(text: str) -> bytes:
    return f"<title>{text}</title><p>{WORDS} {text}</p>".encode()


@dataclass(frozen=True, slots=True)
class Crawled:
    """A crawled collection, its server's address, and what that showed."""

    folder: Path
    url: str
    shown: dict[str, list[bytes]]

    def timestamps(self, path: str) -> list[str]:
        """Return the times of a page's visits, as replay programs write them."""
        with Collection.open(self.folder) as collection:
            rows = collection.page(self.url + path).history()
        return [f"{row.visit.time:%Y%m%d%H%M%S}" for row in rows]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    folder, behaviour = tmp_path_factory.mktemp("replay") / "c", Server()
    with Loopback({"a": behaviour}) as server:
        urls = [server.urls["a"] + path for path in PAGES]
        make_collection(folder, urls, server.allow, APART)
        run = crawl(folder, visits=15, budget="100000000/day")
    assert run.returncode == 0, run.stderr
    return Crawled(folder, server.urls["a"], dict(behaviour.shown))


@pytest.fixture(scope="module", params=["freshet", "pywb"])
def replay(request: pytest.FixtureRequest, crawled: Crawled, tmp_path_factory):
    """Replay with the index that we export, and with the one that pywb makes itself."""
    index = tmp_path_factory.mktemp("index") / "index.cdxj"
    archive = crawled.folder / "archive"
    if request.param == "freshet":
        with Collection.open(crawled.folder) as collection:
            collection.export("cdxj", index)
    else:
        run_tool("cdx-indexer", "--sort", "--cdxj", "--output", index, archive)
    with pywb(index, [archive]) as running:
        yield running


@pytest.mark.parametrize("path", ["/changing", "/tagged", "/same", "/packed"])
def test_pywb_shows_at_each_visit_what_the_server_showed(
    replay: Replay, crawled: Crawled, path: str
) -> None:
    times = crawled.timestamps(path)
    assert len(times) >= 2
    answers = [replay.get(crawled.url + path, time) for time in times]
    assert [answer.status for answer in answers] == [200] * len(times)
    assert [answer.body for answer in answers] == crawled.shown[path][: len(times)]
    assert {answer.headers["x-shown"] for answer in answers} == {"once"}


def test_the_crawl_had_every_kind_of_capture(crawled: Crawled) -> None:
    with Collection.open(crawled.folder) as collection:
        tagged = collection.page(f"{crawled.url}/tagged").history()
        assert [row.visit.outcome for row in tagged][:2] == [Outcome.OK, Outcome.NOT_MODIFIED]
        assert collection.check().is_sound


def test_pywb_rewrites_a_page_that_was_not_modified(replay: Replay, crawled: Crawled) -> None:
    answer = replay.get(f"{crawled.url}/tagged", crawled.timestamps("/tagged")[1], "mp_")
    assert answer.status == 200
    assert WORDS.encode() in answer.body


def test_pywb_follows_a_redirect_to_where_it_led(replay: Replay, crawled: Crawled) -> None:
    for time in crawled.timestamps("/moved"):
        moved = replay.get(f"{crawled.url}/moved", time)
        assert moved.status == 301
        assert moved.headers["location"] == "/target"
        assert replay.get(f"{crawled.url}/target", time).body == body("/target")
