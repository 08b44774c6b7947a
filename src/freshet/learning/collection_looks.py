"""The pages and the latest looks of a collection, as tables that policies and models learn from."""

from collections.abc import Iterable

import numpy as np

from freshet.archive.catalog.rows import PageColumns
from freshet.core.content.measured_looks import MeasuredLooks, concatenate_looks
from freshet.core.tables import PageTable, VisitTable, hash_names


def latest_looks(tables: Iterable[MeasuredLooks], limit: int) -> tuple[MeasuredLooks, int]:
    """Return the latest looks of tables in time order, and how many older ones were left out.

    No more than about twice the limit are in memory at a time.
    """
    looks, total = concatenate_looks([]), 0
    parts: list[MeasuredLooks] = []
    for table in tables:
        parts.append(table)
        total += len(table)
        if sum(map(len, parts)) > limit:
            looks, parts = _latest([looks, *parts], limit), []
    looks = _latest([looks, *parts], limit)
    return looks, total - len(looks)


def look_visits(looks: MeasuredLooks) -> VisitTable:
    """Return looks as the visits that a policy learns."""
    all_true, unknown = np.ones(len(looks), np.bool_), np.full(len(looks), -1, np.int32)
    pages = looks.pages.astype(np.int64)
    return VisitTable(pages, looks.times, all_true, looks.measured, looks.changed, unknown)


def concatenate_page_columns(batches: Iterable[PageColumns]) -> PageTable:
    """Return pages as the table that a policy takes, all of the same importance."""
    columns = list(batches)
    ids = np.array([page for batch in columns for page in batch.ids], np.int64)
    hosts, sites, directories = (
        hash_names([name for batch in columns for name in getattr(batch, group)])
        for group in ("hosts", "sites", "directories")
    )
    return PageTable(ids, hosts, sites, directories, np.ones(len(ids)), np.full(len(ids), np.nan))


def _latest(parts: list[MeasuredLooks], limit: int) -> MeasuredLooks:
    looks = concatenate_looks(parts)
    if len(looks) > limit:
        looks = looks.select(np.argpartition(looks.times, -limit)[-limit:])
    return looks.in_time_order()
