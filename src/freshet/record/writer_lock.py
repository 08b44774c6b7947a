"""Find the process that holds the lock of a collection's archive.

This module imports little, so that a second writer is refused quickly.
"""

from pathlib import Path

from freshet.archive.warc.lock import ArchiveLock

ARCHIVE_FOLDER = "archive"
CRAWL_COMMANDS = frozenset({"run", "watch", "crawl", "crawl_process.py"})


def refuse_second_writer(collection: Path, *, allow_crawl: bool = False) -> None:
    """Raise LockedError with the writer's name if another process writes to the archive.

    ``allow_crawl`` accepts a crawl as the other process.
    """
    lock = ArchiveLock(collection / ARCHIVE_FOLDER)
    writer = lock.holder()
    if writer and not (allow_crawl and is_crawl(writer)):
        lock.acquire().release()


def running_crawl(archive_folder: Path) -> str:
    """Return the crawl that writes to an archive, as the lock names it; empty if none does."""
    writer = ArchiveLock(archive_folder).holder()
    return writer if is_crawl(writer) else ""


def is_crawl(writer: str) -> bool:
    """Whether the writer of the archive is a crawl, by its command.

    >>> is_crawl("'freshet run' (process 7, since 2026-01-01)"), is_crawl("'freshet import csv x'")
    (True, False)
    """
    command = writer.partition(" (process")[0]
    return any(word.strip("'") in CRAWL_COMMANDS for word in command.split()[:2])
