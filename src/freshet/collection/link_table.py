"""The table of new links per page and interval, as a file."""

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from freshet.core.extras import OptionalPackage
from freshet.record.collection_store import CollectionStore
from freshet.record.link_counts import PageLinkCounts, count_new_links_every

if TYPE_CHECKING:
    from freshet.archive.exporters import table
else:
    table = OptionalPackage("freshet.archive.exporters.table", extra="parquet")

COUNT_COLUMNS = {
    "new_internal": "internal",
    "new_external": "external",
    "never_seen_internal": "never_seen_internal",
    "never_seen_external": "never_seen_external",
    "first_in_collection_internal": "first_in_collection_internal",
    "first_in_collection_external": "first_in_collection_external",
    "links": "total",
}


def export_new_links(
    collection: CollectionStore, path: Path, every: timedelta, *, source: str | None = None
) -> int:
    """Write the new links of pages in intervals of equal length; return the number of rows."""
    table.check_table_path(path)
    now = collection.clock.now()
    counts = count_new_links_every(collection.catalog, every, now, source=source)
    return table.write(path, link_table_columns(counts))


def link_table_columns(result: PageLinkCounts) -> dict[str, list[Any]]:
    """Return the intervals that have counts as columns, a row per page and interval."""
    counts = result.counts
    pages, columns = np.nonzero(counts.spanned)
    spanned = counts.spanned[pages, columns]
    is_rotating = counts.are_rotating
    rows: dict[str, list[Any]] = {
        "page": [result.urls[page] for page in pages.tolist()],
        "begin": [result.bounds[begin] for begin in (columns + 1 - spanned).tolist()],
        "end": [result.bounds[end] for end in (columns + 1).tolist()],
    }
    for name, field_name in COUNT_COLUMNS.items():
        values = getattr(counts, field_name)[pages, columns]
        rows[name] = [int(value) for value in values.tolist()]
    rows["rotating"] = is_rotating[pages].tolist()
    return rows
