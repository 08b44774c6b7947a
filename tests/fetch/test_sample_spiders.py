"""Spiders give the same items with the add-on and without, each part of Scrapy among them."""

import json
from pathlib import Path
from typing import Any

import pytest

from freshet.collection.collection import Collection
from tests.fetch.crawls import make_collection
from tests.fetch.servers import Entry, Loopback
from tests.fetch.spider_runs import ADDON, KINDS, Results, run_spiders
from tests.fetch.spider_site import answer

SAME_STATS = (
    "item_scraped_count",
    "item_dropped_count",
    "dupefilter/filtered",
    "offsite/filtered",
    "retry/count",
    "retry/max_reached",
    "request_depth_max",
    "httperror/response_ignored_count",
    "file_count",
    "scheduler/enqueued",
)
ROBOTS = "/robots.txt"

Asked = list[tuple[str, str, str | None]]


NAMES = [name for name in KINDS if name not in {"refused", "busy"}]

Runs = dict[str, dict[str, Any]]


class Both:
    """What spiders made of a site without the add-on and with it."""

    def __init__(self, folder: Path) -> None:
        self.plain, _, self.plain_asked = _run(folder / "plain", None)
        self.folder = folder / "collection"
        self.freshet, self.log, self.freshet_asked = _run(folder / "freshet", self.folder)


def _run(folder: Path, collection: Path | None) -> tuple[Runs, str, list[Entry]]:
    with Loopback({"a": answer}) as server:
        settings: dict[str, Any] = {}
        if collection is not None:
            start = [f"{server.urls['a']}/"]
            politeness = {"delay": 0.0, "page_interval": 3600.0}
            make_collection(collection, start, server.allow, politeness)
            settings = {**ADDON, "FRESHET_COLLECTION": str(collection), "FRESHET_BUDGET": "1000"}
        base = server.urls["a"]
        results, log = run_spiders([(name, {}) for name in NAMES], base, folder, settings)
        runs = dict(zip(NAMES, _on_any_port(results, base), strict=True))
        return runs, log, server.log.entries("a")


def _on_any_port(results: Results, base: str) -> Results:
    replaced: Results = json.loads(json.dumps(results).replace(base, "BASE"))
    return replaced


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(tmp_path_factory.mktemp("spiders"))


@pytest.mark.parametrize("name", NAMES)
def test_a_spider_gives_the_same_items(both: Both, name: str) -> None:
    plain, freshet = both.plain[name], both.freshet[name]
    assert plain["items"]
    assert _comparable(freshet["items"]) == _comparable(plain["items"])
    assert {key: freshet["stats"].get(key) for key in SAME_STATS} == {
        key: plain["stats"].get(key) for key in SAME_STATS
    }


def _comparable(items: list[dict[str, Any]]) -> list[str]:
    """Return items in no order; a file's path has its address in it, with the port."""
    for file in (file for item in items for file in item.get("files", ())):
        del file["path"]
    return sorted(map(json.dumps, items))


def test_priorities_hold(both: Both) -> None:
    assert both.freshet["ordered"]["items"] == both.plain["ordered"]["items"]


def test_the_server_gets_the_same_requests(both: Both) -> None:
    assert _asked(both.freshet_asked) == _asked(both.plain_asked)


def _asked(entries: list[Entry]) -> Asked:
    """Return the requests, in no order.

    robots.txt is asked for by Freshet only; on a connection that breaks, Twisted asks once more
    without Scrapy's knowledge, and with Freshet it does not.
    """
    rows = ((entry.method, entry.path, entry.header("cookie")) for entry in entries)
    return sorted(row for row in rows if row[1] not in {ROBOTS, "/broken", "/broken?once"})


def test_every_request_is_paid_for_and_every_page_recorded(both: Both) -> None:
    requests = [entry for entry in both.freshet_asked if entry.path != ROBOTS]
    with Collection.open(both.folder) as collection:
        assert collection.check().is_sound
        pages = {page.url.split("/", 3)[3]: page.history() for page in collection.pages()}
        days = {row.visit.time.date().isoformat() for past in pages.values() for row in past}
        assert sum(collection.catalog.spending(day).requests for day in days) == len(requests)
    assert [row.visit.outcome for row in pages["flaky"]] == ["server-error"] * 2 + ["ok"]
    assert [row.visit.outcome for row in pages["broken"]] == ["unreachable"] * 3
    assert pages["moved"][0].visit.final_url.endswith("/item/3")
    assert pages["offsite"][0].visit.outcome == "redirect"
    assert not {"login", "outside", "keeps-method"} & pages.keys()
    assert len(pages["form"]) == 2
