"""A tour of the dashboard in a browser: nothing foreign runs, nothing is loaded from outside."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from freshet.archive.catalog.rows import VisitEntry
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.core.types import Change, Outcome, Visit
from freshet.serve.server import DashboardAddress, ServerOptions, serve_dashboard
from tests.serve.browsers import open_browser
from tests.serve.served_collections import ATTACKS, NOW

DEMO_DAYS, DEMO_SPEED = "2", "60000"
TOUR = ("", "pages", "pages?sort=changed", "queue", "hosts", "models", "archive", "settings", "add")
PAGE_TOUR = ("", "/difference", "/difference?form=side", "/versions/1", "/content")
# Text must have this contrast with its background (WCAG 2, level AA).
MIN_CONTRAST = 4.5
AUDIT = (Path(__file__).parent / "accessibility.js").read_text("utf-8")


@dataclass
class BrowserLog:
    """What a page did that it should not: errors, and requests to other servers."""

    origin: str
    problems: list[str] = field(default_factory=list)

    def watch(self, context: BrowserContext) -> None:
        context.on("console", self._add)
        context.on("weberror", lambda error: self.problems.append(str(error.error)))
        context.on("request", lambda request: self._check(request.url))

    def _add(self, message: ConsoleMessage) -> None:
        # A browser reports what the policy of stored pages, on their own port, has stopped.
        if message.type == "error" and message.location["url"].startswith(self.origin):
            self.problems.append(message.text)

    def _check(self, url: str) -> None:
        if not url.startswith(("http://127.0.0.1:", "data:")):
            self.problems.append(f"request to {url}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def demo_collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The collection of a short demo."""
    folder = tmp_path_factory.mktemp("demo") / "kept"
    command = [sys.executable, "-m", "freshet", "demo", "--headless", "--keep", str(folder)]
    options = ["--days", DEMO_DAYS, "--speed", DEMO_SPEED]
    subprocess.run([*command, *options], check=True, capture_output=True)
    return folder / "collection"


@contextmanager
def visiting(browser: Browser, path: Path) -> Iterator[tuple[Page, DashboardAddress, BrowserLog]]:
    """Open the dashboard of a collection in a browser that is signed in."""
    with serve_dashboard(path, ServerOptions("127.0.0.1", 0), clock=clock_of(path)) as address:
        context = browser.new_context()
        log = BrowserLog(address.url)
        log.watch(context)
        page = context.new_page()
        page.goto(address.sign_in_url)
        yield page, address, log
        context.close()


def clock_of(path: Path) -> FixedClock:
    """Return a clock that stands a little after the last look."""
    with Collection.open(path) as collection:
        last = collection.catalog.last_look_time() or NOW
    return FixedClock(last + timedelta(minutes=10))


def test_the_tour_of_the_demo_shows_every_page(browser: Browser, demo_collection: Path) -> None:
    with visiting(browser, demo_collection) as (page, address, log):
        for path in (*TOUR, *(f"pages/1{part}" for part in PAGE_TOUR)):
            response = page.goto(address.url + path)
            assert response is not None
            assert response.status == 200
            assert look_at(page, "dark", 1280) == []
            assert look_at(page, "light", 390) == []
    assert log.problems == []


def look_at(page: Page, scheme: Literal["dark", "light"], width: int) -> list[str]:
    """Return what is wrong with a page in colours and at a width."""
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    is_wide = page.evaluate("document.documentElement.scrollWidth") > width
    problems: list[str] = page.evaluate(AUDIT, MIN_CONTRAST)
    return [*problems, f"wider than {width}"] if is_wide else problems


def test_charts_are_drawn_from_the_installed_package(
    browser: Browser, small_collection: Path
) -> None:
    with visiting(browser, small_collection) as (page, address, log):
        page.goto(address.url + "pages?q=news")
        page.locator("a.page").click()
        page.locator(".tabs").get_by_role("link", name="Content").click()
        chart = page.locator("[data-chart$='/words']")
        expect(chart.locator("canvas")).to_be_visible(timeout=60_000)
        frame = page.frame_locator("iframe.stored")
        expect(frame.locator("body")).to_contain_text("The Valley Herald", timeout=60_000)
    assert log.problems == []


def test_no_script_of_a_page_runs(browser: Browser, hostile_collection: Path) -> None:
    with visiting(browser, hostile_collection) as (page, address, log):
        numbers, parts = range(1, len(ATTACKS) + 1), ("", "/difference", "/versions/2")
        for path in ("pages", *(f"pages/{number}{part}" for number in numbers for part in parts)):
            page.goto(address.url + path)
            assert page.evaluate("window.hacked") is None
        frame = page.frame_locator("iframe.stored")
        expect(frame.locator("#raw")).to_be_attached()
        assert [frame.url for frame in page.frames if frame.evaluate("window.hacked")] == []
    assert log.problems == []


def test_a_change_appears_within_a_second_or_two(
    browser: Browser, hostile_collection: Path, tmp_path: Path
) -> None:
    path = tmp_path / "hostile"
    shutil.copytree(hostile_collection, path)
    with visiting(browser, path) as (page, address, log):
        page.goto(address.url)
        with Collection.open(path) as collection:
            visit = Visit(b"live" * 4, 1, NOW, Outcome.OK, 200)
            collection.catalog.append_visits([VisitEntry(visit, Change(True, words=7))])
        news = page.locator(".news li.fresh")
        expect(news).to_contain_text("7 words")
        expect(news).to_contain_text("evil.example")
        assert page.evaluate("window.hacked") is None
    assert log.problems == []


def test_the_keyboard_suffices(browser: Browser, small_collection: Path) -> None:
    with visiting(browser, small_collection) as (page, address, log):
        page.goto(address.url + "pages")
        page.keyboard.press("/")
        expect(page.get_by_label("Search")).to_be_focused()
        page.keyboard.type("manual")
        page.keyboard.press("Enter")
        expect(page.locator("tbody tr")).to_have_count(1)
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        expect(page.locator(".heading .url")).to_contain_text("/manual")
    assert log.problems == []


def test_a_page_is_paused_and_a_rule_muted_by_hand(
    browser: Browser, small_collection: Path, tmp_path: Path
) -> None:
    path = tmp_path / "news"
    shutil.copytree(small_collection, path)
    with visiting(browser, path) as (page, address, log):
        page.goto(address.url + "pages/2")
        page.get_by_role("button", name="Pause").click()
        expect(page.locator(".actions .chip")).to_have_text("paused")
        page.get_by_role("button", name="Resume").click()
        expect(page.get_by_role("button", name="Pause")).to_be_visible()
        page.get_by_label("Text pattern or path").fill("Visitors: #")
        page.get_by_role("button", name="Mute").click()
        expect(page.locator("#mask")).to_contain_text("Visitors: #")
    assert log.problems == []
