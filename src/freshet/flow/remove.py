"""Remove pages: from the live list, or with everything known of them."""

from collections.abc import Sequence

from freshet.core.types import Page
from freshet.flow.collection import Collection
from freshet.flow.rewrite import drop_records


def remove(collection: Collection, pages: Sequence[Page], *, purge: bool) -> int:
    """Take pages off the live list; ``purge`` deletes rows and bytes; return the bytes freed."""
    ids = [page.id for page in pages]
    if not purge:
        collection.catalog.remove(ids, collection.clock.now())
        return 0
    with collection.appending() as lock:
        visits = [row.visit for page_id in ids for row in collection.catalog.history(page_id)]
        freed = drop_records(collection, lock, [visit for visit in visits if visit.location])
        collection.catalog.remove(ids, collection.clock.now(), purge=True)
    return freed
