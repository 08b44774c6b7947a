"""Crawls pages of many kinds after ``freshet compile``; prints what that did not compile.

A function that is called with arguments of new types is compiled, or loaded where an earlier run
has compiled it: either way it gets a signature more.
"""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import numpy as np
from numba.core.dispatcher import Dispatcher

from freshet.collection.compile import compile_functions
from freshet.core.tables import HostCaps, PageTable, VisitTable, hash_names
from freshet.demo.demo_collection import build_collection
from freshet.demo.scoreboard import DemoScoreboard
from freshet.demo.server import open_sockets, origin_of
from freshet.demo.warm_up import warm_up
from freshet.fetch.recording_loop import CrawlLimits
from freshet.fetch.run_crawl import run_crawl
from freshet.schedule.objectives import ObjectiveName
from freshet.schedule.policies import make_policy
from freshet.world.simulated_web import SimulatedWeb
from tests.fetch.crawls import make_collection
from tests.fetch.servers import Loopback, ScriptedPage, Site

VERSIONS, LARGE_SITE_PAGES, SITE_STEPS = 6, 6_000, 40
START = datetime(2026, 1, 5, tzinfo=UTC)


def bodies(number: int) -> dict[str, tuple[str, str]]:
    """Return a version of pages of every kind."""
    rng = Random(number)
    line = " ".join(f"word{rng.randrange(60)}" for _ in range(30))
    items = "".join(f'<li><a href="/{rng.randrange(99)}">{line}</a>' for _ in range(20))
    feed = f"<item><title>{line}</title><link>http://x.example/{number}</link></item>"
    entry = f"<entry><title>{line}</title><id>u:{number}</id></entry>"
    html = "text/html; charset=utf-8"
    return {
        "/news": (f"<title>{number}</title><ul>{items}</ul>", html),
        "/long": (f"<p>{line}</p>" * 300, html),
        "/tags": (f"<b><i>{number}" * 2_000, html),
        "/latin": (f"<p>Füße im Fluß {line}</p>", html),
        "/joined": (f"<p>e\u0301te\u0301 {line}</p>", html),
        "/astral": (f"<p>\U0001f600 東京 {line}</p>", html),
        "/table": (f"<table><tr><td>{line}<td>{number}</table>", html),
        "/plain": (f"{line}\n" * 50, "text/plain"),
        "/markdown": (f"# é\n\n{line}\n", "text/markdown; charset=utf-8"),
        "/json": (json.dumps({"é": line, "n": number}), "application/json"),
        "/rss": (f'<rss version="2.0"><channel>{feed}</channel></rss>', "application/rss+xml"),
        "/atom": (
            f'<feed xmlns="http://www.w3.org/2005/Atom">{entry}</feed>',
            "application/atom+xml",
        ),
        "/map": (f"<urlset><url><loc>http://x.example/{number}</loc></url></urlset>", "text/xml"),
    }


def signatures() -> set[str]:
    """Return Freshet's compiled functions with the types that each was compiled for."""
    modules = [module for name, module in sys.modules.items() if name.startswith("freshet.")]
    values = [value for module in modules for value in vars(module).values()]
    return {
        f"{value.py_func.__module__}.{value.py_func.__qualname__}{signature}"
        for value in values
        if isinstance(value, Dispatcher)
        for signature in value.signatures
    }


def crawl_kinds(folder: Path) -> None:
    """Crawl changing pages of every kind, each some times."""
    versions = [bodies(number) for number in range(VERSIONS)]
    pages = {
        path: ScriptedPage(
            tuple(version[path][0] for version in versions), headers={"content_type": kind}
        )
        for path, (_, kind) in versions[0].items()
    }
    with Loopback({"a": Site(pages)}) as server:
        urls = [server.urls["a"] + path for path in pages]
        politeness = {"delay": 0.0, "page_interval": 0.1}
        make_collection(folder, urls, server.allow, politeness)
        visits = len(pages) * VERSIONS
        run_crawl(folder, budget="5000000/day", limits=CrawlLimits(visits=visits, seconds=30))


def set_up_demo(folder: Path) -> None:
    """Do what the demonstration does before and while it crawls, without its server."""
    web = SimulatedWeb(1, START, 21.0)
    sockets = open_sockets(len(web.hosts), 0)
    demo_collection = build_collection(
        folder / "stage", web, [origin_of(listener) for listener in sockets], "100/day"
    )
    for listener in sockets:
        listener.close()
    warm_up(folder / "warm_up", web)
    end = START.replace(day=6)
    scoreboard = DemoScoreboard(demo_collection, START, end, 100)
    scoreboard.record_visit(next(iter(demo_collection.web_indices)), START.timestamp())
    scoreboard.scores(end)


def plan_large_site(objective: ObjectiveName) -> None:
    """Choose pages of a large site and of small ones for some days, with pages that come and go."""
    policy, rng = make_policy(f"guarded-{objective}", live=True), np.random.default_rng(1)
    ids = 3 * np.arange(1, LARGE_SITE_PAGES + 1)
    hosts = np.where(rng.random(len(ids)) < 0.9, 0, rng.integers(1, 99, len(ids)))
    hosts = hash_names([f"host {host}" for host in hosts])
    nothing, ones = np.full(len(ids), np.nan), np.ones(len(ids))
    pages = PageTable(ids, hosts, hosts, hosts, ones, nothing)
    policy.add(pages)
    moment = START
    for step in range(SITE_STEPS):
        moment += timedelta(hours=(0.2, 1.1, 9.0)[step % 3])
        caps = HostCaps(hosts[:2], np.array([step % 3, 5])) if step % 4 == 0 else HostCaps()
        chosen = policy.choose(moment, (1, 30, 900)[step % 3], caps).pages
        policy.release(chosen[:1])
        looked_at = np.append(chosen[1:], rng.choice(ids, 400))
        flags, times = looked_at > 0, np.full(len(looked_at), moment.timestamp())
        changed = rng.random(len(looked_at)) < 0.5
        unknown = np.full(len(looked_at), -1, np.int32)
        policy.learn(VisitTable(looked_at, times, flags, flags, changed, unknown))
        if step % 8 == 7:
            policy.forget(ids[step : step + 2])
            policy.add(pages)
            policy.restore(policy.state())


def main(folder: Path) -> None:
    """Print the functions that crawls and the demonstration need beyond those compiled."""
    compile_functions(folder / "compiled", report=lambda _step, _steps: None)
    before = signatures()
    plan_large_site("changes")
    plan_large_site("freshness")
    crawl_kinds(folder / "crawled")
    set_up_demo(folder)
    sys.stdout.write("\n".join(sorted(signatures() - before)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
