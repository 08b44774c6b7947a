"""Requests visits now; a running crawl makes them before all others."""

from collections.abc import Sequence
from dataclasses import dataclass

from freshet.core.errors import UsageError
from freshet.core.types import Page
from freshet.record.collection_store import CollectionStore
from freshet.record.writer_lock import running_crawl


@dataclass(frozen=True, slots=True)
class CheckNowSummary:
    """The number of pages requested, and the running crawl that visits them; empty if none."""

    pages: int
    crawl: str


def check_now(collection: CollectionStore, pages: Sequence[Page]) -> CheckNowSummary:
    """Request visits of live pages now."""
    for page in pages:
        if page.source:
            raise UsageError(
                f"{page.url} is a history imported from {page.source}; "
                f"'freshet add {page.url}' makes it a page to visit"
            )
    collection.catalog.request_visits([page.id for page in pages], collection.clock.now())
    return CheckNowSummary(len(pages), running_crawl(collection.archive_folder))
