"""A collection as the dashboard reads it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from threading import Lock

from freshet.analysis.page_study import PageStudy, study_page
from freshet.archive.catalog.rows import DayActivity
from freshet.collection.collection import Collection
from freshet.collection.outlook import CrawlOutlook
from freshet.collection.page import CollectionPage
from freshet.collection.status import CollectionStatus
from freshet.core.close_on_exit import CloseOnExit
from freshet.core.errors import NotFoundError, UsageError
from freshet.serve.cached_reading import CachedReading

ACTIVITY_DAYS = 60
MAX_STUDIES = 16
MAX_STUDIED_VERSIONS = 2_000
MAX_ID = (1 << 63) - 1


class Dashboard(CloseOnExit):
    """The readings of a collection that the pages of the dashboard share.

    Requests run in several threads. The catalog has a connection for each; the outlook has one
    policy, which is used by one thread at a time.
    """

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="readings")
        self._outlook_lock, self._study_lock = Lock(), Lock()
        self._studies: dict[tuple[int, int | None, int], PageStudy] = {}
        self._outlook = CachedReading(lambda: CrawlOutlook(collection), self._executor)
        self._status = CachedReading(lambda: collection.status(days=ACTIVITY_DAYS), self._executor)
        self._activity = CachedReading(self._read_activity, self._executor)
        self._received = CachedReading(collection.catalog.received_bytes, self._executor)

    @contextmanager
    def outlook(self) -> Iterator[CrawlOutlook]:
        """Yield the outlook of the collection; other threads wait."""
        outlook = self._outlook.get()
        with self._outlook_lock:
            yield outlook

    def status(self) -> CollectionStatus:
        """Return the status of the collection."""
        return self._status.get()

    def activity(self) -> list[DayActivity]:
        """Return the visits, looks and changes of the last days."""
        return self._activity.get()

    def received_bytes(self) -> int:
        """Return the bytes of all answers, repeated ones included."""
        return self._received.get()

    def page(self, page_id: int) -> CollectionPage:
        """Return a page that was not removed, by its id."""
        if 0 < page_id <= MAX_ID:
            for page in self.collection.catalog.pages(after_id=page_id - 1, limit=1):
                if page.id == page_id:
                    return CollectionPage(page, self.collection)
        raise NotFoundError(f"there is no page {page_id}; the list of pages has the numbers")

    def study(self, page: CollectionPage) -> PageStudy:
        """Return the analysis of a page's versions; the latest ones are kept."""
        count = len(page.versions)
        if count > MAX_STUDIED_VERSIONS:
            raise UsageError(
                f"the page has {count:,} versions, too many to analyse while you wait;"
                f" 'freshet analyse {page.url}' does it"
            )
        last = page.versions[-1].row.visit.id if count else None
        key = page.id, last, self.collection.mask(page).version
        with self._study_lock:
            study = self._studies.get(key) or study_page(self.collection, page)
            self._studies[key] = study
            while len(self._studies) > MAX_STUDIES:
                del self._studies[next(iter(self._studies))]
            return study

    def expire(self) -> None:
        """Read everything again when it is next asked for, after a write of this server."""
        for reading in (self._outlook, self._status, self._activity, self._received):
            reading.expire()

    def close(self) -> None:
        """Wait for readings under way, and close the collection."""
        self._executor.shutdown(cancel_futures=True)
        self.collection.close()

    def _read_activity(self) -> list[DayActivity]:
        since = self.collection.clock.now() - timedelta(days=ACTIVITY_DAYS)
        return self.collection.catalog.daily_activity(since)
