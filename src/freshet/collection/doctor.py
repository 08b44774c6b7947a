"""Look for what is wrong with the set-up: versions, tools, disk, clock, collection."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import requires, version
from pathlib import Path

from freshet.archive.warc.lock import ArchiveLock
from freshet.archive.warc.read import OPEN_SUFFIX, archive_files
from freshet.collection.doctor_crawl import check_crawl, check_trust_store
from freshet.collection.finding import DoctorFinding
from freshet.core.clock import SystemClock
from freshet.core.errors import FreshetError
from freshet.core.files import files_readable_by_others
from freshet.core.local_time import format_to_second
from freshet.crawl.live_policy import policy_name
from freshet.record.archive_writer import ARCHIVE_FOLDER
from freshet.record.store import CATALOG_FILE, SETTINGS_FILE, CollectionStore, shorten_names

MIN_FREE_BYTES = 1_000_000_000
MIN_CLOCK_YEAR = 2026


def run_doctor(path: Path) -> list[DoctorFinding]:
    """Look at the machine, and at the collection if there is one."""
    return [*_machine(path), *_collection(path)]


def _machine(path: Path) -> Iterator[DoctorFinding]:
    python = sys.version.split()[0]
    yield DoctorFinding("python", python, sys.version_info >= (3, 11), "use Python 3.11 or newer")
    yield DoctorFinding("freshet", version("freshet"), True)
    missing = _missing_packages()
    yield DoctorFinding("packages", "missing: " + ", ".join(missing) if missing else "all there",
                  not missing, "pip install freshet")  # fmt: skip
    git = shutil.which("git")
    yield DoctorFinding("git", git or "not installed: only 'import git' needs it", True)
    yield check_trust_store()
    free = shutil.disk_usage(path if path.exists() else Path.cwd()).free
    yield DoctorFinding(
        "disk", f"{free / 1e9:.1f} GB free", free > MIN_FREE_BYTES, "free some space"
    )
    now = SystemClock().now()
    yield DoctorFinding("clock", format_to_second(now), now.year >= MIN_CLOCK_YEAR, "set the clock")


def _missing_packages() -> list[str]:
    named = (line.partition(";") for line in requires("freshet") or ())
    needed = [name for name, _, condition in named if "extra" not in condition]
    return [name for name in map(_bare, needed) if not _is_installed(name)]


def _bare(requirement: str) -> str:
    """Return the name in a requirement.

    >>> _bare("numpy>=2"), _bare("scrapy<3,>=2.19"), _bare("psycopg[binary] ~=3.2")
    ('numpy', 'scrapy', 'psycopg')
    """
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except ModuleNotFoundError:
        return False
    return True


def _collection(path: Path) -> Iterator[DoctorFinding]:
    if not (path / SETTINGS_FILE).exists():
        yield DoctorFinding("collection", f"none in {path}; 'freshet init {path}' makes one", True)
        return
    yield _permissions(path)
    yield _privacy(path)
    try:
        with CollectionStore.open(path) as collection:
            yield from _inside(collection)
    except FreshetError as error:
        yield DoctorFinding("collection", str(error), False, "see the message")


def _permissions(path: Path) -> DoctorFinding:
    """Say which of a collection's places cannot be written."""
    places = (path, path / ARCHIVE_FOLDER, path / CATALOG_FILE)
    closed = [item.name for item in places if not os.access(item, os.R_OK | os.W_OK)]
    found = "not writable: " + ", ".join(closed) if closed else "writable"
    return DoctorFinding("permissions", found, not closed, "give yourself the right to write there")


def _privacy(path: Path) -> DoctorFinding:
    """Say which of a collection's files others can read; they hold secrets of its pages."""
    found = files_readable_by_others(path)
    names = shorten_names([str(item.relative_to(path)) for item in found])
    return DoctorFinding("privacy", f"open to others: {names}" if found else "yours alone",
                   not found, f"chmod -R go= {shlex.quote(str(path))}")  # fmt: skip


def _inside(collection: CollectionStore) -> Iterator[DoctorFinding]:
    counts = collection.catalog.counts()
    yield DoctorFinding("collection", f"{counts.pages:,} pages, {counts.visits:,} visits", True)
    contact = collection.settings.contact
    yield DoctorFinding(
        "contact", contact or "not set", bool(contact), "set contact in freshet.toml"
    )
    yield _policy(collection)
    holder = ArchiveLock(collection.archive_folder).holder()
    yield DoctorFinding("lock", f"held by {holder}" if holder else "free", True)
    yield from _archive(collection, is_written=bool(holder))
    yield from check_crawl(collection)


def _policy(collection: CollectionStore) -> DoctorFinding:
    """Say by what visits are planned, or what is wrong with the formula or model that is set."""
    try:
        return DoctorFinding("policy", policy_name(collection.settings), True)
    except FreshetError as error:
        return DoctorFinding("policy", str(error), False, "mend policy in freshet.toml")


def _archive(collection: CollectionStore, *, is_written: bool) -> Iterator[DoctorFinding]:
    """Say which files are missing, and which a writer that died has left open."""
    there = {item.name for item in archive_files(collection.archive_folder)}
    missing = [file.name for file in collection.catalog.archive_files() if file.name not in there]
    yield DoctorFinding("archive", "missing: " + ", ".join(missing) if missing else "all files there",
                  not missing, "bring the files back, or run 'freshet check --repair'")  # fmt: skip
    left_open = sorted(name for name in there if name.endswith(OPEN_SUFFIX))
    yield DoctorFinding("open files", ", ".join(left_open) or "none", is_written or not left_open,
                  "a writer died; 'freshet check --repair' closes them")  # fmt: skip
