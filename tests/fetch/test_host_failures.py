"""A host is closed only by what it does itself, not by what is wrong with one page's request."""

from pathlib import Path

import pytest

from freshet.flow.opened import OpenedCollection
from tests.fetch.crawls import crawl, make_collection, outcomes
from tests.fetch.servers import Exchange, Loopback, ScriptedPage, Site

CALM = ScriptedPage(("<p>The river is calm today, and the ferry goes every hour.</p>",))


def closed(collection: OpenedCollection) -> list[str]:
    """Return the hosts that have failed, or whose robots.txt has."""
    states = collection.catalog.hosts()
    return [s.host for s in states if s.failures or s.robots.get("failing_since")]


@pytest.mark.parametrize("name", ["X Key\r\n", "X-Schlüssel"])
def test_a_header_that_cannot_be_sent_leaves_its_pages_host_open(tmp_path: Path, name: str) -> None:
    with Loopback({"a": Site({"/": CALM, "/other": CALM})}) as server:
        bad, good = (f"{server.urls['a']}{path}" for path in ("/", "/other"))
        folder = make_collection(tmp_path / "c", [bad, good], server.allow)
        with OpenedCollection.open(folder) as collection:
            # An earlier version let it be set.
            settings = {"headers": {name: "k"}}
            collection.catalog.set_page_settings(collection.page(bad).id, settings)
        run = crawl(folder, visits=2, seconds=15)
        assert run.returncode == 0, run.stderr
        with OpenedCollection.open(folder) as collection:
            assert closed(collection) == []
    assert outcomes(folder) == {bad: ["refused"], good: ["ok"]}


async def wants_password(exchange: Exchange) -> None:
    await exchange.answer("no", 407)


@pytest.mark.parametrize("proxy", ["is down", "wants a password"])
def test_a_proxy_that_fails_leaves_its_pages_host_open(tmp_path: Path, proxy: str) -> None:
    hosts = {"a": Site({"/": CALM, "/other": CALM}), "proxy": wants_password}
    with Loopback(hosts) as server:
        bad, good = (f"{server.urls['a']}{path}" for path in ("/", "/other"))
        way = {"is down": "http://127.0.0.1:9", "wants a password": server.urls["proxy"]}[proxy]
        allow = (*server.allow, "127.0.0.1/32:9")
        folder = make_collection(tmp_path / "c", [bad, good], allow)
        with OpenedCollection.open(folder) as collection:
            collection.change_settings(collection.page(bad), [("proxy", way)])
        run = crawl(folder, visits=2, seconds=15)
        assert run.returncode == 0, run.stderr
        with OpenedCollection.open(folder) as collection:
            assert closed(collection) == []
    assert outcomes(folder) == {bad: ["proxy-error"], good: ["ok"]}


def test_a_name_and_password_in_a_url_do_not_close_its_host(tmp_path: Path) -> None:
    with Loopback({"a": Site({"/": CALM, "/other": CALM})}) as server:
        good = f"{server.urls['a']}/other"
        typed = f"{server.urls['a']}/".replace("http://", "http://me:secret@")
        folder = make_collection(tmp_path / "c", [typed, good], server.allow)
        run = crawl(folder, visits=2, seconds=15)
        assert run.returncode == 0, run.stderr
        with OpenedCollection.open(folder) as collection:
            assert closed(collection) == []
    assert outcomes(folder)[good] == ["ok"]
