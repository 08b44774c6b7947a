"""Back up a collection, also while a crawl writes to it, and restore it elsewhere.

The catalog is copied first, as one consistent snapshot; then the archive. A record is in the
archive before its row is in the catalog, so every row of the snapshot has its record in the files
copied after it. What those files hold beyond the snapshot is adopted when the restored collection
is opened, as after a crash.

A backup is a folder: ``archive_folder/`` holds the closed WARC files, which never change and are copied
once; a folder named after its moment holds what changes (catalog, settings, models, open WARC
files); and ``backup.json`` names all files with their digests. It is replaced at the end in one
step, so a backup that is interrupted leaves the one before it whole.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import Any

from freshet.archive.catalog.catalog import open_catalog
from freshet.archive.catalog.sqlite import copy_catalog
from freshet.archive.warc.durable_files import read_range, storage_error, sync_folder
from freshet.archive.warc.lock import LOCK_NAME, ArchiveLock
from freshet.archive.warc.read import OPEN_SUFFIX, archive_files, closed_name
from freshet.core.clock import Clock
from freshet.core.errors import BadInputError, DamagedError, NotFoundError, StorageError, UsageError
from freshet.core.files import make_private_folder, open_private
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.record.archive_writer import ARCHIVE_FOLDER
from freshet.record.recovery import FileRepair
from freshet.record.store import CATALOG_FILE, MODELS_FOLDER, SETTINGS_FILE, CollectionStore

MANIFEST_FILE = "backup.json"
LAST_BACKUP_NOTE = "last backup"
BACKUP_FORMAT = 1
MAX_COPY_ATTEMPTS = 3
MOMENT_FOLDER_NAME = re.compile(r"\d{8}T\d{12}(-\d+)?")


@dataclass(frozen=True, slots=True)
class BackupFile:
    """A file of a backup: its name in the collection, where it is stored, its size and digest."""

    name: str
    stored: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """What a backup holds: of which collection, made when, with which files."""

    format: int
    collection: str
    made: str
    files: tuple[BackupFile, ...]


@dataclass(frozen=True, slots=True)
class BackupSummary:
    """What a backup came to; files that an earlier one had copied are not copied again."""

    path: str
    made: datetime
    files: int
    bytes: int
    copied_files: int
    copied_bytes: int


@dataclass(frozen=True, slots=True)
class RestoreSummary:
    """What was restored, and what was mended as after a crash."""

    path: str
    made: datetime
    files: int
    bytes: int
    mended: tuple[FileRepair, ...]


def back_up(
    collection: CollectionStore, target: Path, *, progress: ProgressCallback = ignore_progress
) -> BackupSummary:  # fmt: skip
    """Copy a collection into a backup folder; an earlier backup there is brought up to date.

    Where files are rewritten meanwhile, as ``prune`` does, the copy is made again. One process at a
    time writes to a backup folder.
    """
    _earlier(collection, target)  # refuses a foreign folder before a lock file is made in it
    make_private_folder(target)
    with ArchiveLock(target, clock=collection.clock):
        before = _earlier(collection, target)
        if before is None:
            _commit(target, BackupManifest(BACKUP_FORMAT, str(collection.path.resolve()), "", ()))
        files, made = _copy_consistently(collection, target, before, progress)
    collection.catalog.write_note(
        LAST_BACKUP_NOTE, json.dumps([made.isoformat(), str(target.resolve())])
    )
    known = set(before.files) if before else set()
    copied = [item for item in files if item not in known]
    return BackupSummary(
        str(target), made, len(files), _total(files), len(copied), _total(copied)
    )  # fmt: skip


def _copy_consistently(
    collection: CollectionStore,
    target: Path,
    before: BackupManifest | None,
    progress: ProgressCallback,
) -> tuple[tuple[BackupFile, ...], datetime]:
    """Copy a collection until all of one moment is there; return the files and the moment."""
    for _ in range(MAX_COPY_ATTEMPTS):
        made = collection.clock.now()
        folder = _new_folder(target, made)
        try:
            files, ends = _copy_all(collection, target, folder, before, progress)
        except StorageError:
            _discard(folder)
            raise
        except OSError as error:
            _discard(folder)
            raise storage_error(error, target) from error
        if not (missing := _incomplete(files, ends)):
            break
        _discard(folder)
    else:
        raise StorageError(
            f"{collection.path}: {missing} was rewritten during the backup; "
            "wait until 'prune' or 'check --repair' has ended, then back up again"
        )
    _commit(
        target,
        BackupManifest(BACKUP_FORMAT, str(collection.path.resolve()), made.isoformat(), files),
    )
    _delete_stale(target, folder, files)
    return files, made


def restore(
    backup: Path,
    target: Path,
    *,
    clock: Clock | None = None,
    progress: ProgressCallback = ignore_progress,
) -> RestoreSummary:
    """Make a collection from a backup in a folder that is new or empty, and mend its open files.

    The settings file is written last, so that a restore which is interrupted leaves no collection.
    """
    manifest = _read(backup)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is not empty; restore into a new folder")
    ordered = sorted(manifest.files, key=lambda item: item.name == SETTINGS_FILE)
    total, done = _total(manifest.files), 0
    try:
        for folder in (target / ARCHIVE_FOLDER, target / MODELS_FOLDER):
            make_private_folder(folder)
        for item in ordered:
            _restore_file(backup / item.stored, target / item.name, item)
            progress(done := done + item.bytes, total)
    except OSError as error:
        raise storage_error(error, target) from error
    with CollectionStore.open(target, clock=clock) as collection, collection.appending():
        mended = tuple(collection.repairs)
    made = datetime.fromisoformat(manifest.made)
    return RestoreSummary(str(target), made, len(manifest.files), total, mended)


def _earlier(collection: CollectionStore, target: Path) -> BackupManifest | None:
    """Return what an earlier backup in the folder holds; refuse a folder of something else."""
    inside = collection.path.resolve()
    if inside == target.resolve() or inside in target.resolve().parents:
        raise UsageError(f"{target} lies in the collection itself; choose a folder elsewhere")
    if not target.exists() or {item.name for item in target.iterdir()} <= {LOCK_NAME}:
        return None
    try:
        before = _read(target, whole=False)
    except NotFoundError:
        raise UsageError(f"{target} is not empty and no backup; choose a new folder") from None
    if before.collection != str(inside):
        raise UsageError(f"{target} is a backup of {before.collection}; choose another folder")
    return before


def _copy_all(
    collection: CollectionStore,
    target: Path,
    folder: Path,
    before: BackupManifest | None,
    progress: ProgressCallback,
) -> tuple[tuple[BackupFile, ...], dict[str, int]]:
    """Copy everything; return the files, and where the last record of each WARC file ends."""
    make_private_folder(folder)
    copy_catalog(collection.path / CATALOG_FILE, folder / CATALOG_FILE)
    with open_catalog(folder / CATALOG_FILE) as catalog:
        ends = catalog.archive_file_ends()
    files = [_entry(CATALOG_FILE, folder / CATALOG_FILE, target, _digest(folder / CATALOG_FILE))]
    sources = [*_varying(collection.path), *archive_files(collection.archive_folder)]
    known = {item.stored: item for item in before.files} if before else {}
    for number, source in enumerate(sources, 1):
        with suppress(FileNotFoundError):
            files.append(_copied(collection.path, _current_name(source), target, folder, known))
        progress(number, len(sources))
    return tuple(files), ends


def _new_folder(target: Path, made: datetime) -> Path:
    """Return a folder for a moment that no other backup has."""
    name = f"{made:%Y%m%dT%H%M%S%f}"
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(target / name for name in names if not (target / name).exists())


def _varying(path: Path) -> Iterator[Path]:
    """Yield the settings and the files of models."""
    yield path / SETTINGS_FILE
    yield from sorted(item for item in (path / MODELS_FOLDER).rglob("*") if item.is_file())


def _current_name(source: Path) -> Path:
    """Return the name of a WARC file that may have been closed since the folder was listed."""
    if source.name.endswith(OPEN_SUFFIX) and not source.exists():
        return source.with_name(closed_name(source))
    return source


def _copied(
    root: Path, source: Path, target: Path, folder: Path, known: dict[str, BackupFile]
) -> BackupFile:
    """Copy a file; one that never changes goes where the next backup finds it again."""
    name = source.relative_to(root).as_posix()
    is_fixed = source.parent.name == ARCHIVE_FOLDER and not source.name.endswith(OPEN_SUFFIX)
    stored = (target if is_fixed else folder) / name
    earlier = known.get(name) if is_fixed else None
    if earlier and _size(stored) == source.stat().st_size == earlier.bytes:
        return earlier
    return _entry(name, stored, target, _copy(source, stored))


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else -1


def _copy(source: Path, stored: Path) -> str:
    """Copy a file durably; return the digest of what was read of it."""
    make_private_folder(stored.parent)
    digest = hashlib.sha256()
    with source.open("rb") as opened:
        end = os.fstat(opened.fileno()).st_size
    with open(stored, "wb", opener=open_private) as file:
        for chunk in read_range(source, 0, end):
            digest.update(chunk)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(stored.parent)
    return digest.hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _entry(name: str, stored: Path, target: Path, digest: str) -> BackupFile:
    where = stored.relative_to(target).as_posix()
    return BackupFile(name, where, stored.stat().st_size, digest)


def _incomplete(files: tuple[BackupFile, ...], ends: dict[str, int]) -> str:
    """Return a WARC file that ends before a record of the copied catalog; empty where none does."""
    sizes = {closed_name(PurePosixPath(item.name)): item.bytes for item in files}
    return next((name for name, end in ends.items() if sizes.get(name, 0) < end), "")


def _commit(target: Path, manifest: BackupManifest) -> None:
    """Replace the manifest in one step."""
    part = target / f"{MANIFEST_FILE}.part"
    with open(part, "w", encoding="utf-8", opener=open_private) as file:
        json.dump(asdict(manifest), file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    part.rename(target / MANIFEST_FILE)
    sync_folder(target)


def _delete_stale(target: Path, folder: Path, files: tuple[BackupFile, ...]) -> None:
    """Delete what earlier or interrupted backups stored and this one does not name."""
    named = {target / item.stored for item in files}
    for stored in archive_files(target / ARCHIVE_FOLDER):
        if stored not in named:
            stored.unlink()
    for other in target.iterdir():
        if other != folder and MOMENT_FOLDER_NAME.fullmatch(other.name):
            _discard(other)


def _read(backup: Path, *, whole: bool = True) -> BackupManifest:
    try:
        table: dict[str, Any] = json.loads((backup / MANIFEST_FILE).read_text("utf-8"))
        files = tuple(BackupFile(**item) for item in table.pop("files"))
        manifest = BackupManifest(files=files, **table)
        if files:
            datetime.fromisoformat(manifest.made)
    except FileNotFoundError:
        raise NotFoundError(f"{backup} is no backup: it has no {MANIFEST_FILE}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _unusable(backup, f"cannot be read: {error}") from error
    if manifest.format != BACKUP_FORMAT:
        raise BadInputError(
            f"{backup} has backup format {manifest.format}; install a newer Freshet"
        )
    for item in files:
        if not isinstance(item.bytes, int) or not _is_inside(item.name, item.stored):
            raise _unusable(backup, "names a file outside the backup, or none")
    if whole and not files:
        raise BadInputError(f"{backup} was never finished; run 'freshet backup {backup}' again")
    return manifest


def _is_inside(*names: object) -> bool:
    """Whether all are names of files below a folder."""
    return all(
        isinstance(name, str) and name and name.isprintable()
        and not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts
        for name in names
    )  # fmt: skip


def _unusable(backup: Path, why: str) -> BadInputError:
    return BadInputError(f"{backup / MANIFEST_FILE} {why}; use a backup that 'freshet backup' made")


def _restore_file(stored: Path, target: Path, item: BackupFile) -> None:
    if not stored.is_file():
        raise DamagedError(f"{stored} is missing from the backup; use another backup")
    if _copy(stored, target) != item.sha256:
        raise DamagedError(f"{stored} differs from what was backed up; use another backup")


def _discard(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _total(files: "list[BackupFile] | tuple[BackupFile, ...]") -> int:
    return sum(item.bytes for item in files)
