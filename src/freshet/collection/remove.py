"""Remove pages: from the live list, or with everything known of them."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from freshet.archive.catalog.rows import HostState
from freshet.core.errors import UsageError
from freshet.core.types import Page, Visit
from freshet.crawl.hosts import host_names
from freshet.record.rewrite import dependent_visits, drop_records
from freshet.record.store import CollectionStore


def remove_pages(collection: CollectionStore, pages: Sequence[Page], *, purge: bool) -> int:
    """Take pages off the live list; ``purge`` deletes rows and bytes; return the bytes freed."""
    ids = [page.id for page in pages]
    if not purge:
        collection.catalog.remove_pages(ids, collection.clock.now())
        return 0
    with collection.appending() as lock:
        visits = [row.visit for page_id in ids for row in collection.catalog.history(page_id)]
        _refuse_to_rob(collection, visits)
        freed = drop_records(collection, lock, [visit for visit in visits if visit.location])
        collection.catalog.remove_pages(ids, collection.clock.now(), purge=True)
        _forget_hosts(collection, {page.host for page in pages if not page.source})
    return freed


def _forget_hosts(collection: CollectionStore, hosts: AbstractSet[str]) -> None:
    """Forget what is known of hosts that no page lies on any more."""
    gone = set(collection.catalog.hosts_without_pages())
    names = {name for host in hosts for name in host_names(host)}
    collection.catalog.set_host_states([HostState(name) for name in sorted(names & gone)])


def _refuse_to_rob(collection: CollectionStore, visits: Sequence[Visit]) -> None:
    """Refuse a purge that would take the bytes of pages that are to stay."""
    robbed = sorted({url for _, url in dependent_visits(collection, visits)})
    if robbed:
        raise UsageError(
            f"the bytes of {', '.join(robbed)} are kept only with what is to be purged;"
            " purge these pages together"
        )
