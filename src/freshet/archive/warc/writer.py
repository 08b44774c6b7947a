"""Append to the archive: complete records or nothing."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from freshet.archive.warc.build import ArchiveOrigin, build_warcinfo
from freshet.archive.warc.durable_files import (
    read_range,
    rename_durably,
    storage_error,
    sync_folder,
)
from freshet.archive.warc.lock import ArchiveLock
from freshet.archive.warc.read import OPEN_SUFFIX
from freshet.archive.warc.record import WarcRecord, encode_record
from freshet.core.clock import Clock, SystemClock
from freshet.core.close_on_exit import CloseOnExit
from freshet.core.errors import BadInputError, StorageError
from freshet.core.files import PRIVATE_FILE_MODE
from freshet.core.types import RecordLocation

MAX_FILE_BYTES = 1_000_000_000

WriteAt = Callable[[int, bytes | memoryview, int], int]


class WarcWriter(CloseOnExit):
    """Appends records to an archive folder; only one process may do so at a time.

    A file has the suffix ``.open`` until it is full or the writer is closed; locations already use
    its final name. A file is created with its first record, so that no file is empty.
    """

    def __init__(
        self,
        folder: Path,
        origin: ArchiveOrigin,
        *,
        clock: Clock | None = None,
        max_bytes: int = MAX_FILE_BYTES,
        lock: ArchiveLock | None = None,
        write_at: WriteAt = os.pwrite,
    ) -> None:
        self._folder = folder
        self._origin = origin
        self._clock = clock or SystemClock()
        self._max_bytes = max_bytes
        self._own_lock = ArchiveLock(folder, clock=self._clock).acquire() if lock is None else None
        self._write_at = write_at
        self._name = ""
        self._next_name = ""
        self._file: int | None = None
        self._end = 0
        self._synced = 0
        self._needs_truncation = False
        self._last_serial = 0
        if lock is not None and not (lock.is_held and lock.folder == folder):
            raise StorageError(f"the given lock is not held on {folder}; acquire it before writing")

    def append(self, members: Sequence[bytes | WarcRecord]) -> list[RecordLocation]:
        """Append records that belong together, all of them or none."""
        encoded = [
            [member if isinstance(member, bytes) else encode_record(member)] for member in members
        ]
        return self._append(encoded)

    def copy_range(self, path: Path, offset: int, length: int) -> RecordLocation:
        """Append a gzip member of any length from another file without change."""
        return self._append([_read_member(path, offset, length)])[0]

    def next_file_name(self) -> str:
        """Return the name of the next file before it is created."""
        if not self._next_name:
            self._next_name = self._unused_name(f"freshet-{self._clock.now():%Y%m%d%H%M%S%f}")
        return self._next_name

    def sync(self) -> None:
        """Make everything appended so far durable.

        After a failed fsync the state of the disk is unknown, so everything since the last
        successful one is cut off again.
        """
        if self._file is None:
            return
        try:
            os.fsync(self._file)
        except OSError as error:
            self._truncate(self._file, self._synced)
            raise storage_error(error, self._path) from error
        self._synced = self._end

    def was_cut_off(self, location: RecordLocation) -> bool:
        """Return whether a record that was appended to the open file was cut off again."""
        return location.file == self._name and location.offset + location.length > self._end

    def close(self) -> None:
        """Give the open file its final name and release the lock."""
        try:
            self._close_file()
        finally:
            if self._own_lock is not None:
                self._own_lock.release()

    @property
    def _path(self) -> Path:
        return self._folder / (self._name + OPEN_SUFFIX)

    def _append(self, members: Sequence[Iterable[bytes]]) -> list[RecordLocation]:
        if not members:
            return []
        file = self._ready_file()
        start = self._end
        locations: list[RecordLocation] = []
        try:
            locations = [self._write_chunks(file, chunks) for chunks in members]
        except OSError as error:
            raise storage_error(error, self._path) from error
        finally:
            if not locations:
                self._truncate(file, start)
        return locations

    def _write_chunks(self, file: int, chunks: Iterable[bytes]) -> RecordLocation:
        start = self._end
        for chunk in chunks:
            remaining = memoryview(chunk)
            while remaining:
                written = self._write_at(file, remaining, self._end)
                self._end += written
                remaining = remaining[written:]
        return RecordLocation(self._name, start, self._end - start)

    def _truncate(self, file: int, start: int) -> None:
        """Truncate the file to the last complete record; the next write retries a failure."""
        self._end = start
        self._needs_truncation = True
        try:
            os.ftruncate(file, start)
            self._needs_truncation = False
        except OSError:
            return

    def _ready_file(self) -> int:
        """Return a file that ends with a complete record and has room for more."""
        if self._file is not None and self._needs_truncation:
            self._truncate(self._file, self._end)
        if self._needs_truncation:
            raise StorageError(
                f"{self._path} cannot be truncated; check the disk, then start again"
            )
        if self._end >= self._max_bytes:
            self._close_file()
        return self._open_new_file() if self._file is None else self._file

    def _open_new_file(self) -> int:
        now = self._clock.now()
        try:
            self._file = file = self._create_file()
            self._end = 0
            self._write_chunks(file, [encode_record(build_warcinfo(self._origin, self._name, now))])
            os.fsync(file)
            self._synced = self._end
            sync_folder(self._folder)
        except OSError as error:
            self._discard_file()
            raise storage_error(error, self._path) from error
        return file

    def _create_file(self) -> int:
        self._name, self._next_name = self.next_file_name(), ""
        return os.open(
            self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE_MODE
        )

    def _unused_name(self, prefix: str) -> str:
        """Return an unused name; the lock keeps other processes from using it."""
        while True:
            self._last_serial += 1
            name = f"{prefix}-{self._last_serial:05d}.warc.gz"
            possible_paths = (self._folder / name, self._folder / (name + OPEN_SUFFIX))
            if not any(path.exists() for path in possible_paths):
                return name

    def _discard_file(self) -> None:
        """Remove a file that could not be opened completely."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
            with suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _close_file(self) -> None:
        if self._file is None:
            return
        self.sync()
        try:
            self._rename_to_final()
        except OSError as error:
            raise storage_error(error, self._path) from error
        os.close(self._file)
        self._file = None
        self._end = 0

    def _rename_to_final(self) -> None:
        """Give the open file its final name; if it has that already, make that durable."""
        if self._path.exists():
            rename_durably(self._path, self._folder / self._name)
        else:
            sync_folder(self._folder)


def _read_member(path: Path, offset: int, length: int) -> Iterator[bytes]:
    try:
        for chunk in read_range(path, offset, offset + length):
            length -= len(chunk)
            yield chunk
    except OSError as error:
        raise BadInputError(f"{path} cannot be read: {error.strerror}; check the file") from error
    if length:
        raise BadInputError(
            f"{path} ends {length} bytes before its record does; get the complete file"
        )
