"""Cache on disk of the results of finished batches, so that interrupted work can continue.

A result is identified by the name of the computation, which includes its version, and the content
of its batch. It is a file of plain arrays; a file that cannot be read counts as missing.
"""

import os
import zlib
from collections.abc import Collection, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from freshet.core.errors import NoSpaceError
from freshet.core.files import make_private_folder, open_private

Columns = Mapping[str, NDArray[Any]]
"""A batch or a result: columns by name, of numbers, booleans or texts, never of objects."""

SUFFIX = ".npz"
DIGEST_BYTES = 16


class ResultCache:
    """The cached results of one computation, in a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name

    def path(self, batch: Columns) -> Path:
        """Return the path of the file with the result of a batch."""
        return self.folder / f"{batch_digest(self.name, batch)}{SUFFIX}"

    def get(self, batch: Columns) -> Columns | None:
        """Return the cached result of a batch, or None."""
        return read_result(self.path(batch))

    def put(self, batch: Columns, result: Columns) -> None:
        """Write the result of a batch; the file appears only when it is complete."""
        path = self.path(batch)
        part_file = path.with_suffix(f".begun-{os.getpid()}")
        try:
            make_private_folder(self.folder)
            with open(part_file, "wb", opener=open_private) as file:
                np.savez_compressed(file, allow_pickle=False, **result)
            part_file.replace(path)
        except OSError as error:
            part_file.unlink(missing_ok=True)
            raise NoSpaceError(
                f"{path} cannot be written: {error.strerror}; free some disk space,"
                " or give another folder for the work"
            ) from error

    def clear(self, needed: Collection[Path] = ()) -> None:
        """Delete all results in the folder, except the files that are still needed."""
        for path in self.folder.glob(f"*{SUFFIX}"):
            if path not in needed:
                path.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


def read_result(path: Path) -> Columns | None:
    """Return the result in a file; None where it is missing or cannot be read."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error):
        return None


def batch_digest(name: str, batch: Columns) -> str:
    """Return a digest of a computation's name and a batch.

    >>> batch = {"page": np.array([1])}
    >>> batch_digest("count 1", batch) == batch_digest("count 1", {"page": np.array([1])})
    True
    >>> batch_digest("count 1", batch) == batch_digest("x", batch)
    False
    """
    hasher = blake2b(name.encode(), digest_size=DIGEST_BYTES)
    for column, values in sorted(batch.items()):
        if values.dtype.hasobject:
            raise TypeError(f"column {column!r} holds objects; batches are columns of plain values")
        hasher.update(f"{column} {values.dtype.str} {values.shape}".encode())
        hasher.update(np.ascontiguousarray(values).tobytes())
    return hasher.hexdigest()
