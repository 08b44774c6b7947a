"""The pages of a collection with their totals."""

from datetime import datetime
from itertools import islice

from freshet.archive.catalog.rows import Summary
from freshet.flow.collection import Collection


def summaries(
    collection: Collection,
    *,
    tag: str | None = None,
    source: str | None = None,
    changed: bool = False,
    limit: int | None = None,
) -> list[Summary]:
    """Return pages with their totals, by id; ``changed`` those that did, latest change first.

    Totals are counted for ``limit`` pages only, unless the order depends on them.
    """
    pages = collection.catalog.pages(tag=tag, source=source)
    if not changed:
        return list(collection.catalog.summaries(islice(pages, limit)))
    found = [row for row in collection.catalog.summaries(pages) if row.last_change]
    return sorted(found, key=_last_change, reverse=True)[:limit]


def _last_change(row: Summary) -> datetime:
    return row.last_change or row.page.added
