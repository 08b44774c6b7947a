"""Routes of the dashboard at many requests a second, on a catalog of its own, with visits arriving.

Limit: 200 ms for 95 of 100 answers of every page and its JSON, at 50 requests a second and a
million pages. The reference is that limit; a ratio below 1 is within it. The server is a process of
its own. Visits are recorded meanwhile, ten a second. `processor` is the time of the server per
request, which depends less on other work of the machine; its reference is one whole core. The first
answer of each route, which reads the whole collection once, is not counted; `first` says how long
the slowest took.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import numpy as np

from benchmarks.report import BenchmarkResult, report
from freshet.archive.catalog.rows import NewPage, ViewSummary, VisitEntry
from freshet.collection.collection import Collection
from freshet.core.clock import SystemClock
from freshet.core.types import Change, ContentKind, Outcome, PageKey, ViewStatistics, Visit

PAGES, LOOKS, HOST_PAGES = 1_000_000, 2, 50
BATCH = 10_000
REQUESTS_PER_SECOND, VISITS_PER_SECOND = 50, 10
LIMIT_MS = 200.0
STATISTICS = ViewStatistics(9_000, 4_000, 700, 300, 30, 5, 200, 8, truncated=False)
ROUTES = (
    "/",
    "/pages",
    "/pages?sort=changed",
    "/pages?sort=added",
    "/pages?host=h77.example",
    "/pages?q=h1234.example%2F9",
    "/pages/{page}",
    "/queue",
    "/hosts",
    "/models",
    "/archive",
    "/settings",
)


def json_path(route: str) -> str:
    """Return the path of the JSON document of a page."""
    return "/api/v1/overview" if route == "/" else f"/api/v1{route}"


PATHS = [path for route in ROUTES for path in (route, json_path(route))]


def generate(folder: Path, pages: int) -> None:
    """Make a collection of pages on hosts of equal size, each looked at a few times."""
    rng, now = np.random.default_rng(1), SystemClock().now()
    with Collection.create(folder, contact="benchmark@example.org") as collection:
        for start in range(0, pages, BATCH):
            numbers = range(start, min(pages, start + BATCH))
            ids = collection.catalog.add_pages([new_page(number) for number in numbers], now).ids
            for look in range(LOOKS):
                changed = rng.random(len(ids)) < 0.3
                day = timedelta(days=LOOKS - look)
                entries = [
                    entry(page, look, now - day + timedelta(seconds=page % 80_000), bool(flag))
                    for page, flag in zip(ids, changed.tolist(), strict=True)
                ]
                collection.catalog.append_visits(entries)


def new_page(number: int) -> NewPage:
    """Return a page with a number."""
    host = f"h{number // HOST_PAGES}.example"
    return NewPage(PageKey(f"https://{host}/{number}"), host, host, f"{host}/")


def entry(page: int, look: int, moment: object, changed: bool) -> VisitEntry:
    """Return a look at a page."""
    uid = page.to_bytes(8, "big") + look.to_bytes(8, "big")
    visit = Visit(uid, page, moment, Outcome.OK, 200, 9_000)  # type: ignore[arg-type]
    view = ViewSummary(ContentKind.HTML, f"Page {page}", "en", page, page, STATISTICS)
    return VisitEntry(visit, Change(changed, words=5) if look else None, view=view)


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, int]]:
    """Serve the collection in another process; yield the address, and the process."""
    command = [sys.executable, "-m", "freshet", "serve", str(folder), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        document = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
        try:
            yield urlsplit(document["url"]).netloc, process.pid
        finally:
            process.terminate()


@contextmanager
def recording(folder: Path, pages: int) -> Iterator[None]:
    """Record visits in another thread, as a crawl does."""
    is_over = Event()

    def record() -> None:
        with Collection.open(folder) as collection:
            look = LOOKS
            while not is_over.wait(1 / VISITS_PER_SECOND):
                look += 1
                now = collection.clock.now()
                collection.catalog.append_visits([entry(1 + look % pages, look, now, True)])

    with ThreadPoolExecutor(1) as executor:
        future = executor.submit(record)
        try:
            yield
        finally:
            is_over.set()
        future.result()


def ask(address: str, path: str) -> float:
    """Return the seconds until the whole answer of a route was read."""
    started = time.perf_counter()
    connection = http.client.HTTPConnection(address, timeout=600)
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != 200:
        raise SystemExit(f"serve: {path} answered {answer.status}")
    return time.perf_counter() - started


def cpu_seconds(process: int) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_first(address: str) -> float:
    """Return the seconds of the slowest first answer."""
    return max(ask(address, path.format(page=1)) for path in PATHS)


def measure(address: str, pages: int, seconds: float) -> dict[str, list[float]]:
    """Return the seconds of the answers of each route."""
    rng = np.random.default_rng(2)
    count = int(seconds * REQUESTS_PER_SECOND)
    asked = [PATHS[number % len(PATHS)] for number in range(count)]
    started = time.perf_counter()

    def ask_in_turn(number: int) -> float:
        time.sleep(max(0.0, started + number / REQUESTS_PER_SECOND - time.perf_counter()))
        return ask(address, asked[number].format(page=ids[number]))

    ids = rng.integers(1, pages, count).tolist()
    with ThreadPoolExecutor(64) as executor:
        durations = list(executor.map(ask_in_turn, range(count)))
    by_path: dict[str, list[float]] = {}
    for path, duration in zip(asked, durations, strict=True):
        by_path.setdefault(path, []).append(duration)
    return by_path


def main() -> None:
    """Print the 95th percentile of each route."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--pages", type=int, default=PAGES, help="pages of the catalog")
    parser.add_argument("--seconds", type=float, default=60.0, help="duration of the load")
    parser.add_argument("--keep", type=Path, help="folder of the collection, made if missing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary) / "collection"
        if not folder.exists():
            generate(folder, options.pages)
        with serving(folder) as (address, process), recording(folder, options.pages):
            first, before = measure_first(address), cpu_seconds(process)
            durations = measure(address, options.pages, options.seconds)
            used = cpu_seconds(process) - before
    requests = sum(map(len, durations.values()))
    results = [
        BenchmarkResult(
            f"serve {path}", 1000 * float(np.quantile(seconds, 0.95)), LIMIT_MS, "ms at 95 %"
        )
        for path, seconds in sorted(durations.items())
    ]
    mean = 1000 / REQUESTS_PER_SECOND
    results.append(
        BenchmarkResult("serve processor", 1000 * used / requests, mean, "ms of one core a request")
    )
    results.append(BenchmarkResult("serve first", 1000 * first, LIMIT_MS, "ms, slowest first"))
    report(*results)


if __name__ == "__main__":
    main()
