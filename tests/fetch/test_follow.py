"""Followed links on a real site: fetched like any other page, with robots.txt and address guard."""

from pathlib import Path

from freshet.collection.collection import Collection
from tests.fetch.crawls import crawl, make_collection, outcomes
from tests.fetch.servers import Loopback, ScriptedPage, Site

WORDS = "<p>the river rose in spring and the fields along it were green again</p>"
OLD = f'{WORDS}<a href="/old">old</a>'
NEW = f'{OLD}<a href="/new">new</a><a href="/closed">closed</a><a href="http://10.9.8.7/x">in</a>'
SITE = Site(
    {"/": ScriptedPage((OLD, NEW, NEW, NEW, NEW, NEW, NEW, NEW)), "/new": ScriptedPage((WORDS,))},
    robots="User-agent: *\nDisallow: /closed\n",
)


def test_new_links_are_fetched_and_robots_and_addresses_are_checked(tmp_path: Path) -> None:
    with Loopback({"site": SITE}) as server:
        home = server.urls["site"]
        folder = make_collection(tmp_path / "c", [f"{home}/"], server.allow, page={"follow": "all"})
        crawl(folder, visits=6, seconds=20, budget="50000/day")
    found = outcomes(folder)
    assert set(found[f"{home}/new"]) <= {"ok", "not-modified"}
    assert found[f"{home}/closed"][0] == "robots"
    assert found["http://10.9.8.7/x"][0] == "refused"
    assert f"{home}/old" not in found
    with Collection.open(folder) as collection:
        assert collection.catalog.found_on(collection.page(f"{home}/new").id) == f"{home}/"
