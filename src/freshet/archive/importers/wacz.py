"""Import WACZ files: the WARC files inside are decompressed one at a time and read.

A file inside is accepted only if it has the digest declared in datapackage.json. A zip file is
refused as a whole if it has encrypted or overlapping entries, duplicate names, paths that lead out
of the folder, or entries with an implausible compression ratio.
"""

import errno
import hashlib
import json
import stat
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from freshet.archive.importers import warc
from freshet.archive.importers.base import HistoryReader
from freshet.archive.observation import Observation
from freshet.core.errors import BadInputError
from freshet.core.types import BadRow

ARCHIVE_FOLDER = "archive"
PACKAGE, PACKAGE_DIGEST = "datapackage.json", "datapackage-digest.json"
DIRECTORY_BYTES = 33_554_432
PACKAGE_BYTES = 33_554_432
ALWAYS_ALLOWED_BYTES = 67_108_864
MAX_COMPRESSION_RATIO = 100
CHUNK_BYTES = 1_048_576
ENCRYPTED = 0x1
LOCAL_HEADER_BYTES = 30
HASHES = frozenset({"md5", "sha256", "sha384", "sha512"})

_DIRECTORY_END = b"PK\x05\x06"
_ZIP64_LOCATOR = b"PK\x06\x07"
_MAX_END_BYTES = 22 + 65_535
_UNKNOWN_SIZE = 0xFFFFFFFF
_ZIP_ERRORS = (
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
)


def read(path: Path, *, source: str | None = None) -> "WaczReader":
    """Read a WACZ file."""
    if not path.is_file():
        raise BadInputError(f"{path}: there is no such file; give a WACZ file")
    try:
        with _zip_errors():
            return WaczReader(path, warc.SOURCE if source is None else source)
    except BadZipFile as error:
        raise BadInputError(
            f"{path} is not a complete WACZ file ({error}); get it again"
        ) from error


class WaczReader(HistoryReader):
    """Reads the captures of a WACZ file; progress is counted in bytes of its WARC files."""

    def __init__(self, path: Path, source: str) -> None:
        with path.open("rb") as file:
            _refuse_large_directory(path, file)
        with ZipFile(path) as file:
            _refuse_unsafe_entries(path, file.infolist())
            self._files = [entry for entry in file.infolist() if _is_warc(entry.filename)]
            self._digests = _declared_digests(path, file)
        if not self._files:
            raise BadInputError(f"{path}: there is no WARC file in its folder {ARCHIVE_FOLDER}/")
        super().__init__(sum(entry.file_size for entry in self._files), source)
        self._path = path

    def __iter__(self) -> Iterator[Observation | BadRow]:
        bytes_before = 0
        with ZipFile(self._path) as file, TemporaryDirectory(prefix="freshet-wacz-") as folder:
            for entry in self._files:
                # The entry's own name may be too long for the file system.
                suffix = next(filter(entry.filename.endswith, warc.SUFFIXES))
                unpacked = Path(folder) / f"unpacked{suffix}"
                problem = self._unpack(file, entry, unpacked)
                if problem:
                    yield BadRow(entry.filename, problem)
                else:
                    yield from self._items(unpacked, entry.filename, bytes_before)
                unpacked.unlink(missing_ok=True)
                bytes_before += entry.file_size
                self._done = bytes_before
        yield from (BadRow(name, "file is missing") for name in self._missing_files())

    def _unpack(self, file: ZipFile, entry: ZipInfo, target: Path) -> str:
        """Decompress a WARC file; return the problem, or an empty string."""
        declared = self._digests.get(entry.filename)
        if declared is None:
            return f"{PACKAGE} does not list it; it was skipped"
        algorithm, _, digest = declared.partition(":")
        if algorithm not in HASHES:
            return f"its digest {declared[:80]!r} has an unknown algorithm; it was skipped"
        hasher = hashlib.new(algorithm, usedforsecurity=False)
        try:
            with _zip_errors(), file.open(entry) as packed, target.open("wb") as unpacked:
                while chunk := packed.read(CHUNK_BYTES):
                    hasher.update(chunk)
                    unpacked.write(chunk)
        except BadZipFile as error:
            return f"cannot be unpacked ({error}); get the file again"
        if hasher.hexdigest() != digest.lower():
            return f"does not match the digest in {PACKAGE}; get the file again"
        return ""

    def _items(
        self, unpacked: Path, name: str, bytes_before: int
    ) -> Iterator[Observation | BadRow]:
        """Yield the observations of a WARC file."""
        reader = warc.read(unpacked, source=self.source)
        try:
            for item in reader:
                self._done = bytes_before + reader.done
                yield replace(item, place=name + item.place.removeprefix(unpacked.name))
        except BadInputError:
            yield BadRow(name, "no record can be read")
        self.notes += [f"{name}: {note}" for note in reader.notes]

    def _missing_files(self) -> list[str]:
        present = {entry.filename for entry in self._files}
        return sorted(name for name in self._digests if _is_warc(name) and name not in present)


@contextmanager
def _zip_errors() -> Iterator[None]:
    """Raise BadZipFile for any error that a damaged or hostile zip file causes in its reader.

    The system refuses a seek to an impossible offset as an invalid argument; other system errors
    concern the disk.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        raise BadZipFile("the name of an entry is not UTF-8") from error
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise BadZipFile("an offset lies outside the file") from error
    except _ZIP_ERRORS as error:
        raise BadZipFile(str(error)) from error


def _is_warc(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return len(parts) > 1 and parts[0] == ARCHIVE_FOLDER and name.endswith(warc.SUFFIXES)


def _refuse_large_directory(path: Path, file: BinaryIO) -> None:
    """Raise an error for a zip file whose directory is too large for memory."""
    end = file.seek(0, 2)
    file.seek(max(0, end - _MAX_END_BYTES))
    tail = file.read()
    end_offset = tail.rfind(_DIRECTORY_END)
    if end_offset < 0:
        raise BadInputError(f"{path} is not a zip file; get it again")
    size = int.from_bytes(tail[end_offset + 12 : end_offset + 16], "little")
    if size == _UNKNOWN_SIZE:
        size = _zip64_directory_size(file, tail[max(0, end_offset - 20) : end_offset])
    if size > DIRECTORY_BYTES:
        raise BadInputError(
            f"{path}: its directory is too long ({size:,} bytes); unpack it and import its"
            " WARC files"
        )


def _zip64_directory_size(file: BinaryIO, locator: bytes) -> int:
    """Return the size of the directory of a ZIP64 file."""
    if not locator.startswith(_ZIP64_LOCATOR) or len(locator) != struct.calcsize("<4sIQI"):
        return _UNKNOWN_SIZE
    file.seek(min(struct.unpack("<4sIQI", locator)[2], 1 << 62))
    return int.from_bytes(file.read(56)[40:48], "little")


def _refuse_unsafe_entries(path: Path, entries: Sequence[ZipInfo]) -> None:
    """Raise an error for a zip file that is built to mislead or overwhelm its reader."""
    names: set[str] = set()
    for entry in entries:
        problem = _entry_problem(entry)
        if entry.filename in names:
            problem = "occurs twice"
        if problem:
            raise BadInputError(
                f"{path}: its entry {entry.filename[:200]!r} {problem}; it is refused"
            )
        names.add(entry.filename)
    for first, second in pairwise(sorted(entries, key=lambda entry: entry.header_offset)):
        if first.header_offset + LOCAL_HEADER_BYTES + first.compress_size > second.header_offset:
            raise BadInputError(f"{path}: its entries overlap; it is refused")


def _entry_problem(entry: ZipInfo) -> str:
    """Return the problem of a zip entry, or an empty string."""
    name = entry.filename
    parts = PurePosixPath(name).parts
    if not name.isprintable() or "\\" in name or name.startswith("/") or ".." in parts:
        return "has a path outside the archive"
    if entry.flag_bits & ENCRYPTED:
        return "is encrypted"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "is a link"
    if entry.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
        return "has an unknown compression"
    if entry.file_size > max(ALWAYS_ALLOWED_BYTES, MAX_COMPRESSION_RATIO * entry.compress_size):
        return f"unpacks from {entry.compress_size:,} to {entry.file_size:,} bytes"
    return ""


def _declared_digests(path: Path, file: ZipFile) -> Mapping[str, str]:
    """Return the digest that the package declares for each of its files."""
    content = _read_small_entry(path, file, PACKAGE)
    if content is None:
        raise BadInputError(
            f"{path}: {PACKAGE} is missing, so it is not a WACZ file; import WARC files with"
            " 'freshet import warc'"
        )
    _verify_package(path, file, content)
    package = _parse_json_object(path, PACKAGE, content)
    resources = package.get("resources")
    if not isinstance(resources, list):
        raise BadInputError(f"{path}: {PACKAGE} lists no files; get the file again")
    listed = [item for item in resources if isinstance(item, dict)]
    return {str(item.get("path", "")): str(item.get("hash", "")) for item in listed}


def _verify_package(path: Path, file: ZipFile, content: bytes) -> None:
    """Compare the list of files with its own digest, if there is one."""
    declared = _read_small_entry(path, file, PACKAGE_DIGEST)
    if declared is None:
        return
    digest = _parse_json_object(path, PACKAGE_DIGEST, declared).get("hash")
    if digest != f"sha256:{hashlib.sha256(content).hexdigest()}":
        raise BadInputError(
            f"{path}: {PACKAGE} does not match the digest in {PACKAGE_DIGEST}; get the file again"
        )


def _read_small_entry(path: Path, file: ZipFile, name: str) -> bytes | None:
    """Return the content of an entry that must fit into memory; None if it does not exist."""
    if name not in file.namelist():
        return None
    if file.getinfo(name).file_size > PACKAGE_BYTES:
        raise BadInputError(
            f"{path}: {name} has more than {PACKAGE_BYTES:,} bytes; unpack the file and import its"
            " WARC files"
        )
    return file.read(name)


def _parse_json_object(path: Path, name: str, content: bytes) -> dict[str, object]:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"{path}: {name} cannot be read as JSON; get the file again") from error
    if not isinstance(document, dict):
        raise BadInputError(f"{path}: {name} is not a JSON object; get the file again")
    return document
