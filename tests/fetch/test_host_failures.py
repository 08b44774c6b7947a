"""A host is closed only by what it does itself, not by what is wrong with one page's request."""

from pathlib import Path

from freshet.collection.collection import Collection
from tests.fetch.crawls import crawl, make_collection, outcomes
from tests.fetch.servers import Exchange, Loopback, ScriptedPage, Site

CALM = ScriptedPage(("<p>The river is calm today, and the ferry goes every hour.</p>",))


def closed(collection: Collection) -> list[str]:
    """Return the hosts that have failed, or whose robots.txt has."""
    states = collection.catalog.host_states()
    return [s.host for s in states if s.failures or s.robots.get("failing_since")]


async def wants_password(exchange: Exchange) -> None:
    await exchange.answer("no", 407)


def test_pages_that_cannot_be_requested_leave_their_host_open(tmp_path: Path) -> None:
    paths = ["/line-break", "/beyond-ascii", "/down", "/password", "/typed", "/good"]
    site = Site(dict.fromkeys(paths, CALM))
    with Loopback({"a": site, "proxy": wants_password}) as server:
        pages = {path: f"{server.urls['a']}{path}" for path in paths}
        pages["/typed"] = pages["/typed"].replace("http://", "http://me:secret@")
        allow = (*server.allow, "127.0.0.1/32:9")
        folder = make_collection(tmp_path / "c", pages.values(), allow)
        # An earlier version let such headers be set.
        settings = {
            "/line-break": {"headers": {"X Key\r\n": "k"}},
            "/beyond-ascii": {"headers": {"X-Schlüssel": "k"}},
            "/down": {"proxy": "http://127.0.0.1:9"},
            "/password": {"proxy": server.urls["proxy"]},
        }
        with Collection.open(folder) as collection:
            for path, table in settings.items():
                collection.catalog.set_page_settings(collection.page(pages[path]).id, table)
        run = crawl(folder, visits=len(paths), seconds=20)
        assert run.returncode == 0, run.stderr
        with Collection.open(folder) as collection:
            assert closed(collection) == []
    found = {url.rpartition("/")[2]: ends for url, ends in outcomes(folder).items()}
    assert found.pop("typed") != ["unreachable"]
    assert found == {
        "line-break": ["refused"],
        "beyond-ascii": ["refused"],
        "down": ["proxy-error"],
        "password": ["proxy-error"],
        "good": ["ok"],
    }
