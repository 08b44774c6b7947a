"""The lines of a text file, unpacked when it is gzip, in flat memory."""

import gzip
import zlib
from collections.abc import Iterator
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import IO, BinaryIO, cast

from freshet.core.errors import BadInputError

MAX_LINE_CHARS = 16_000_000
GZIP_MAGIC = b"\x1f\x8b"


class LineReader:
    """The lines of a UTF-8 file; what is not UTF-8 arrives as lone surrogates.

    ``position`` is how many bytes of the file were read, of ``size`` in all.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.open("rb").close()
        except OSError as error:
            raise BadInputError(
                f"{path}: cannot be opened ({error.strerror}); check the path"
            ) from error
        self.size = path.stat().st_size
        self._file: IO[bytes] | None = None

    @property
    def position(self) -> int:
        """Return how many bytes of the file were read."""
        if self._file is None:
            return 0
        return self.size if self._file.closed else self._file.tell()

    def __iter__(self) -> Iterator[str]:
        try:
            with self.path.open("rb") as self._file, _unpacked(self._file) as unpacked:
                text = TextIOWrapper(unpacked, "utf-8-sig", "surrogateescape", newline="")
                yield from iter(partial(text.readline, MAX_LINE_CHARS), "")
        except (EOFError, zlib.error, OSError) as error:
            raise BadInputError(
                f"{self.path}: cannot be read to its end ({error}); what came before was taken in,"
                " get a whole copy and import it again"
            ) from error


def _unpacked(file: IO[bytes]) -> BinaryIO:
    """Return the file itself, or what it unpacks to when it is gzip."""
    packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    file.seek(0)
    return cast("BinaryIO", gzip.GzipFile(fileobj=file) if packed else file)
