"""Crawls hosts on loopback; returns visits, requests, memory and problems of the collection."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import freshet
from freshet.core.clock import monotonic_seconds
from freshet.core.types import Outcome
from freshet.record.collection_store import CollectionStore
from tests.fetch.crawls import make_collection
from tests.fetch.hostile.kinds import CALM, Misbehaviour
from tests.fetch.servers import Entry, Loopback, ScriptedPage, Site, separate

ROOT = Path(__file__).parents[3]
TABLES = {
    "limits": ("seconds", "response_bytes", "decoded_bytes", "redirects"),
    "network": ("audit_every",),
    "politeness": ("delay", "longest_delay", "per_host", "page_interval"),
}


@dataclass(frozen=True, slots=True)
class CrawlBounds:
    """Settings that bound a crawl, lower than usual."""

    seconds: float = 6.0
    response_bytes: int = 800_000
    decoded_bytes: int = 8_000_000
    redirects: int = 5
    audit_every: int = 3
    delay: float = 0.2
    longest_delay: float = 3.0
    per_host: int = 1
    page_interval: float = 5.0

    def tables(self) -> dict[str, dict[str, float]]:
        """Return the settings as tables of a collection's file."""
        values = asdict(self)
        return {table: {name: values[name] for name in names} for table, names in TABLES.items()}


@dataclass(frozen=True, slots=True)
class VisitResult:
    """The outcome of a visit and its reason."""

    outcome: Outcome
    why: str


@dataclass(frozen=True, slots=True)
class CrawlRun:
    """A crawl's visits, the servers' logs, and the output and memory of its process."""

    visits: Mapping[str, list[VisitResult]]
    entries: list[Entry]
    problems: list[str]
    output: str
    peak_megabytes: float
    wall_seconds: float

    def requests(self, host: str) -> list[Entry]:
        """Return the requests to a host."""
        return [entry for entry in self.entries if entry.host == host]


def healthy_site(pages: int = 150) -> Site:
    """Return a host whose pages change now and then."""
    versions = tuple(f"{CALM}<p>Bulletin {number}.</p>" for number in range(50))
    return Site({f"/{number}": ScriptedPage(versions, every=3) for number in range(pages)})


def crawl_over(
    folder: Path,
    sites: Mapping[str, Site],
    kinds: tuple[Misbehaviour, ...] = (),
    *,
    seconds: float,
    bounds: CrawlBounds | None = None,
) -> CrawlRun:
    """Crawl sites, which have a process of their own, beside misbehaving hosts for some seconds."""
    folder.mkdir()
    with separate(sites, folder) as calm, Loopback({kind.name: kind for kind in kinds}) as wild:
        pages = {name: [calm.urls[name] + path for path in sites[name].pages] for name in sites}
        pages |= {kind.name: [kind.url(wild.urls[kind.name])] for kind in kinds}
        path = folder / "collection"
        urls = [url for of_host in pages.values() for url in of_host]
        make_collection(
            path, urls, (*calm.allow, *wild.allow), **(bounds or CrawlBounds()).tables()
        )
        began = monotonic_seconds()
        output, peak = _crawl(path, seconds)
        wall = monotonic_seconds() - began
    entries = sorted((*calm.entries(), *wild.log.entries()), key=lambda entry: entry.began)
    with freshet.open(path) as collection:
        visits = {name: _visit_results(collection, urls) for name, urls in pages.items()}
        problems = [str(problem) for problem in collection.check().problems]
    return CrawlRun(visits, entries, problems, output, peak, wall)


def _crawl(path: Path, seconds: float) -> tuple[str, float]:
    """Run the crawl's process; return its output and peak memory."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.fetch.hostile.crawler", str(path), str(seconds)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the crawl ended with {done.returncode}: {done.stderr[-4000:]}")
    *printed, last = done.stdout.splitlines()
    return "\n".join([*printed, done.stderr]), json.loads(last)["peak_megabytes"]


def _visit_results(collection: CollectionStore, urls: list[str]) -> list[VisitResult]:
    rows = (row for url in urls for row in collection.page(url).history())
    return [VisitResult(row.visit.outcome, row.visit.why) for row in rows]
