"""Backs up a collection, also while a crawl writes to it, and restores it elsewhere.

The catalog is copied first, as one consistent snapshot, and then the archive. A record is in the
archive before its row is in the catalog, so every row of the snapshot has its record in the files
copied after it. Records that these files have beyond the snapshot are adopted when the restored
collection is opened, as after a crash.

A backup is a folder. Its subfolder ``archive/`` holds the closed WARC files, which never change and
are copied once. A subfolder named after the time of the backup holds the files that change:
catalog, settings, models and open WARC files. ``backup.json`` names all files with their digests;
it is replaced at the end in one step, so that an interrupted backup leaves the earlier one whole.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable
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
from freshet.record.collection_store import (
    CATALOG_FILE,
    MODELS_FOLDER,
    SETTINGS_FILE,
    CollectionStore,
)
from freshet.record.recovery import FileRepair
from freshet.record.writer_lock import ARCHIVE_FOLDER

MANIFEST_FILE = "backup.json"
LAST_BACKUP_NOTE = "last backup"
BACKUP_FORMAT = 1
MAX_COPY_ATTEMPTS = 3
MOMENT_FOLDER_NAME = re.compile(r"\d{8}T\d{12}(-\d+)?")


@dataclass(frozen=True, slots=True)
class BackupFile:
    """A file of a backup: its name in the collection and in the backup, its size and digest."""

    name: str
    stored: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """The collection that a backup was made of, its time, and its files."""

    format: int
    collection: str
    made: str
    files: tuple[BackupFile, ...]


@dataclass(frozen=True, slots=True)
class BackupSummary:
    """The size of a backup; files that an earlier backup has are not copied again."""

    path: str
    made: datetime
    files: int
    bytes: int
    copied_files: int
    copied_bytes: int


@dataclass(frozen=True, slots=True)
class RestoreSummary:
    """The size of a restored collection, and the files repaired as after a crash."""

    path: str
    made: datetime
    files: int
    bytes: int
    mended: tuple[FileRepair, ...]


def back_up(
    collection: CollectionStore, target: Path, *, progress: ProgressCallback = ignore_progress
) -> BackupSummary:
    """Copy a collection into a backup folder; an earlier backup there is brought up to date.

    If files are rewritten meanwhile, as ``prune`` does, the copy is made again. Only one process at
    a time writes to a backup folder.
    """
    _earlier_manifest(collection, target)  # refuses a foreign folder before a lock file is made
    make_private_folder(target)
    with ArchiveLock(target, clock=collection.clock):
        earlier = _earlier_manifest(collection, target)
        if earlier is None:
            path = str(collection.path.resolve())
            _write_manifest(target, BackupManifest(BACKUP_FORMAT, path, "", ()))
        files, time = _copy_consistently(collection, target, earlier, progress)
    collection.catalog.write_note(
        LAST_BACKUP_NOTE, json.dumps([time.isoformat(), str(target.resolve())])
    )
    earlier_files = set(earlier.files) if earlier else set()
    copied = [file for file in files if file not in earlier_files]
    return BackupSummary(
        str(target), time, len(files), _total_bytes(files), len(copied), _total_bytes(copied)
    )


def _copy_consistently(
    collection: CollectionStore,
    target: Path,
    earlier: BackupManifest | None,
    progress: ProgressCallback,
) -> tuple[tuple[BackupFile, ...], datetime]:
    """Copy a collection until the copy is complete; return the files and the time of the copy."""
    for _ in range(MAX_COPY_ATTEMPTS):
        time = collection.clock.now()
        folder = _new_folder(target, time)
        try:
            files, ends = _copy_files(collection, target, folder, earlier, progress)
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
    path = str(collection.path.resolve())
    _write_manifest(target, BackupManifest(BACKUP_FORMAT, path, time.isoformat(), files))
    _delete_stale(target, folder, files)
    return files, time


def restore(
    backup: Path,
    target: Path,
    *,
    clock: Clock | None = None,
    progress: ProgressCallback = ignore_progress,
) -> RestoreSummary:
    """Make a collection from a backup in a new or empty folder, and repair its open files.

    The settings file is written last, so that an interrupted restore leaves no collection.
    """
    manifest = _read_manifest(backup)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is not empty; restore into a new folder")
    ordered_files = sorted(manifest.files, key=lambda file: file.name == SETTINGS_FILE)
    total_bytes, restored_bytes = _total_bytes(manifest.files), 0
    try:
        for folder in (target / ARCHIVE_FOLDER, target / MODELS_FOLDER):
            make_private_folder(folder)
        for file in ordered_files:
            _restore_file(backup / file.stored, target / file.name, file)
            restored_bytes += file.bytes
            progress(restored_bytes, total_bytes)
    except OSError as error:
        raise storage_error(error, target) from error
    with CollectionStore.open(target, clock=clock) as collection, collection.appending():
        repairs = tuple(collection.repairs)
    time = datetime.fromisoformat(manifest.made)
    return RestoreSummary(str(target), time, len(manifest.files), total_bytes, repairs)


def _earlier_manifest(collection: CollectionStore, target: Path) -> BackupManifest | None:
    """Return the manifest of an earlier backup in the folder; refuse a folder of something else."""
    path = collection.path.resolve()
    if path == target.resolve() or path in target.resolve().parents:
        raise UsageError(f"{target} is inside the collection; choose a folder elsewhere")
    if not target.exists() or {item.name for item in target.iterdir()} <= {LOCK_NAME}:
        return None
    try:
        manifest = _read_manifest(target, allow_unfinished=True)
    except NotFoundError:
        raise UsageError(f"{target} is not empty and not a backup; choose a new folder") from None
    if manifest.collection != str(path):
        raise UsageError(f"{target} is a backup of {manifest.collection}; choose another folder")
    return manifest


def _copy_files(
    collection: CollectionStore,
    target: Path,
    folder: Path,
    earlier: BackupManifest | None,
    progress: ProgressCallback,
) -> tuple[tuple[BackupFile, ...], dict[str, int]]:
    """Copy all files; return them, and the end of the last record with a row in each WARC file."""
    make_private_folder(folder)
    catalog_copy = folder / CATALOG_FILE
    copy_catalog(collection.path / CATALOG_FILE, catalog_copy)
    with open_catalog(catalog_copy) as catalog:
        ends = catalog.archive_file_ends()
    files = [_backup_file(CATALOG_FILE, catalog_copy, target, _sha256(catalog_copy))]
    models = sorted((collection.path / MODELS_FOLDER).rglob("*"))
    sources = [
        collection.path / SETTINGS_FILE,
        *(path for path in models if path.is_file()),
        *archive_files(collection.archive_folder),
    ]
    earlier_files = {file.stored: file for file in earlier.files} if earlier else {}
    for number, source in enumerate(sources, 1):
        with suppress(FileNotFoundError):
            path = _current_name(source)
            files.append(_copy_new(collection.path, path, target, folder, earlier_files))
        progress(number, len(sources))
    return tuple(files), ends


def _new_folder(target: Path, time: datetime) -> Path:
    """Return a folder named after a time that no other backup has."""
    name = f"{time:%Y%m%dT%H%M%S%f}"
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(target / name for name in names if not (target / name).exists())


def _current_name(source: Path) -> Path:
    """Return the name of a WARC file that may have been closed since the folder was listed."""
    if source.name.endswith(OPEN_SUFFIX) and not source.exists():
        return source.with_name(closed_name(source))
    return source


def _copy_new(
    root: Path, source: Path, target: Path, folder: Path, earlier_files: dict[str, BackupFile]
) -> BackupFile:
    """Copy a file; a closed WARC file only if no earlier backup has it."""
    name = source.relative_to(root).as_posix()
    is_closed = source.parent.name == ARCHIVE_FOLDER and not source.name.endswith(OPEN_SUFFIX)
    stored = (target if is_closed else folder) / name
    earlier = earlier_files.get(name) if is_closed else None
    stored_bytes = stored.stat().st_size if stored.is_file() else -1
    if earlier and stored_bytes == source.stat().st_size == earlier.bytes:
        return earlier
    return _backup_file(name, stored, target, _copy_durably(source, stored))


def _copy_durably(source: Path, stored: Path) -> str:
    """Copy a file and sync the copy; return the SHA-256 of the bytes."""
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


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _backup_file(name: str, stored: Path, target: Path, sha256: str) -> BackupFile:
    return BackupFile(name, stored.relative_to(target).as_posix(), stored.stat().st_size, sha256)


def _incomplete(files: tuple[BackupFile, ...], ends: dict[str, int]) -> str:
    """Return a WARC file that lacks a record of the copied catalog; empty if there is none."""
    sizes = {closed_name(PurePosixPath(file.name)): file.bytes for file in files}
    return next((name for name, end in ends.items() if sizes.get(name, 0) < end), "")


def _write_manifest(target: Path, manifest: BackupManifest) -> None:
    """Replace the manifest in one step."""
    partial = target / f"{MANIFEST_FILE}.part"
    with open(partial, "w", encoding="utf-8", opener=open_private) as file:
        json.dump(asdict(manifest), file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(target / MANIFEST_FILE)
    sync_folder(target)


def _delete_stale(target: Path, folder: Path, files: tuple[BackupFile, ...]) -> None:
    """Delete the files of earlier or interrupted backups that this one does not name."""
    named_paths = {target / file.stored for file in files}
    for path in archive_files(target / ARCHIVE_FOLDER):
        if path not in named_paths:
            path.unlink()
    for path in target.iterdir():
        if path != folder and MOMENT_FOLDER_NAME.fullmatch(path.name):
            _discard(path)


def _read_manifest(backup: Path, *, allow_unfinished: bool = False) -> BackupManifest:
    """Return the manifest of a backup; BadInputError if it cannot be used."""
    try:
        table: dict[str, Any] = json.loads((backup / MANIFEST_FILE).read_text("utf-8"))
        files = tuple(BackupFile(**item) for item in table.pop("files"))
        manifest = BackupManifest(files=files, **table)
        if files:
            datetime.fromisoformat(manifest.made)
    except FileNotFoundError:
        raise NotFoundError(f"{backup} is not a backup: it has no {MANIFEST_FILE}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _unusable(backup, f"cannot be read: {error}") from error
    if manifest.format != BACKUP_FORMAT:
        raise BadInputError(
            f"{backup} has backup format {manifest.format}; install a newer Freshet"
        )
    for file in files:
        if not isinstance(file.bytes, int) or not _are_inside(file.name, file.stored):
            raise _unusable(backup, "names a file outside the backup, or none")
    if not files and not allow_unfinished:
        raise BadInputError(f"{backup} was never finished; run 'freshet backup {backup}' again")
    return manifest


def _are_inside(*names: object) -> bool:
    """Whether all are relative names of files that stay below a folder."""
    return all(
        isinstance(name, str) and name and name.isprintable()
        and not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts
        for name in names
    )  # fmt: skip


def _unusable(backup: Path, problem: str) -> BadInputError:
    manifest = backup / MANIFEST_FILE
    return BadInputError(f"{manifest} {problem}; use a backup that 'freshet backup' made")


def _restore_file(stored: Path, target: Path, file: BackupFile) -> None:
    if not stored.is_file():
        raise DamagedError(f"{stored} is missing from the backup; use another backup")
    if _copy_durably(stored, target) != file.sha256:
        raise DamagedError(f"{stored} differs from what was backed up; use another backup")


def _discard(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _total_bytes(files: Iterable[BackupFile]) -> int:
    return sum(file.bytes for file in files)
