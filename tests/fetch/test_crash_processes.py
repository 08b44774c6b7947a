"""Beside a running crawl, a second writer is refused and catalog changes take effect at once."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import sleep

import pytest

from freshet.collection.collection import Collection
from freshet.core.clock import monotonic_seconds
from freshet.core.errors import LockedError
from freshet.fetch.run_crawl import run_crawl
from tests.fetch.crash.web import ServedWeb, served
from tests.fetch.crawls import make_collection
from tests.fetch.servers import Entry
from tests.warm_process import ROOT

PATIENCE = 60.0
TRIES = 3


@dataclass(frozen=True, slots=True)
class Running:
    """A crawl in another process, of a collection that has only some of the web's pages."""

    folder: Path
    web: ServedWeb
    process: int
    left: tuple[str, ...]

    def await_entry(self, url: str, since: float) -> Entry:
        """Return the first request for a page after a moment."""
        host, path = self.web.pages[url]
        end = monotonic_seconds() + PATIENCE
        while monotonic_seconds() < end:
            for entry in self.web.entries():
                if (entry.host, entry.path) == (host, path) and entry.began > since:
                    return entry
            sleep(0.01)
        raise AssertionError(f"{url} was not asked for")

    def asked(self, url: str) -> int:
        """Return the number of requests for a page."""
        place = self.web.pages[url]
        return sum((entry.host, entry.path) == place for entry in self.web.entries())


@contextmanager
def crawled(place: Path, budget: str) -> Iterator[Running]:
    """Crawl four pages in another process, and ask it to end at last."""
    with served(place) as web:
        pages = [url for url, (host, path) in web.pages.items() if path.startswith(("/ta", "/pl"))]
        first, left = pages[:4], tuple(pages[4:])
        folder = make_collection(place / "c", first, web.allow)
        options = json.dumps({"visits": None, "seconds": PATIENCE, "budget": budget})
        command = [sys.executable, "-m", "tests.fetch.crawls", str(folder), options]
        with subprocess.Popen(command, cwd=ROOT) as process:
            crawling = Running(folder, web, process.pid, left)
            crawling.await_entry(first[0], 0.0)
            yield crawling
            process.terminate()
        assert process.returncode == 0


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Crawl so slowly that hardly any page is visited again by itself."""
    with crawled(tmp_path_factory.mktemp("beside"), "1000/day") as crawling:
        yield crawling


def best(attempt: Callable[[], float]) -> float:
    """Return the least of a few times, because what else the machine does only adds to them."""
    return min(attempt() for _ in range(TRIES))


def refused(work: Callable[[], object], holder: int) -> float:
    """Return how long it takes until work is refused; the refusal names who holds the archive."""
    began = monotonic_seconds()
    with pytest.raises(LockedError, match=rf"crawls\.py.*process {holder}"):
        work()
    return monotonic_seconds() - began


def test_a_second_crawl_is_refused_within_a_second_and_names_the_first(running: Running) -> None:
    assert best(lambda: refused(lambda: run_crawl(running.folder), running.process)) < 1.0


def test_an_import_is_refused_within_a_second_and_names_the_crawl(
    running: Running, tmp_path: Path
) -> None:
    seen = tmp_path / "seen.csv"
    seen.write_text("page,time,changed\nhttps://a.example/,1,0\n")
    with Collection.open(running.folder) as collection:
        work = lambda: collection.import_history("csv", seen)  # noqa: E731
        assert best(lambda: refused(work, running.process)) < 1.0


def test_an_added_page_is_requested_within_a_second(running: Running) -> None:
    urls = iter(running.left)

    def seconds() -> float:
        url = next(urls)
        with Collection.open(running.folder) as collection:
            collection.add(url)
        began = monotonic_seconds()
        return running.await_entry(url, began - 1).began - began

    assert best(seconds) < 1.0


def test_a_page_checked_by_command_is_requested_within_a_second(running: Running) -> None:
    with Collection.open(running.folder) as collection:
        pages = collection.pages()

        def seconds() -> float:
            page, began = next(pages), monotonic_seconds()
            collection.check_now([page])
            return running.await_entry(page.url, began).began - began

        assert best(seconds) < 1.0


def test_a_paused_page_is_not_requested_again(tmp_path: Path) -> None:
    with (
        crawled(tmp_path, "2000000/day") as running,
        Collection.open(running.folder) as collection,
    ):
        [page, other, *_] = collection.pages()
        collection.pause([page])
        before, others = running.asked(page.url), running.asked(other.url)
        while running.asked(other.url) < others + 12:
            sleep(0.05)
        assert running.asked(page.url) <= before + 3
        collection.resume([page])
        running.await_entry(page.url, monotonic_seconds())
