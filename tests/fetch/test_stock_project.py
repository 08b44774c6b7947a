"""Anyone's Scrapy project gets Freshet by one ADDONS line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from freshet.flow.opened import OpenedCollection
from tests.fetch.crawls import make_collection
from tests.fetch.servers import Loopback, ScriptedPage, Site

WORDS = "the river rose in spring and the fields along it were green again that year"
ADDON = 'ADDONS = {"freshet.fetch.addon.Freshet": 500}\n'
PARSE = 'FRESHET_PAGES = "parse"\n'
SPIDER = """
import scrapy

class Titles(scrapy.Spider):
    name = "titles"
    start_urls = [START]

    def parse(self, response):
        yield {"title": response.css("title::text").get(), "url": response.url}
        yield from response.follow_all(css="a", meta=response.meta)
"""


def scrapy(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "scrapy", *arguments]
    run = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project as Scrapy makes it, with nothing of ours in it yet."""
    scrapy(tmp_path, "startproject", "shop")
    return tmp_path / "shop"


def page(title: str, *links: str) -> ScriptedPage:
    anchors = "".join(f'<a href="{link}">more</a>' for link in links)
    return ScriptedPage((f"<title>{title}</title><p>{WORDS} {title}</p>{anchors}",))


def test_one_line_gives_a_stock_project_the_collection(project: Path, tmp_path: Path) -> None:
    site = Site(
        {"/": page("home", "/next", "/shut"), "/next": page("next"), "/shut": page("shut"),
         "/kept": page("kept")},
        robots="User-agent: *\nDisallow: /shut",
    )  # fmt: skip
    with Loopback({"a": site}) as server:
        start = f"{server.urls['a']}/"
        folder = make_collection(tmp_path / "c", [f"{start}kept"], server.allow)
        settings = project / "shop" / "settings.py"
        plain = settings.read_text().replace("DOWNLOAD_DELAY = 1", "DOWNLOAD_DELAY = 0")
        settings.write_text(f"{plain}\n{ADDON}FRESHET_COLLECTION = {str(folder)!r}\n{PARSE}")
        spider = SPIDER.replace("START", repr(start))
        (project / "shop" / "spiders" / "titles.py").write_text(spider)
        for name in ("first", "second"):
            scrapy(project, "crawl", "titles", "-O", str(tmp_path / f"{name}.json"))
        asked = [entry.path for entry in server.log.entries("a")]
    items = json.loads((tmp_path / "first.json").read_text())
    assert {item["title"] for item in items} == {"home", "next", "kept"}
    assert "/shut" not in asked
    with OpenedCollection.open(folder) as collection:
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
