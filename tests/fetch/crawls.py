"""Real crawls of a collection against loopback servers, in processes of their own.

A reactor runs once in a process, so every crawl has one; the collection is read when it has ended.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from freshet.collection.collection import Collection
from freshet.fetch.recording_loop import CrawlLimits
from freshet.fetch.run_crawl import run_crawl as run
from tests.warm_process import run_module

QUICK = {"delay": 0.02, "page_interval": 0.0}
# For crawls in which every page is visited once.
ONCE = {"delay": 0.02, "page_interval": 3_600.0}


def make_collection(
    folder: Path,
    urls: Iterable[str],
    allow: Iterable[str],
    politeness: Mapping[str, Any] = QUICK,
    **tables: Mapping[str, Any],
) -> Path:
    """Make a collection of pages that may be fetched from loopback."""
    with Collection.create(folder, contact="test@example.org") as collection:
        collection.add_many(list(urls))
    network = {"allow": list(allow)} | dict(tables.pop("network", {}))
    settings = {"network": network, "politeness": politeness} | tables
    with (folder / "freshet.toml").open("a") as file:
        for name, table in settings.items():
            lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
            file.write(f"[{name}]\n{lines}")
    return folder


def crawl(
    folder: Path,
    *,
    visits: int | None = None,
    seconds: float | None = None,
    budget: str = "",
    environment: Mapping[str, str] | None = None,
) -> CompletedProcess[str]:
    """Crawl a collection in a child process until it has so many visits more."""
    options = json.dumps({"visits": visits, "seconds": seconds, "budget": budget})
    return run_module("tests.fetch.crawls", str(folder), options, environment=environment)


def outcomes(folder: Path) -> dict[str, list[str]]:
    """Return how the visits of each page ended."""
    with Collection.open(folder) as collection:
        return {
            page.url: [row.visit.outcome.value for row in page.history()]
            for page in collection.pages()
        }


def main(folder: Path, visits: int | None, seconds: float | None, budget: str) -> None:
    """Crawl in this process."""
    run(folder, budget=budget, limits=CrawlLimits(visits=visits, seconds=seconds))


if __name__ == "__main__":
    main(Path(sys.argv[1]), **json.loads(sys.argv[2]))
