"""What a collection holds, and how it grows."""

import shutil
from dataclasses import dataclass

from freshet.archive.catalog.rows import Counts, Growth, Import
from freshet.archive.warc.lock import ArchiveLock
from freshet.flow.check import archive_files
from freshet.flow.collection import CATALOG_FILE, Collection

SHOWN_IMPORTS = 10


@dataclass(frozen=True, slots=True)
class Status:
    """A collection at a glance; ``writer`` names who is appending to it now."""

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


def status_of(collection: Collection, *, days: int) -> Status:
    """Gather what a collection holds."""
    return Status(
        path=str(collection.path),
        objective=collection.settings.objective,
        contact=collection.settings.contact,
        counts=collection.catalog.counts(),
        archive_bytes=sum(path.stat().st_size for path in archive_files(collection.archive)),
        catalog_bytes=(collection.path / CATALOG_FILE).stat().st_size,
        free_bytes=shutil.disk_usage(collection.path).free,
        writer=ArchiveLock(collection.archive).holder(),
        growth=collection.catalog.growth()[-days:] if days > 0 else [],
        imports=collection.catalog.imports()[-SHOWN_IMPORTS:],
    )
