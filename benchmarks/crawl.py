"""Speed of a loopback crawl compared with plain Scrapy; required ratio 0.6.

Freshet archives, catalogs, parses and measures every page. ``--pages N`` sets their number (3,000
by default); ``--memory`` compares the memory of a crawl of all pages with one of a tenth of them,
and ``--lateness`` prints how late requests start, in seconds, with the limit of 0.1.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess

from benchmarks.report import BenchmarkResult, report
from freshet.collection.collection import Collection
from freshet.core.clock import monotonic_seconds
from freshet.fetch.recording_loop import CrawlLimits
from freshet.fetch.run_crawl import run_crawl

PAGES = 3_000
REPEATS = 3
CONCURRENCY = 16


def crawl_with_scrapy(port: int, pages: int, folder: Path) -> int:
    """Fetch the pages with Scrapy alone, and return their number."""
    sizes: list[int] = []

    class PlainSpider(Spider):
        name = "plain"

        async def start(self) -> AsyncIterator[Request]:
            for number in range(pages):
                yield Request(f"http://127.0.0.1:{port}/{number}")

        def parse(self, response: object) -> None:
            sizes.append(len(response.body))  # type: ignore[attr-defined]

    settings = {
        "LOG_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "CONCURRENT_REQUESTS": CONCURRENCY,
        "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
        "DOWNLOAD_DELAY": 0,
    }
    process = AsyncCrawlerProcess(settings)
    process.crawl(PlainSpider)
    process.start()
    return len(sizes)


def crawl_with_freshet(port: int, pages: int, folder: Path) -> int:
    """Crawl the pages with Freshet, and return the number of visits."""
    path = collection_of(folder, port, pages, budget=f"{10 * pages}/day")
    run_crawl(path, limits=CrawlLimits(visits=pages))
    with Collection.open(path) as collection:
        return collection.status().counts.looks


def collection_of(folder: Path, port: int, pages: int, budget: str) -> Path:
    """Make a collection of the server's pages, and return its folder."""
    path = folder / "collection"
    with Collection.create(path, contact="benchmark") as collection:
        collection.add_many([f"http://127.0.0.1:{port}/{number}" for number in range(pages)])
    with (path / "freshet.toml").open("a") as file:
        file.write(
            f'budget = "{budget}"\n'
            f"[network]\nallow = ['127.0.0.1/32:{port}']\nconcurrency = {CONCURRENCY}\n"
            f"[politeness]\ndelay = 0.0\nper_host = {CONCURRENCY}\npage_interval = 0.0\n"
        )
    return path


def crawl_at_pace(port: int, pages: int, folder: Path) -> int:
    """Visit a few pages repeatedly at the budget's pace, and print how late requests start."""
    path = collection_of(folder, port, pages, budget="864000/day")
    late: list[float] = []
    run_crawl(
        path,
        limits=CrawlLimits(visits=30 * pages),
        listeners=[lambda event: late.extend(event.queue.lateness)],
    )
    sys.stderr.write(json.dumps(late[2 * pages :]))
    return pages


CRAWLS = {"scrapy": crawl_with_scrapy, "freshet": crawl_with_freshet, "paced": crawl_at_pace}


@contextmanager
def server() -> Iterator[subprocess.Popen[str]]:
    """Start the server in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.loopback"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process


def measure(kind: str, pages: int) -> dict[str, float]:
    """Crawl in a process of its own; return the seconds from the first request, and the memory."""
    with tempfile.TemporaryDirectory() as folder, server() as process:
        run = run_child(kind, _line(process), folder, pages)
        figures = json.loads(run.stdout)
        if figures["pages"] < pages:
            raise SystemExit(f"{kind} fetched {figures['pages']} of {pages} pages")
        first, _ = process.communicate()
        return {"seconds": figures["ended"] - float(first), "bytes": figures["bytes"]}


def _line(process: subprocess.Popen[str]) -> str:
    return process.stdout.readline().strip() if process.stdout else ""


def run_child(kind: str, port: str, folder: str, pages: int) -> subprocess.CompletedProcess[str]:
    """Run a crawl in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.crawl", "--child", kind, port, folder]
    return subprocess.run(
        [*command, "--pages", str(pages)], capture_output=True, text=True, check=True
    )


def child(kind: str, port: int, folder: Path, pages: int) -> None:
    """Crawl, and print when it ended and how much memory it took at most."""
    count = CRAWLS[kind](port, pages, folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    sys.stdout.write(json.dumps({"pages": count, "ended": monotonic_seconds(), "bytes": peak}))


def rate(kind: str, pages: int) -> float:
    """Return the pages a second of a crawl."""
    return pages / measure(kind, pages)["seconds"]


def compare(pages: int) -> BenchmarkResult:
    """Compare both crawls by the best of alternating repeats."""
    rates = [(rate("freshet", pages), rate("scrapy", pages)) for _ in range(REPEATS)]
    freshet_rate, scrapy_rate = map(max, zip(*rates, strict=True))
    return BenchmarkResult("crawl", freshet_rate, scrapy_rate, "pages/s")


def lateness() -> BenchmarkResult:
    """Return the lateness that 99 of 100 requests stay below."""
    with tempfile.TemporaryDirectory() as folder, server() as process:
        run = run_child("paced", _line(process), folder, 10)
        process.communicate()
    late = sorted(json.loads(run.stderr.splitlines()[-1]))
    return BenchmarkResult("lateness (99 %)", late[int(0.99 * len(late))], 0.1, "s")


def memory(pages: int) -> BenchmarkResult:
    """Compare the memory of a crawl of all pages with one of a tenth of them."""
    whole, tenth = (measure("freshet", count)["bytes"] / 1e6 for count in (pages, pages // 10))
    return BenchmarkResult("crawl memory", whole, tenth, "MB")


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--lateness", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", nargs=3)
    options = parser.parse_args()
    if options.child:
        kind, port, folder = options.child
        child(kind, int(port), Path(folder), options.pages)
    elif options.memory:
        report(memory(options.pages))
    elif options.lateness:
        report(lateness())
    else:
        report(compare(options.pages))


if __name__ == "__main__":
    main()
