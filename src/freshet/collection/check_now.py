"""Ask for visits now: whoever crawls takes them up before anything else."""

from collections.abc import Sequence
from dataclasses import dataclass

from freshet.archive.warc.lock import ArchiveLock
from freshet.core.errors import UsageError
from freshet.core.types import Page
from freshet.record.archive_writer import is_crawl
from freshet.record.store import CollectionStore


@dataclass(frozen=True, slots=True)
class CheckNowSummary:
    """How many pages were asked for, and who crawls now and takes them up; empty if nobody."""

    pages: int
    crawl: str


def check_now(collection: CollectionStore, pages: Sequence[Page]) -> CheckNowSummary:
    """Note that someone wants live pages visited now."""
    for page in pages:
        if page.source:
            raise UsageError(
                f"{page.url} is a history imported from {page.source}; "
                f"'freshet add {page.url}' makes it a page to visit"
            )
    collection.catalog.request_visits([page.id for page in pages], collection.clock.now())
    writer = ArchiveLock(collection.archive_folder).holder()
    return CheckNowSummary(len(pages), writer if is_crawl(writer) else "")
