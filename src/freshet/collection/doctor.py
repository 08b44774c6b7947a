"""Looks for problems of the machine, the collection and its crawl."""

import json
import os
import re
import shlex
import shutil
import ssl
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import requires, version
from pathlib import Path

from freshet.archive.warc.lock import ArchiveLock
from freshet.archive.warc.read import OPEN_SUFFIX, archive_files, closed_name
from freshet.collection.backup import LAST_BACKUP_NOTE
from freshet.core import DISTRIBUTION
from freshet.core.clock import SystemClock
from freshet.core.errors import FreshetError
from freshet.core.files import files_readable_by_others
from freshet.core.humanize import count_text
from freshet.core.local_time import format_to_minute, format_to_second
from freshet.crawl.budget_status import CRAWL_START, failing_page_counts
from freshet.crawl.hosts import closed_hosts
from freshet.crawl.live_policy import policy_name
from freshet.crawl.own_class_check import check_own_policy
from freshet.record.collection_store import (
    CATALOG_FILE,
    SETTINGS_FILE,
    CollectionStore,
    shorten_names,
)
from freshet.record.writer_lock import ARCHIVE_FOLDER, running_crawl

MIN_FREE_BYTES = 1_000_000_000
MIN_CLOCK_YEAR = 2026
STALLED_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """A check, its result, whether it passed, and the remedy."""

    what: str
    found: str
    fine: bool
    remedy: str = ""


def run_doctor(path: Path) -> list[DoctorFinding]:
    """Check the machine, and the collection if there is one."""
    return [*_check_machine(path), *_check_collection(path)]


def _check_machine(path: Path) -> Iterator[DoctorFinding]:
    python = sys.version.split()[0]
    yield DoctorFinding("python", python, sys.version_info >= (3, 11), "use Python 3.11 or newer")
    yield DoctorFinding("freshet", version(DISTRIBUTION), True)
    missing = _missing_packages()
    packages = "missing: " + ", ".join(missing) if missing else "all there"
    yield DoctorFinding(
        "packages", packages, not missing, "pip install . in the checkout of Freshet"
    )
    git = shutil.which("git")
    yield DoctorFinding("git", git or "not installed: only 'import git' needs it", True)
    yield _check_trust_store()
    free_bytes = shutil.disk_usage(path if path.exists() else Path.cwd()).free
    has_space = free_bytes > MIN_FREE_BYTES
    yield DoctorFinding("disk", f"{free_bytes / 1e9:.1f} GB free", has_space, "free some space")
    now = SystemClock().now()
    yield DoctorFinding("clock", format_to_second(now), now.year >= MIN_CLOCK_YEAR, "set the clock")


def _missing_packages() -> list[str]:
    requirements = (line.partition(";") for line in requires(DISTRIBUTION) or ())
    needed = [name for name, _, condition in requirements if not condition]
    return [name for name in map(_package_name, needed) if not _is_installed(name)]


def _package_name(requirement: str) -> str:
    """Return the package name of a requirement.

    >>> _package_name("numpy>=2"), _package_name("psycopg[binary] ~=3.2")
    ('numpy', 'psycopg')
    """
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except ModuleNotFoundError:
        return False
    return True


def _check_trust_store() -> DoctorFinding:
    """Check that there are certificate authorities to verify servers with."""
    defaults = ssl.get_default_verify_paths()
    paths = [Path(name) for name in (defaults.cafile, defaults.capath) if name]
    stores = [str(path) for path in paths if path.is_file() or _has_files(path)]
    return DoctorFinding(
        "certificates",
        ", ".join(stores) or "no trust store: no https page can be fetched",
        bool(stores),
        "install the package ca-certificates, or set SSL_CERT_FILE",
    )


def _has_files(path: Path) -> bool:
    return path.is_dir() and any(path.iterdir())


def _check_collection(path: Path) -> Iterator[DoctorFinding]:
    if not (path / SETTINGS_FILE).exists():
        yield DoctorFinding("collection", f"none in {path}; 'freshet init {path}' makes one", True)
        return
    yield _check_permissions(path)
    yield _check_privacy(path)
    try:
        with CollectionStore.open(path) as collection:
            yield from _check_store(collection)
            yield from _check_crawl(collection)
    except FreshetError as error:
        yield DoctorFinding("collection", str(error), False, "see the message")


def _check_permissions(path: Path) -> DoctorFinding:
    """Check that the files of a collection can be written."""
    paths = (path, path / ARCHIVE_FOLDER, path / CATALOG_FILE)
    closed = [item.name for item in paths if not os.access(item, os.R_OK | os.W_OK)]
    text = "not writable: " + ", ".join(closed) if closed else "writable"
    return DoctorFinding("permissions", text, not closed, "give yourself the right to write there")


def _check_privacy(path: Path) -> DoctorFinding:
    """Check that nobody else can read the files of a collection, which hold secrets."""
    readable = files_readable_by_others(path)
    names = shorten_names([str(item.relative_to(path)) for item in readable])
    text = f"open to others: {names}" if readable else "readable only by you"
    return DoctorFinding("privacy", text, not readable, f"chmod -R go= {shlex.quote(str(path))}")


def _check_store(collection: CollectionStore) -> Iterator[DoctorFinding]:
    """Check the catalog, the settings, the lock and the files of the archive."""
    counts = collection.catalog.counts()
    yield DoctorFinding(
        "collection",
        f"{count_text(counts.pages, 'page')}, {count_text(counts.visits, 'visit')}",
        True,
    )
    contact = collection.settings.contact
    remedy = "set contact in freshet.toml"
    yield DoctorFinding("contact", contact or "not set", bool(contact), remedy)
    yield _check_policy(collection)
    writer = ArchiveLock(collection.archive_folder).holder()
    yield DoctorFinding("lock", f"held by {writer}" if writer else "free", True)
    paths = list(archive_files(collection.archive_folder))
    closed_names = {closed_name(path) for path in paths}
    named = [file.name for file in collection.catalog.archive_files()]
    missing = [name for name in named if name not in closed_names]
    text = "missing: " + ", ".join(missing) if missing else "all files there"
    remedy = "bring the files back, or run 'freshet check --repair'"
    yield DoctorFinding("archive", text, not missing, remedy)
    open_files = sorted(path.name for path in paths if path.name.endswith(OPEN_SUFFIX))
    remedy = "a writer died; 'freshet check --repair' closes them"
    is_fine = bool(writer) or not open_files
    yield DoctorFinding("open files", ", ".join(open_files) or "none", is_fine, remedy)


def _check_policy(collection: CollectionStore) -> DoctorFinding:
    """Check that the configured policy, formula, model or class can be used."""
    try:
        check_own_policy(collection.settings)
        return DoctorFinding("policy", policy_name(collection.settings), True)
    except FreshetError as error:
        return DoctorFinding("policy", str(error), False, "correct policy in freshet.toml")


def _check_crawl(collection: CollectionStore) -> Iterator[DoctorFinding]:
    """Check visits, failing pages, hosts and the backup."""
    now = collection.clock.now()
    outcomes = collection.catalog.last_outcome_counts()
    page_count = sum(item.pages for item in outcomes)
    yield _check_last_look(collection, page_count, now)
    failing = sum(failing_page_counts(outcomes).values())
    is_fine = not page_count or failing < page_count
    remedy = "'freshet list --failing' names them with the reason"
    yield DoctorFinding("failing pages", f"{failing:,} of {page_count:,}", is_fine, remedy)
    closed = closed_hosts(collection.catalog.host_states(), collection.settings.politeness, now)
    names = shorten_names([host.host for host in closed])
    text = f"{names}; 'freshet host NAME' says why" if closed else "none"
    yield DoctorFinding("hosts backed off", text, True)
    yield _check_backup(collection, now)


def _check_last_look(collection: CollectionStore, page_count: int, now: datetime) -> DoctorFinding:
    """Check that a running crawl is not stalled: a visit succeeded within the last day."""
    last_look = collection.catalog.last_look_time()
    text = format_to_minute(last_look) if last_look else "never"
    crawl_start = collection.catalog.read_note(CRAWL_START)
    times = [last_look] if last_look else []
    if crawl_start:
        times.append(datetime.fromisoformat(crawl_start))
    is_running = bool(running_crawl(collection.archive_folder))
    is_stalled = is_running and page_count > 0 and bool(times) and now - max(times) > STALLED_AFTER
    remedy = "a crawl runs but nothing succeeds; see 'freshet status'"
    return DoctorFinding("last successful visit", text, not is_stalled, remedy)


def _check_backup(collection: CollectionStore, now: datetime) -> DoctorFinding:
    note = collection.catalog.read_note(LAST_BACKUP_NOTE)
    if not note:
        return DoctorFinding("backup", "none made; 'freshet backup DIR' makes one", True)
    time, folder = json.loads(note)
    days = (now - datetime.fromisoformat(time)).days
    return DoctorFinding("backup", f"{days:,} days old, in {folder}", True)
