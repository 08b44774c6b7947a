"""Certificates in a real crawl: what is untrusted, what that costs, and the pages that waive it."""

from pathlib import Path

import pytest

from freshet.collection.collection import Collection
from tests.fetch.authority import EXPIRED, Authority
from tests.fetch.crawls import ONCE, crawl, make_collection, outcomes
from tests.fetch.servers import Loopback, ScriptedPage, Site

WORDS = "the river rose in spring and the fields along it were green again that year"
SITE = Site({"/a": ScriptedPage((f"<p>{WORDS}</p>",)), "/b": ScriptedPage((f"<p>{WORDS}</p>",))})


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.make(tmp_path_factory.mktemp("tls"))


def test_an_untrusted_page_is_no_content_and_closes_no_host_for_pages_that_waive_the_check(
    tmp_path: Path, authority: Authority
) -> None:
    tls = {"good": authority.serve("127.0.0.1"), "bad": authority.serve("127.0.0.1", until=EXPIRED)}
    with Loopback({"good": SITE, "bad": SITE}, tls=tls) as server:
        pages = {"good": "/a", "untrusted": "/a", "waived": "/b"}
        hosts = {"good": "good", "untrusted": "bad", "waived": "bad"}
        urls = {name: server.urls[hosts[name]] + path for name, path in pages.items()}
        folder = make_collection(tmp_path / "c", urls.values(), server.allow, ONCE)
        with Collection.open(folder) as collection:
            collection.change_settings(collection.page(urls["waived"]), [("verify_tls", False)])
        done = crawl(folder, visits=3, environment=authority.environment)
        asked = [entry.path for entry in server.log.entries("bad")]
    assert done.returncode == 0, done.stderr
    assert outcomes(folder) == {
        urls["good"]: ["ok"],
        urls["untrusted"]: ["untrusted"],
        urls["waived"]: ["ok"],
    }
    assert asked == ["/robots.txt", "/b"]
    with Collection.open(folder) as collection:
        row = collection.page(urls["untrusted"]).history()[0]
        assert row.visit.why == "its certificate has expired since 2026-03-01"
        assert collection.page(urls["untrusted"]).versions == []
        state = collection.catalog.host_state(server.urls["bad"].removeprefix("https://"))
        assert state is not None
        assert state.failures == 0


def test_rules_that_were_not_verified_do_not_close_a_page_that_wants_them_verified(
    tmp_path: Path, authority: Authority
) -> None:
    tls = {"bad": authority.serve("other.example")}
    site = Site(SITE.pages, robots="User-agent: *\nDisallow: /b")
    with Loopback({"bad": site}, tls=tls) as server:
        first, second = (server.urls["bad"] + path for path in SITE.pages)
        folder = make_collection(tmp_path / "c", [first], server.allow)
        with Collection.open(folder) as collection:
            collection.change_settings(collection.page(first), [("verify_tls", False)])
        crawl(folder, visits=1, environment=authority.environment)
        with Collection.open(folder) as collection:
            collection.add(second)
            collection.pause([collection.page(first)])
        crawl(folder, visits=1, environment=authority.environment)
    assert outcomes(folder) == {first: ["ok"], second: ["untrusted"]}


def test_a_collection_can_waive_the_check_for_all_of_its_pages(tmp_path: Path) -> None:
    stranger = Authority.make(tmp_path)
    tls = {"a": stranger.serve("127.0.0.1", self_signed=True)}
    with Loopback({"a": SITE}, tls=tls) as server:
        url = server.urls["a"] + "/a"
        network = {"verify_tls": False}
        folder = make_collection(tmp_path / "c", [url], server.allow, network=network)
        crawl(folder, visits=1)
    assert outcomes(folder) == {url: ["ok"]}
