"""Read the lines of a text file, plain or gzip, in bounded memory."""

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
    """Reads the lines of a UTF-8 file; invalid bytes become lone surrogates.

    ``position`` is the number of bytes read, of ``size`` in total.
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
        """Return the number of bytes read of the file."""
        if self._file is None:
            return 0
        return self.size if self._file.closed else self._file.tell()

    def __iter__(self) -> Iterator[str]:
        try:
            with self.path.open("rb") as self._file, _open_decompressed(self._file) as decompressed:
                text = TextIOWrapper(decompressed, "utf-8-sig", "surrogateescape", newline="")
                yield from iter(partial(text.readline, MAX_LINE_CHARS), "")
        except (EOFError, zlib.error, OSError) as error:
            raise BadInputError(
                f"{self.path}: is damaged or incomplete ({error}); everything before that was"
                " imported; get a complete copy and import it again"
            ) from error


def _open_decompressed(file: IO[bytes]) -> BinaryIO:
    """Return the file, or its decompressed content if it is gzip."""
    is_gzip = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    file.seek(0)
    return cast("BinaryIO", gzip.GzipFile(fileobj=file) if is_gzip else file)
