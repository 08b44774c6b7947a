"""Removes pages from the live list, or purges them with all their rows and bytes."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from freshet.archive.catalog.rows import HostState
from freshet.core.errors import UsageError
from freshet.core.types import Page, Visit
from freshet.crawl.hosts import host_names
from freshet.record.collection_store import CollectionStore
from freshet.record.rewrite import dependent_visits, drop_records


def remove_pages(collection: CollectionStore, pages: Sequence[Page], *, purge: bool) -> int:
    """Remove pages; ``purge`` deletes their rows and bytes too; return the bytes freed."""
    page_ids = [page.id for page in pages]
    if not purge:
        collection.catalog.remove_pages(page_ids, collection.clock.now())
        return 0
    with collection.appending() as lock:
        visits = [row.visit for page_id in page_ids for row in collection.catalog.history(page_id)]
        _require_no_dependents(collection, visits)
        freed_bytes = drop_records(collection, lock, [visit for visit in visits if visit.location])
        collection.catalog.remove_pages(page_ids, collection.clock.now(), purge=True)
        _forget_hosts(collection, {page.host for page in pages if not page.source})
    return freed_bytes


def _forget_hosts(collection: CollectionStore, hosts: AbstractSet[str]) -> None:
    """Delete the states of hosts that have no page any more."""
    unused = set(collection.catalog.hosts_without_pages())
    names = {name for host in hosts for name in host_names(host)}
    collection.catalog.set_host_states([HostState(name) for name in sorted(names & unused)])


def _require_no_dependents(collection: CollectionStore, visits: Sequence[Visit]) -> None:
    """Refuse a purge that would delete the bytes of pages that stay."""
    urls = sorted({url for _, url in dependent_visits(collection, visits)})
    if urls:
        raise UsageError(
            f"the bytes of {', '.join(urls)} are stored only with the pages to be purged;"
            " purge these pages together"
        )
