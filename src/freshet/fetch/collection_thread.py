"""The thread that owns the collection while a crawl runs; the fetching thread awaits its work."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from freshet.core.clock import Clock, SystemClock
from freshet.core.settings import Settings
from freshet.core.types import Snapshot
from freshet.crawl.fetch_job import CrawlDaySpending, CrawlStartState
from freshet.crawl.live_policy import warm_up_policy
from freshet.crawl.own_class_check import check_own_classes
from freshet.crawl.session import CrawlSession
from freshet.record.collection_store import CollectionStore
from freshet.record.parsed_visit import parse_visit

P = ParamSpec("P")
T = TypeVar("T")

# Parsed before anything is fetched, so that compiled code is loaded: loading takes a second, and
# compiling for the first time up to two minutes.
WARM_UP_SNAPSHOT = Snapshot("http://first.example/", b"<title>x</title><p>y <a href=/z>z</a>")


class CollectionThread:
    """A collection opened for a crawl in its own thread; options are those of CrawlSession."""

    def __init__(self, path: Path, *, clock: Clock | None = None, **options: Any) -> None:
        self.path = path
        self.clock = clock or SystemClock()
        self._options = options
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="collection")
        self._open_resources = ExitStack()
        self.session: CrawlSession
        self.settings: Settings
        self.start_state: CrawlStartState

    def open(self) -> None:
        """Lock the archive, recover from a crash, and load the crawl session."""
        try:
            self._thread.submit(self._open).result()
        except BaseException:
            self.close()
            raise

    def spending(self) -> CrawlDaySpending:
        """Return the day's budget and spending."""
        return self._thread.submit(self.session.day_spending).result()

    async def run(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Run a function in the collection's thread."""
        return await asyncio.wrap_future(self._thread.submit(work, *args, **options))

    def close(self) -> None:
        """Close the collection."""
        self._thread.submit(self._open_resources.close).result()
        self._thread.shutdown()

    def _open(self) -> None:
        collection = self._open_resources.enter_context(
            CollectionStore.open(self.path, clock=self.clock)
        )
        check_own_classes(collection)
        recorder = self._open_resources.enter_context(collection.recording())
        self.settings = collection.settings
        self.session = CrawlSession(collection, recorder, **self._options)
        self.start_state = self.session.start()
        parse_visit(WARM_UP_SNAPSHOT, self.settings.limits, dom=True)
        warm_up_policy(self.settings, self.clock.now())
        self._open_resources.callback(self.session.release_all)
