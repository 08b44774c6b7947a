"""Crawling from scripts and notebooks: as often as one likes, beside a running event loop."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import freshet
from freshet.archive.warc.lock import ArchiveLock
from freshet.core.errors import LockedError, NotFoundError
from tests.fetch.crawls import make_collection
from tests.fetch.servers import Loopback, ScriptedPage, Site
from tests.waiting import until

WORDS = "<p>the river rose in spring and the fields along it were green again</p>"
SITE = Site({
    "/": ScriptedPage((WORDS, f"{WORDS}<p>more words</p>")),
    "/still": ScriptedPage((WORDS,)),
})
SCRIPT = "import freshet; print('spent', freshet.run({path!r}).spent, flush=True)"


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with Loopback({"site": SITE}) as started:
        yield started


def collection(folder: Path, server: Loopback) -> Path:
    return make_collection(folder / "c", [f"{server.urls['site']}/still"], server.allow)


def test_a_notebook_watches_and_runs_again_and_again(tmp_path: Path, server: Loopback) -> None:
    folder, url = collection(tmp_path, server), f"{server.urls['site']}/"

    async def cells() -> tuple[list[bool], list[int]]:
        looks = [freshet.watch(folder, [url], tags=["front"])[0].is_look for _ in range(2)]
        return looks, [freshet.run(folder, visits=1, seconds=20).spent for _ in range(2)]

    looks, spent = asyncio.run(cells())
    assert looks == [True, True]
    assert spent[0] >= 3
    assert spent[1] > spent[0]
    with freshet.open(folder) as opened:
        assert len(opened.page(url).history()) >= 2
        assert [page.tags for page in opened.pages(tag="front")] == [("front",)]


def test_what_goes_wrong_in_the_crawl_is_raised_where_it_was_called(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="freshet init"):
        freshet.run(tmp_path / "nowhere")
    freshet.create(tmp_path / "c", contact="a@example.org").close()
    with (
        ArchiveLock(tmp_path / "c" / "archive", command="freshet import"),
        pytest.raises(LockedError),
    ):
        freshet.run(tmp_path / "c", seconds=5)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_crawl_ends_with_the_script_that_started_it(
    how: signal.Signals, tmp_path: Path, server: Loopback
) -> None:
    folder = collection(tmp_path, server)
    lock = ArchiveLock(folder / "archive")
    command = [sys.executable, "-c", SCRIPT.format(path=str(folder))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as script:
        with freshet.open(folder) as opened:
            until(lambda: next(opened.pages()).history())
        os.kill(script.pid, how)
        printed, _ = script.communicate(timeout=60)
    until(lambda: not lock.holder())
    assert printed.startswith("spent") is (how is signal.SIGINT)
    with freshet.open(folder) as opened:
        assert opened.check().problems == []


def test_only_public_names_are_listed() -> None:
    assert dir(freshet) == [
        "__version__",
        "crawl",
        "create",
        "open",
        "open_dashboard",
        "run",
        "watch",
    ]
