"""A page that redirects through ever new hosts with long rules fills neither memory nor disk."""

from pathlib import Path

from freshet.collection.collection import Collection
from freshet.fetch.politeness.host_schedule import MAX_RULES_CHARS_WITHOUT_PAGES
from tests.fetch.crawls import crawl, make_collection
from tests.fetch.servers import Exchange, Loopback

HOSTS, HOPS = 12, 5
VISITS = 2
RULES = "User-agent: *\n" + "".join(f"Disallow: /secret/{n}\n" for n in range(22_000))
CALM = "<p>The river is calm today, and the ferry goes every hour.</p>"


def test_hosts_that_only_redirects_led_to_are_forgotten(tmp_path: Path) -> None:
    hops = 0

    async def wander(exchange: Exchange) -> None:
        nonlocal hops
        if exchange.entry.path == "/robots.txt":
            await exchange.answer(RULES, content_type="text/plain")
        elif exchange.entry.path == f"/{HOPS}":
            await exchange.answer(CALM)
        else:
            hops += 1
            here = int(exchange.entry.path[1:] or 0)
            location = f"{server.urls[f'h{hops % HOSTS}']}/{here + 1}"
            await exchange.answer("", 302, location=location)

    with Loopback({"page": wander} | {f"h{number}": wander for number in range(HOSTS)}) as server:
        folder = make_collection(tmp_path / "c", [f"{server.urls['page']}/"], server.allow)
        run = crawl(folder, visits=VISITS, budget="100000000/day")
        assert run.returncode == 0, run.stderr
        kept = hosts_kept(folder)
        assert len(kept) > HOPS
        assert sum(kept.values()) <= MAX_RULES_CHARS_WITHOUT_PAGES + len(RULES)
        run = crawl(folder, seconds=0.5, budget="1/day")
        assert run.returncode == 0, run.stderr
    assert list(hosts_kept(folder)) == [server.urls["page"].removeprefix("http://")]


def hosts_kept(folder: Path) -> dict[str, int]:
    """Return the hosts that a collection remembers, with the length of their rules."""
    with Collection.open(folder) as collection:
        states = collection.catalog.host_states()
    return {state.host: len(state.robots.get("rules", "")) for state in states}
