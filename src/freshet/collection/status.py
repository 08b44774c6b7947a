"""What a collection holds, and how it grows."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from freshet.archive.catalog.rows import Counts, FailingPage, Growth, Import
from freshet.archive.warc.lock import ArchiveLock
from freshet.archive.warc.read import archive_files
from freshet.collection.listing import failing_pages
from freshet.core.errors import NotFound
from freshet.core.settings import objective_of
from freshet.core.types import BadRow
from freshet.crawl.budget_status import Today, budget_now, failing_of, today_of
from freshet.crawl.hosts import HostView, closed_hosts
from freshet.record.store import CATALOG_FILE, CollectionStore

SHOWN_IMPORTS = 10
SHOWN_FAILING = 5


@dataclass(frozen=True, slots=True)
class Status:
    """A collection at a glance; ``writer`` names who is appending to it now.

    ``growth`` goes by the day of the visits, not by that of an import which brought them.
    ``failing`` counts the pages whose last visit showed no content, by its outcome;
    ``failing_pages`` are the few that failed last.
    """

    path: str
    objective: str
    contact: str
    counts: Counts
    archive_bytes: int
    catalog_bytes: int
    free_bytes: int
    writer: str
    growth: list[Growth]
    imports: list[Import]
    today: Today
    closed_hosts: list[HostView]
    failing: dict[str, int]
    failing_pages: list[FailingPage]


def status_of(collection: CollectionStore, *, days: int) -> Status:
    """Gather what a collection holds."""
    outcomes = collection.catalog.last_outcomes()
    hosts, politeness = collection.catalog.hosts(), collection.settings.politeness
    return Status(
        path=str(collection.path.resolve()),
        objective=objective_of(collection.settings),
        contact=collection.settings.contact,
        counts=collection.catalog.counts(),
        archive_bytes=sum(path.stat().st_size for path in archive_files(collection.archive)),
        catalog_bytes=(collection.path / CATALOG_FILE).stat().st_size,
        free_bytes=shutil.disk_usage(collection.path).free,
        writer=ArchiveLock(collection.archive).holder(),
        growth=last_days(collection.catalog.growth(), days),
        imports=collection.catalog.imports()[-SHOWN_IMPORTS:],
        today=today_of(collection, outcomes, budget=budget_now(collection)),
        closed_hosts=closed_hosts(hosts, politeness, collection.clock.now()),
        failing=failing_of(outcomes),
        failing_pages=failing_pages(collection, source="", limit=SHOWN_FAILING),
    )


def last_days(growth: Sequence[Growth], days: int) -> list[Growth]:
    """Return what falls into the last so many days of the calendar, up to the last visit's."""
    if not growth:
        return []
    last = growth[-1].day
    return [row for row in growth if (last - row.day).days < days]


def bad_rows(collection: CollectionStore, number: int) -> list[BadRow]:
    """Return every row that an import could not take."""
    if number not in {row.id for row in collection.catalog.imports()}:
        raise NotFound(f"there is no import {number}; 'freshet status' numbers them")
    return collection.catalog.bad_rows(number)
