"""Anyone's Scrapy project gets Freshet by one ADDONS line."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from scrapy.settings import Settings

from freshet.collection.collection import Collection
from freshet.core.settings import Settings as FreshetSettings
from freshet.fetch.addon import Freshet, scrapy_settings
from freshet.fetch.environment import PAGES_CHOICES, PAGES_SETTING
from freshet.fetch.runtime import BUDGET_SETTING, COLLECTION_SETTING
from freshet.fetch.spider_requests import OVER_BUDGET_CHOICES, OVER_BUDGET_SETTING
from freshet.record.collection_store import CollectionStore
from tests.fetch.authority import Authority
from tests.fetch.crawls import make_collection
from tests.fetch.servers import Loopback, ScriptedPage, Site
from tests.warm_process import run_module

WORDS = "the river rose in spring and the fields along it were green again that year"
ADDON = 'ADDONS = {"freshet.fetch.addon.Freshet": 500}\n'
PARSE = 'FRESHET_PAGES = "parse"\n'
SPIDER = '''
import scrapy

class Titles(scrapy.Spider):
    name = "titles"
    custom_settings = {}
    start_urls = [START]

    def parse(self, response):
        """
        @url START
        @returns items 1 1
        @scrapes title url
        """
        yield {"title": response.css("title::text").get(), "url": response.url}
        yield from response.follow_all(css="a", meta=response.meta)
'''


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_module("scrapy", *arguments, folder=folder)


def scrapy(folder: Path, *arguments: str) -> str:
    done = run(folder, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project as Scrapy makes it, with nothing of ours in it yet."""
    scrapy(tmp_path, "startproject", "shop")
    return tmp_path / "shop"


def page(title: str, *links: str) -> ScriptedPage:
    anchors = "".join(f'<a href="{link}">more</a>' for link in links)
    return ScriptedPage((f"<title>{title}</title><p>{WORDS} {title}</p>{anchors}",))


def set_up(project: Path, folder: Path, start: str) -> None:
    """Give a project the add-on, and a spider."""
    settings = project / "shop" / "settings.py"
    plain = settings.read_text().replace("DOWNLOAD_DELAY = 1", "DOWNLOAD_DELAY = 0")
    settings.write_text(f"{plain}\n{ADDON}FRESHET_COLLECTION = {str(folder)!r}\n{PARSE}")
    spider = SPIDER.replace("[START]", repr([start])).replace("START", start)
    (project / "shop" / "spiders" / "titles.py").write_text(spider)


def test_contracts_are_checked_and_nothing_else_is_fetched(project: Path, tmp_path: Path) -> None:
    site = Site({"/": page("home", "/next"), "/kept": page("kept")})
    with Loopback({"a": site}) as server:
        start = f"{server.urls['a']}/"
        folder = make_collection(tmp_path / "c", [f"{start}kept"], server.allow)
        set_up(project, folder, start)
        assert "Ran 2 contracts" in scrapy(project, "check", "titles")
        asked = [entry.path for entry in server.log.entries("a")]
    assert asked == ["/robots.txt", "/"]


def test_a_collection_that_is_in_use_ends_scrapy_with_one_line(
    project: Path, tmp_path: Path
) -> None:
    folder = make_collection(tmp_path / "c", (), ())
    set_up(project, folder, "http://127.0.0.1:9/")
    shell = ("shell", "-c", "6 * 7", "--loglevel", "ERROR")
    with CollectionStore.open(folder) as collection, collection.appending():
        refused = run(project, *shell)
        without = scrapy(project, *shell, "-s", "FRESHET_COLLECTION=")
    assert refused.returncode == 1
    assert f"process {os.getpid()}" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert "42" in without


def test_a_collection_that_is_not_there_ends_scrapy_with_one_line(tmp_path: Path) -> None:
    settings = Settings({"FRESHET_COLLECTION": str(tmp_path / "nowhere")})
    with pytest.raises(SystemExit, match=r"^freshet: \S+ is not a collection; make one with"):
        Freshet.update_pre_crawler_settings(settings)


def test_the_guide_names_every_setting_and_what_it_may_be() -> None:
    guide = (Path(__file__).parents[2] / "docs/how-to/use-in-scrapy.md").read_text("utf-8")
    names = (COLLECTION_SETTING, BUDGET_SETTING, PAGES_SETTING, OVER_BUDGET_SETTING)
    values = (*PAGES_CHOICES, *OVER_BUDGET_CHOICES)
    assert [name for name in names if f"| `{name}` |" not in guide] == []
    assert [value for value in values if f'`"{value}"`' not in guide] == []
    assert [name for name in scrapy_settings(FreshetSettings()) if name not in guide] == [
        "FRESHET_HEADER_BYTES"
    ]


def test_one_line_gives_a_stock_project_the_collection(project: Path, tmp_path: Path) -> None:
    site = Site(
        {"/": page("home", "/next", "/shut"), "/next": page("next"), "/shut": page("shut"),
         "/kept": page("kept")},
        robots="User-agent: *\nDisallow: /shut",
    )  # fmt: skip
    with Loopback({"a": site}) as server:
        start = f"{server.urls['a']}/"
        folder = make_collection(tmp_path / "c", [f"{start}kept"], server.allow)
        set_up(project, folder, start)
        for name in ("first", "second"):
            scrapy(project, "crawl", "titles", "-O", str(tmp_path / f"{name}.json"))
        asked = [entry.path for entry in server.log.entries("a")]
    items = json.loads((tmp_path / "first.json").read_text())
    assert {item["title"] for item in items} == {"home", "next", "kept"}
    assert "/shut" not in asked
    with Collection.open(folder) as collection:
        visits = {
            page.url.removeprefix(start): [row.visit.outcome.value for row in page.history()]
            for page in collection.pages()
        }
        assert visits[""].count("ok") == 2
        assert visits["next"].count("ok") == 2
        assert set(visits["shut"]) == {"robots"}
        assert visits["kept"][0] == "ok"
        assert collection.check().is_sound
        day = collection.page(start).history()[0].visit.time.date().isoformat()
        requests = len([path for path in asked if path != "/robots.txt"])
        assert collection.catalog.spending(day).requests == requests


def move_to_custom_settings(project: Path, *names: str) -> None:
    """Move settings of the project to its spider."""
    settings = project / "shop" / "settings.py"
    lines = settings.read_text().splitlines(keepends=True)
    moved = [line for line in lines if line.split(" = ")[0] in names]
    settings.write_text("".join(line for line in lines if line not in moved))
    pairs = [line.strip().split(" = ", 1) for line in moved]
    custom = ", ".join(f"{name!r}: {value}" for name, value in pairs)
    spider = project / "shop" / "spiders" / "titles.py"
    code = spider.read_text().replace("custom_settings = {}", f"custom_settings = {{{custom}}}")
    spider.write_text(code)


@pytest.mark.parametrize(("host", "force"), [("127.0.0.1", "True"), ("localhost", "False")])
def test_a_collection_in_custom_settings_has_its_allowed_addresses(
    project: Path, tmp_path: Path, host: str, force: str
) -> None:
    with Loopback({"a": Site({"/": page("home")})}) as server:
        start = f"{server.urls['a']}/".replace("127.0.0.1", host)
        folder = make_collection(tmp_path / "c", (), server.allow)
        set_up(project, folder, start)
        move_to_custom_settings(project, COLLECTION_SETTING)
        log = scrapy(project, "crawl", "titles", "-s", f"FORCE_CRAWLER_PROCESS={force}")
    assert "'title': 'home'" in log


def test_an_add_on_in_custom_settings_ends_scrapy_with_one_line(
    project: Path, tmp_path: Path
) -> None:
    with Loopback({"a": Site({"/": page("home")})}) as server:
        folder = make_collection(tmp_path / "c", (), server.allow)
        set_up(project, folder, f"{server.urls['a']}/")
        move_to_custom_settings(project, "ADDONS", COLLECTION_SETTING)
        refused = run(project, "crawl", "titles", "--loglevel", "ERROR")
        asked = server.log.entries("a")
        addons = ADDON.removeprefix("ADDONS = ").strip()
        log = scrapy(project, "crawl", "titles", "-s", f"ADDONS={addons}")
    assert refused.returncode == 1
    assert refused.stderr.startswith(
        "freshet: ADDONS: a spider's custom_settings are read too late"
    )
    assert len(refused.stderr.splitlines()) == 1
    assert asked == []
    assert "'title': 'home'" in log


def test_rules_that_a_project_fetches_unverified_do_not_count_as_verified(
    project: Path, tmp_path: Path
) -> None:
    tls = {"a": Authority.make(tmp_path).serve(self_signed=True)}
    with Loopback({"a": Site({"/": page("home")})}, tls=tls) as server:
        start = f"{server.urls['a']}/"
        folder = make_collection(tmp_path / "c", (), server.allow)
        set_up(project, folder, start)
        scrapy(project, "crawl", "titles", "-s", "DOWNLOAD_VERIFY_CERTIFICATES=False")
        asked = [entry.path for entry in server.log.entries("a")]
    assert asked == ["/robots.txt", "/"]
    with Collection.open(folder) as collection:
        [host] = collection.catalog.host_states()
    assert host.robots["unverified"] is True
