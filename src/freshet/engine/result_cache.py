"""Results of finished batches, kept on disk so that work that was stopped goes on.

A result is found again by the name of the work (which tells its version) and the content of its
batch. It lies in a file of plain arrays; one that cannot be read counts as not there.
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
"""A batch or a result: columns by name, of numbers, truths or texts, never of objects."""

SUFFIX = ".npz"
DIGEST_BYTES = 16


class ResultCache:
    """The results of one work in a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name

    def path(self, batch: Columns) -> Path:
        """Return where the result of a batch lies, or would lie."""
        return self.folder / f"{batch_digest(self.name, batch)}{SUFFIX}"

    def get(self, batch: Columns) -> Columns | None:
        """Return the result of a batch, if it was finished before."""
        return read_result(self.path(batch))

    def put(self, batch: Columns, result: Columns) -> None:
        """Keep the result of a batch: whole, or not at all."""
        path = self.path(batch)
        begun = path.with_suffix(f".begun-{os.getpid()}")
        try:
            make_private_folder(self.folder)
            with open(begun, "wb", opener=open_private) as file:
                np.savez_compressed(file, allow_pickle=False, **result)
            begun.replace(path)
        except OSError as error:
            begun.unlink(missing_ok=True)
            raise NoSpaceError(
                f"{path} cannot be written: {error.strerror}; free some disk space,"
                " or give another folder for the work"
            ) from error

    def clear(self, needed: Collection[Path] = ()) -> None:
        """Delete what the folder keeps, apart from the files that are still needed."""
        for path in self.folder.glob(f"*{SUFFIX}"):
            if path not in needed:
                path.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


def read_result(path: Path) -> Columns | None:
    """Return the result in a file; None where there is none that can be read."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            return {name: held[name] for name in held.files}
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error):
        return None


def batch_digest(name: str, batch: Columns) -> str:
    """Return what tells a batch of a work from every other.

    >>> one, two = {"page": np.array([1])}, {"page": np.array([2])}
    >>> batch_digest("count 1", one) == batch_digest("count 1", one), batch_digest("count 1", two) == batch_digest("x", two)
    (True, False)
    """
    found = blake2b(name.encode(), digest_size=DIGEST_BYTES)
    for column, values in sorted(batch.items()):
        if values.dtype.hasobject:
            raise TypeError(f"column {column!r} holds objects; batches are columns of plain values")
        found.update(f"{column} {values.dtype.str} {values.shape}".encode())
        found.update(np.ascontiguousarray(values).tobytes())
    return found.hexdigest()
