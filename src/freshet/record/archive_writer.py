"""Who writes to a collection: little is loaded for it, so that a second writer is soon refused."""

from pathlib import Path

from freshet.archive.warc.lock import ArchiveLock

ARCHIVE_FOLDER = "archive"
CRAWL_COMMANDS = frozenset({"run", "watch", "crawl", "crawl_process.py"})


def refuse_second_writer(collection: Path, *, allow_crawl: bool = False) -> None:
    """Raise Locked with the writer's name where another process writes to the archive.

    ``allow_crawl`` lets a crawl be that process.
    """
    lock = ArchiveLock(collection / ARCHIVE_FOLDER)
    writer = lock.holder()
    if writer and not (allow_crawl and is_crawl(writer)):
        lock.acquire().release()


def is_crawl(writer: str) -> bool:
    """Whether who writes to the archive is a crawl, by its command.

    >>> is_crawl("'freshet run' (process 7, since 2026-01-01)"), is_crawl("'freshet import csv x'")
    (True, False)
    """
    command = writer.partition(" (process")[0]
    return any(word.strip("'") in CRAWL_COMMANDS for word in command.split()[:2])
