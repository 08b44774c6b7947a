"""Runs spiders one after the other in a process of their own, with or without Freshet."""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess

from tests.fetch import sample_spiders
from tests.warm_process import run_module

ADDON = {"ADDONS": {"freshet.fetch.addon.Freshet": 500}}
BASE_SETTINGS = {
    "DOWNLOAD_DELAY": 0,
    "LOG_LEVEL": "INFO",
    "TELNETCONSOLE_ENABLED": False,
    "ITEM_PIPELINES": {
        "tests.fetch.sample_spiders.MarkingPipeline": 1,
        "scrapy.pipelines.files.FilesPipeline": 2,
    },
}
KINDS = {kind.name: kind for kind in sample_spiders.SPIDERS}

Run = tuple[str, Mapping[str, Any]]
Results = list[dict[str, Any]]


def run_spiders(
    runs: Sequence[Run], base: str, folder: Path, settings: Mapping[str, Any]
) -> tuple[Results, str]:
    """Run spiders by name, each with settings of its own; return what came of it, and the log."""
    folder.mkdir()
    task = {"runs": list(runs), "base": base, "folder": str(folder), "settings": dict(settings)}
    done = run_module("tests.fetch.spider_runs", json.dumps(task), timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "results.json").read_text()), done.stderr


def _main(runs: Sequence[Run], base: str, folder: str, settings: dict[str, Any]) -> None:
    here = Path(folder)
    store = {"FILES_STORE": str(here / "files")}
    process = AsyncCrawlerProcess(BASE_SETTINGS | store | settings)
    results: Results = []

    async def run_all() -> None:
        from twisted.internet import reactor  # noqa: PLC0415 (its import chooses a reactor)

        for number, run in enumerate(runs):
            results.append(await _run(process, run, base, here / f"{number}.jsonl"))
        (here / "results.json").write_text(json.dumps(results))
        reactor.stop()  # type: ignore[attr-defined]

    task = asyncio.get_event_loop().create_task(run_all())
    process.start(stop_after_crawl=False)
    task.result()


async def _run(process: AsyncCrawlerProcess, run: Run, base: str, feed: Path) -> dict[str, Any]:
    name, own = run
    feeds = {"FEEDS": {str(feed): {"format": "jsonlines"}}}
    settings = {**(KINDS[name].custom_settings or {}), **own, **feeds}
    kind = type(KINDS[name].__name__, (KINDS[name],), {"custom_settings": settings})
    crawler = process.create_crawler(kind)
    await process.crawl(crawler, base=own.get("BASE_URL", base))
    items = [json.loads(line) for line in feed.read_text().splitlines()] if feed.exists() else []
    stats = crawler.stats.get_stats() if crawler.stats else {}
    return {"items": items, "stats": {key: str(value) for key, value in stats.items()}}


if __name__ == "__main__":
    _main(**json.loads(sys.argv[1]))
