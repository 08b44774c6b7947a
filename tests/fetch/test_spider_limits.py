"""A spider that is interrupted, runs out of budget, meets a cache, or asks for what is refused."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from freshet.collection.collection import Collection
from tests.fetch.crawls import make_collection
from tests.fetch.servers import Loopback
from tests.fetch.spider_runs import ADDON, run_spiders
from tests.fetch.spider_site import answer

POLITE = {"delay": 0.02, "page_interval": 3600.0}
STOP = {
    "EXTENSIONS": {"tests.fetch.sample_spiders.StopOnWarning": 1},
    "STOPPING_LOGGER": "freshet.fetch.spider_requests",
}
HOSTS = ("failing", "plain", "plain rules", "busy", "resumed", "dropped", "cached", "quick")

Item = dict[str, Any]


class Runs:
    """Results of one spider in several runs, and the requests to the server of each."""

    def __init__(self, folder: Path) -> None:
        with Loopback(dict.fromkeys(HOSTS, answer)) as server:
            bases = {name: {"BASE_URL": url} for name, url in server.urls.items()}
            plain = [("follow", bases["plain"]), ("rules", bases["plain rules"])]
            self.plain, _ = run_spiders(plain, "", folder / "plain", {})
            for name in HOSTS[4:]:
                own = [f"{server.urls['failing']}/flaky"] if name == "dropped" else []
                collection = make_collection(folder / name, own, server.allow, POLITE)
                bases[name]["FRESHET_COLLECTION"] = str(collection)
            self.freshet, self.log = run_spiders(
                _runs(bases, folder), "", folder / "freshet", ADDON | bases["resumed"]
            )
            asked = ((entry.host, entry.path) for entry in server.log.entries())
            self.asked = [(host, path) for host, path in asked if path != "/robots.txt"]
        self.folder = folder

    def paths(self, host: str) -> list[str]:
        """Return the paths requested from a host."""
        return sorted(path for name, path in self.asked if name == host)


def _runs(bases: Mapping[str, Item], folder: Path) -> list[tuple[str, Item]]:
    job = bases["resumed"] | {"JOBDIR": str(folder / "job")}
    dropping = {"FRESHET_BUDGET": "5", "FRESHET_OVER_BUDGET": "drop"}
    cache = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(folder / "cache")}
    return [
        ("follow", job | STOP | {"FRESHET_BUDGET": "4"}),
        ("follow", job),
        ("follow", bases["dropped"] | dropping),
        ("rules", bases["cached"] | cache),
        ("rules", bases["cached"] | cache),
        ("refused", bases["cached"]),
        ("busy", bases["quick"] | {"BUSY_URL": bases["busy"]["BASE_URL"]}),
    ]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("limits"))


def in_no_order(items: list[Item]) -> list[str]:
    return sorted(map(str, items))


def requests_of(folder: Path) -> int:
    with Collection.open(folder) as collection:
        times = [row.visit.time for page in collection.pages() for row in page.history()]
        days = {time.date().isoformat() for time in times}
        return sum(collection.catalog.spending(day).requests for day in days)


def test_a_spider_beyond_its_budget_waits_and_resumes_with_the_items_of_scrapy(runs: Runs) -> None:
    first, second = runs.freshet[:2]
    assert first["stats"]["finish_reason"] == "warned"
    assert len(second["items"]) > 1
    # The item that the spider begins with comes in every run, as without Freshet.
    plain = [*runs.plain[0]["items"], runs.plain[0]["items"][0]]
    assert in_no_order(first["items"] + second["items"]) == in_no_order(plain)


def test_nothing_is_fetched_twice_over_a_resume(runs: Runs) -> None:
    assert runs.paths("resumed") == runs.paths("plain")
    assert requests_of(runs.folder / "resumed") == len(runs.paths("plain"))


def test_requests_beyond_the_budget_are_dropped_where_the_setting_says_so(runs: Runs) -> None:
    result = runs.freshet[2]
    assert result["stats"]["finish_reason"] == "finished"
    assert len(runs.paths("dropped")) + len(runs.paths("failing")) == 5
    assert int(result["stats"]["freshet/dropped_over_budget"]) > 0
    assert "further requests of the spider are dropped" in runs.log


def test_a_page_of_the_collection_is_not_retried_by_the_project(runs: Runs) -> None:
    assert runs.paths("failing") == ["/flaky"]


def test_answers_of_an_http_cache_are_no_visits_and_cost_nothing(runs: Runs) -> None:
    expected = in_no_order(runs.plain[1]["items"])
    assert [in_no_order(result["items"]) for result in runs.freshet[3:5]] == [expected, expected]
    assert runs.paths("cached") == runs.paths("plain rules")
    assert requests_of(runs.folder / "cached") == len(runs.paths("cached"))


def test_a_refused_address_is_logged_with_the_setting_that_opens_it(runs: Runs) -> None:
    assert [item["failed"] for item in runs.freshet[5]["items"]] == ["AddressRefusedError"] * 2
    lines = [line for line in runs.log.splitlines() if "Refused <GET" in line]
    assert len(lines) == 1
    assert "WARNING: Refused <GET http://127.0.0.1:9/" in lines[0]
    assert "robots.txt" not in lines[0]
    assert "network.allow" in lines[0]


def test_a_host_that_asks_to_be_left_alone_is_and_others_are_fetched_meanwhile(runs: Runs) -> None:
    assert len(runs.freshet[6]["items"]) == 4
    assert len(runs.paths("busy")) == 1
    assert "asked for a pause; no requests for 3600 s" in runs.log
