"""What `freshet doctor` looks at of a crawl: certificates, visits, failing pages, hosts, backup."""

import json
import ssl
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from freshet.archive.warc.lock import ArchiveLock
from freshet.collection.backup import LAST_BACKUP_NOTE
from freshet.collection.finding import DoctorFinding
from freshet.core.local_time import format_to_minute
from freshet.crawl.budget_status import CRAWL_START, failing_page_counts
from freshet.crawl.hosts import closed_hosts
from freshet.record.archive_writer import is_crawl
from freshet.record.store import CollectionStore, shorten_names

STALLED_AFTER = timedelta(days=1)


def check_trust_store() -> DoctorFinding:
    """Say whether there are authorities to verify the certificates of servers with."""
    paths = ssl.get_default_verify_paths()
    files = [Path(name) for name in (paths.cafile, paths.capath) if name]
    there = [str(path) for path in files if path.is_file() or _has_files(path)]
    return DoctorFinding(
        "certificates",
        ", ".join(there) or "no trust store: no https page can be fetched",
        bool(there),
        "install the package ca-certificates, or set SSL_CERT_FILE",
    )


def _has_files(path: Path) -> bool:
    return path.is_dir() and any(path.iterdir())


def check_crawl(collection: CollectionStore) -> Iterator[DoctorFinding]:
    """Look at how the crawl of a collection goes."""
    now = collection.clock.now()
    outcomes = collection.catalog.last_outcome_counts()
    pages = sum(item.pages for item in outcomes)
    yield _last_look(collection, pages, now)
    failing = sum(failing_page_counts(outcomes).values())
    yield DoctorFinding("failing pages", f"{failing:,} of {pages:,}", not pages or failing < pages,
                  "'freshet list --failing' names them with the reason")  # fmt: skip
    closed = closed_hosts(collection.catalog.host_states(), collection.settings.politeness, now)
    names = shorten_names([view.host for view in closed])
    told = f"{names}; 'freshet host NAME' says why" if closed else "none"
    yield DoctorFinding("hosts backed off", told, True)
    yield _backup(collection, now)


def _last_look(collection: CollectionStore, pages: int, now: datetime) -> DoctorFinding:
    """Say when a visit last succeeded; a crawl that runs for a day without one is stalled."""
    last = collection.catalog.last_look_time()
    told = format_to_minute(last) if last else "never"
    noted = collection.catalog.read_note(CRAWL_START)
    since = [time for time in (last, noted and datetime.fromisoformat(noted)) if time]
    runs = is_crawl(ArchiveLock(collection.archive_folder).holder())
    is_stalled = runs and pages > 0 and bool(since) and now - max(since) > STALLED_AFTER
    return DoctorFinding("last successful visit", told, not is_stalled,
                   "a crawl runs but nothing succeeds; see 'freshet status'")  # fmt: skip


def _backup(collection: CollectionStore, now: datetime) -> DoctorFinding:
    noted = collection.catalog.read_note(LAST_BACKUP_NOTE)
    if not noted:
        return DoctorFinding("backup", "none made; 'freshet backup DIR' makes one", True)
    moment, folder = json.loads(noted)
    days = (now - datetime.fromisoformat(moment)).days
    return DoctorFinding("backup", f"{days:,} days old, in {folder}", True)
