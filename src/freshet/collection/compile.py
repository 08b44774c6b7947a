"""Compiles the functions that a crawl needs, by recording and planning a few made-up pages."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

import numpy as np

from freshet.archive.observation import Observation
from freshet.backtest.continuous.copies import TimedCopies
from freshet.backtest.continuous.ground_truth import ground_truth
from freshet.collection.collection import Collection
from freshet.collection.watch import watch_results
from freshet.core.clock import to_epoch
from freshet.core.tables import PageTable
from freshet.core.types import Snapshot
from freshet.crawl.live_policy import warm_up_policy
from freshet.crawl.noise import NoiseLearner
from freshet.crawl.page_features import PageFeatures
from freshet.crawl.plan import make_plan
from freshet.crawl.policy_rehearsal import rehearse_policy
from freshet.crawl.threads.post_curves import post_curves
from freshet.predict.threads.rate_model import pooled_hazard
from freshet.record.thread_posts import ThreadPage
from freshet.view.bounds import HARMLESS_BYTES

HOST = "https://compile.example"
VISITS = 8
WORDS = "the river rose in spring and the fields along it were green again that year"
# Some loops run for some pages only: characters whose case is folded one by one, characters that
# join the one before them, and markup that is long enough to be checked against the limits.
FOLDED = "die Füße im Fluß, 東京の川"
JOINED = "un e\u0301te\u0301 au bord de l'eau"
LONG = f"<p>{WORDS}</p>" * (1 + HARMLESS_BYTES // len(WORDS))
PAGES = {
    "/": ("text/html", "<html><title>News {day}</title><body><h1>News</h1>{items}</body></html>"),
    "/clock": ("text/html", "<html><body><p>{words}</p><p>It is day {day}.</p></body></html>"),
    "/folded": ("text/html; charset=utf-8", f"<p>{FOLDED} {{words}} {{day}}</p>"),
    "/joined": ("text/html; charset=utf-8", f"<p>{JOINED} {{words}} {{day}}</p>"),
    "/long": ("text/html", f"<html><body><h1>Day {{day}}</h1>{LONG}{{items}}</body></html>"),
    "/notes.txt": ("text/plain", "{words}\nDay {day}.\n"),
    "/state.json": ("application/json", '{{"text": "{words}", "day": {day}}}'),
    "/feed.xml": (
        "application/rss+xml",
        '<rss version="2.0"><channel><title>Feed</title><item><title>{words}</title>'
        "<link>https://compile.example/{day}</link></item></channel></rss>",
    ),
}

StepReporter = Callable[[int, int], None]


def compile_functions(folder: Path, *, report: StepReporter) -> None:
    """Record, compare, forecast, plan and score made-up pages in a new folder; nothing is fetched.

    ``report`` is called with the number of each step that begins and the number of all steps.
    """
    with Collection.create(folder, contact="compile@example.org") as collection:
        now = collection.clock.now()
        pages = [collection.add(HOST + path) for path in PAGES]
        report(0, 3)
        with collection.recording() as recorder:
            batch = recorder.record([visit for path in PAGES for visit in _visits(path, now)])
        report(1, 3)
        NoiseLearner(collection).learn_from(batch.recorded_visits)
        for page in pages:
            page.difference()
            page.news(1)
        report(2, 3)
        watch_results(collection, pages, since=now)
        make_plan(collection)
        warm_up_policy(collection.settings, now)
        _forecast_posts(now)
        rehearse_policy(collection.settings, now)
        features = PageFeatures(collection.catalog)
        features.at(features.ids, features.expected_times(features.ids, to_epoch(now)))
        _score(to_epoch(now))
        report(3, 3)


def _forecast_posts(now: datetime) -> None:
    """Forecast the posts of a made-up thread."""
    times = to_epoch(now) - np.arange(VISITS, 0.0, -1.0)
    post_curves(ThreadPage(0, times, times, is_continued=False), pooled_hazard(), to_epoch(now))


def _score(now: float) -> None:
    """Score a copy of a page against the true times of its changes, as the demo does."""
    importance, key = np.ones(1), np.zeros(1, np.uint64)
    table = PageTable(np.ones(1, np.int64), key, key, key, importance, np.full(1, np.nan))
    TimedCopies(ground_truth(table, [np.array([now])])).refresh(np.zeros(1, np.int64), now)


def _visits(path: str, now: datetime) -> Iterator[Observation]:
    """Yield one visit per day of a page that changes every day."""
    url = HOST + path
    kind, template = PAGES[path]
    for day in range(VISITS):
        items = "".join(f'<p><a href="/{n}">{WORDS} {n}</a></p>' for n in range(day, day + 5))
        body = template.format(day=day, words=WORDS, items=items).encode()
        snapshot = Snapshot(url, body, 200, (("content-type", kind),))
        time = now - timedelta(days=VISITS - day)
        yield Observation(url, "", time, uuid4().bytes, snapshot, status=200)
