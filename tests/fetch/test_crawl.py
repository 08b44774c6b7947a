"""A crawl on loopback from end to end: fetched, recorded, conditional, redirected, polite."""

import asyncio
import gzip
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

from freshet.collection.collection import Collection
from tests.fetch.crawls import crawl, make_collection, outcomes
from tests.fetch.servers import Exchange, Loopback, ScriptedPage, Site

WORDS = "the river rose in spring and the fields along it were green again that year"


def page(*texts: str, **options: object) -> ScriptedPage:
    bodies = tuple(f"<title>{text}</title><p>{WORDS} {text}</p>" for text in texts)
    return ScriptedPage(bodies, **options)  # type: ignore[arg-type]


def urls(server: Loopback, host: str, *paths: str) -> list[str]:
    return [server.urls[host] + path for path in paths]


def test_pages_are_fetched_and_kept(tmp_path: Path) -> None:
    site = Site({f"/{number}": page(f"page {number}") for number in range(6)})
    with Loopback({"a": site, "b": site}) as server:
        wanted = [*urls(server, "a", *site.pages), *urls(server, "b", *site.pages)]
        folder = make_collection(tmp_path / "c", wanted, server.allow)
        run = crawl(folder, visits=12)
    assert run.returncode == 0, run.stderr
    assert outcomes(folder) == {url: ["ok"] for url in wanted}
    with Collection.open(folder) as collection:
        assert collection.check().is_sound
        assert collection.page(wanted[3]).view().title == "page 3"


def test_a_page_that_is_still_the_same_is_not_sent_again(tmp_path: Path) -> None:
    with Loopback({"a": Site({"/": page("one")})}) as server:
        folder = make_collection(tmp_path / "c", urls(server, "a", "/"), server.allow)
        crawl(folder, visits=4, budget="100000000/day")
        log = server.log.entries("a")
    assert outcomes(folder)[f"{server.urls['a']}/"][:4] == ["ok", *["not-modified"] * 3]
    requests = [entry.header("if-none-match") for entry in log if entry.path == "/"]
    assert requests[0] is None
    assert all(requests[1:])


def test_a_redirect_is_followed_and_both_ends_are_kept(tmp_path: Path) -> None:
    async def moved(exchange: Exchange) -> None:
        if exchange.entry.path == "/old":
            await exchange.answer("gone there", 301, location="/new")
        elif exchange.entry.path == "/new":
            await exchange.answer(f"<p>{WORDS}</p>")
        else:
            await exchange.answer("", 404)

    with Loopback({"a": moved}) as server:
        [url] = urls(server, "a", "/old")
        folder = make_collection(tmp_path / "c", [url], server.allow)
        crawl(folder, visits=1)
    with Collection.open(folder) as collection:
        [row] = collection.page(url).history()
        assert row.visit.outcome == "ok"
        assert row.visit.final_url == f"{server.urls['a']}/new"
        assert len(list(collection.pages())) == 1
        assert collection.check().is_sound
        assert collection.catalog.spending(row.visit.time.date().isoformat()).requests == 2


def test_headers_of_a_page_do_not_follow_it_to_another_host(tmp_path: Path) -> None:
    async def away(exchange: Exchange) -> None:
        if exchange.entry.path == "/robots.txt":
            await exchange.answer("", 404)
        else:
            await exchange.answer("", 302, location=f"{server.urls['b']}/secret")

    with Loopback({"a": away, "b": Site({"/secret": page("there")})}) as server:
        [url] = urls(server, "a", "/")
        folder = make_collection(tmp_path / "c", [url], server.allow)
        with Collection.open(folder) as collection:
            changes = [
                ("headers.X-Key", "k"),
                ("cookies.session", "s"),
                ("insecure_secrets", True),
            ]
            collection.change_settings(collection.page(url), changes)
        crawl(folder, visits=1)
        first = [entry for entry in server.log.entries("a") if entry.path == "/"]
        second = [entry for entry in server.log.entries("b") if entry.path == "/secret"]
    assert first[0].header("x-key") == "k"
    assert first[0].header("cookie") == "session=s"
    assert second[0].header("x-key") is None
    assert second[0].header("cookie") is None


def test_a_proxys_password_is_not_archived(tmp_path: Path) -> None:
    async def proxy(exchange: Exchange) -> None:
        await exchange.answer(f"<p>{WORDS}</p>")

    with Loopback({"proxy": proxy}) as server:
        folder = make_collection(tmp_path / "c", ["http://far.example/"], server.allow)
        with Collection.open(folder) as collection:
            way = server.urls["proxy"].replace("http://", "http://me:secret@")
            collection.change_settings(collection.page("http://far.example/"), [("proxy", way)])
        crawl(folder, visits=1)
        assert server.log.entries("proxy")[-1].header("proxy-authorization")
    [file] = (folder / "archive").glob("*.warc.gz")
    assert b"far.example" in gzip.decompress(file.read_bytes())
    assert b"Proxy-Authorization: [blanked]" in gzip.decompress(file.read_bytes())
    assert b"Basic" not in gzip.decompress(file.read_bytes())


def test_a_page_disallowed_by_robots_is_not_requested(tmp_path: Path) -> None:
    site = Site(
        {"/open": page("one"), "/shut": page("two")}, robots="User-agent: *\nDisallow: /shut"
    )
    with Loopback({"a": site}) as server:
        folder = make_collection(tmp_path / "c", urls(server, "a", "/open", "/shut"), server.allow)
        crawl(folder, visits=2)
        requests = {entry.path for entry in server.log.entries("a")}
    assert requests == {"/robots.txt", "/open"}
    assert outcomes(folder)[f"{server.urls['a']}/shut"] == ["robots"]


def test_an_address_that_is_not_open_is_refused_and_the_setting_named(tmp_path: Path) -> None:
    with Loopback({"a": Site({"/": page("one")})}) as server:
        [url] = urls(server, "a", "/")
        folder = make_collection(tmp_path / "c", [url], [])
        crawl(folder, visits=1)
        assert server.log.entries() == []
    with Collection.open(folder) as collection:
        [row] = collection.page(url).history()
    assert row.visit.outcome == "refused"
    assert "network.allow" in row.visit.why


def test_requests_to_a_host_keep_its_delay(tmp_path: Path) -> None:
    site = Site({f"/{number}": page("x") for number in range(5)})
    with Loopback({"a": site}) as server:
        polite = {"delay": 0.2, "page_interval": 0.0}
        wanted = urls(server, "a", *site.pages)
        folder = make_collection(tmp_path / "c", wanted, server.allow, polite)
        crawl(folder, visits=5)
        times = [entry.began for entry in server.log.entries("a")]
    gaps = [later - sooner for sooner, later in pairwise(times)]
    assert min(gaps) > 0.15


def test_a_throttled_host_is_left_alone_as_long_as_it_asks(tmp_path: Path) -> None:
    async def busy(exchange: Exchange) -> None:
        if exchange.entry.path == "/robots.txt":
            await exchange.answer("", 404)
        else:
            await exchange.answer("later", 429, retry_after="3600")

    with Loopback({"a": busy, "b": Site({"/": page("fine")})}) as server:
        wanted = [*urls(server, "a", *(f"/{n}" for n in range(5))), *urls(server, "b", "/")]
        folder = make_collection(tmp_path / "c", wanted, server.allow)
        crawl(folder, visits=10, budget="100000000/day")
        requests = [entry.path for entry in server.log.entries("a") if entry.path != "/robots.txt"]
    assert len(requests) == 1
    found = outcomes(folder)
    assert [ended for ends in found.values() for ended in ends].count("throttled") == 1
    assert found[f"{server.urls['b']}/"][0] == "ok"


def test_an_absurd_retry_after_loses_no_visit_and_no_host(tmp_path: Path) -> None:
    async def absurd(exchange: Exchange) -> None:
        wait = "Thu, 01 Jan 2026 12:01:00 +99999999999999999999"
        await exchange.answer("later", 404 if exchange.entry.path == "/robots.txt" else 503,
                              retry_after=wait)  # fmt: skip

    with Loopback({"a": absurd}) as server:
        [url] = urls(server, "a", "/")
        folder = make_collection(tmp_path / "c", [url], server.allow)
        assert crawl(folder, visits=1).returncode == 0
    assert outcomes(folder) == {url: ["server-error"]}


def test_a_500_that_asks_for_a_pause_closes_its_host_at_once(tmp_path: Path) -> None:
    async def broken(exchange: Exchange) -> None:
        status = 404 if exchange.entry.path == "/robots.txt" else 500
        await exchange.answer("later", status, retry_after="600")

    with Loopback({"a": broken}) as server:
        [url] = urls(server, "a", "/")
        folder = make_collection(tmp_path / "c", [url], server.allow)
        assert crawl(folder, visits=1).returncode == 0
    with Collection.open(folder) as collection:
        [visit] = [row.visit for row in collection.page(url).history()]
        until = collection.catalog.host_state(url.split("/")[2]).backoff_until
    assert until > visit.time + timedelta(seconds=599)


def test_a_slow_answer_does_not_hold_up_other_hosts(tmp_path: Path) -> None:
    async def never(exchange: Exchange) -> None:
        await asyncio.sleep(30)

    site = Site({f"/{number}": page(f"p{number}") for number in range(5)})
    with Loopback({"slow": never, "a": site}) as server:
        wanted = [*urls(server, "slow", "/"), *urls(server, "a", *site.pages)]
        folder = make_collection(tmp_path / "c", wanted, server.allow, limits={"seconds": 2.0})
        crawl(folder, visits=6)
    found = outcomes(folder)
    assert [found[url] for url in urls(server, "a", *site.pages)] == [["ok"]] * 5
    assert found[f"{server.urls['slow']}/"] != ["ok"]
