"""Telling those who listen to a crawl, without ever holding it up."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread

from freshet.crawl.fetch_job import DaySpending
from freshet.fetch.politeness.host_closing import HostClosing
from freshet.fetch.politeness.request_queue import QueueStatus
from freshet.record.recorder import RecordedVisit


@dataclass(frozen=True, slots=True)
class CrawlEvent:
    """A report of a running crawl: new visits, the day's spending, the queue, closed hosts.

    ``recording_seconds`` is the time that recording the visits took. ``host_closings`` are the
    hosts that have closed since the last event. A crawl without visits reports every second.
    """

    visits: Sequence[RecordedVisit]
    spending: DaySpending
    queue: QueueStatus
    recording_seconds: float
    host_closings: Sequence[HostClosing] = ()


EventListener = Callable[[CrawlEvent], None]


class EventDispatcher:
    """Tells listeners in a thread of its own: a slow terminal or file delays no request.

    A listener that fails, as when whoever reads its output has gone, ends the crawl.
    """

    def __init__(self, listeners: Sequence[EventListener], stop: Callable[[str], None]) -> None:
        self._listeners = listeners
        self._stop = stop
        self._heard: SimpleQueue[CrawlEvent | None] = SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.failure: Exception | None = None
        self._thread = Thread(target=self._tell_all, name="herald", daemon=True)
        self._thread.start()

    def __call__(self, tidings: CrawlEvent) -> None:
        """Take tidings, to be told soon."""
        self._loop = asyncio.get_running_loop()
        self._heard.put(tidings)

    def close(self) -> None:
        """Tell what is left, and stop."""
        self._heard.put(None)
        self._thread.join()

    def _tell_all(self) -> None:
        while (tidings := self._heard.get()) is not None:
            if self.failure is None:
                self._tell(tidings)

    def _tell(self, tidings: CrawlEvent) -> None:
        try:
            for listener in self._listeners:
                listener(tidings)
        except Exception as error:  # noqa: BLE001 (it is raised when the crawl has ended)
            self.failure = error
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._stop, "failed")
