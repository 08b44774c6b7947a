"""The decompressed size of Parquet pages, found before anything is decompressed.

A Parquet page is the unit of compression of a column: reading one value decompresses its whole
page. A file is therefore read in row slices of bounded size, and rows of oversized pages are
refused.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from freshet.archive.importers.thrift import ThriftReader, ThriftStruct, TruncatedDataError

MAGIC = b"PAR1"
MAX_FOOTER_BYTES = 16_000_000
MAX_PAGE_BYTES = 256_000_000
SLICE_BYTES = 32_000_000
ROWS_PER_BYTE = 100

_TAIL_BYTES = 8
_HEADER_BYTES = 4_096

# Field numbers in Parquet's definition (parquet.thrift).
_ROW_GROUPS = 4
_GROUP_COLUMNS, _GROUP_ROWS = 1, 3
_COLUMN_METADATA = 3
_PATH, _PACKED_SIZE, _DATA_OFFSET, _DICTIONARY_OFFSET = 3, 7, 9, 11
_UNPACKED_SIZE, _PACKED_PAGE_SIZE, _DATA_HEADER, _DATA_HEADER_2 = 2, 3, 5, 8
_VALUE_COUNT = 1


@dataclass(frozen=True, slots=True)
class RowSlice:
    """A range of rows; ``page_bytes`` bounds the decompressed pages of one row."""

    start: int
    rows: int
    page_bytes: int

    @property
    def fault(self) -> str:
        """Return why the rows cannot be read, or an empty string."""
        if self.page_bytes <= MAX_PAGE_BYTES:
            return ""
        size = f"unpacks to {self.page_bytes:,} bytes, more than the limit of {MAX_PAGE_BYTES:,}"
        return f"its page of the file {size}; write the file with smaller pages"


@dataclass(frozen=True, slots=True)
class ColumnPages:
    """Decompressed sizes of the pages of a column in one row group.

    ``row_ends`` and ``byte_ends`` hold the row and the byte at which each page ends;
    ``dictionary_bytes`` is the size of the dictionary page that they share.
    """

    row_ends: Sequence[int]
    byte_ends: Sequence[int]
    dictionary_bytes: int

    def slice_end(self, start: int) -> int:
        """Return the row up to which pages can be read together; at least one page."""
        first_page = bisect_right(self.row_ends, start)
        first_byte = self.byte_ends[first_page - 1] if first_page else 0
        end_page = bisect_right(self.byte_ends, first_byte + SLICE_BYTES)
        return self.row_ends[max(first_page, end_page - 1)]

    def page_bytes_at(self, row: int) -> int:
        """Return the decompressed size that reading a row takes."""
        page = bisect_right(self.row_ends, row)
        first_byte = self.byte_ends[page - 1] if page else 0
        return max(self.dictionary_bytes, self.byte_ends[page] - first_byte)


def row_slices(path: Path, columns: Sequence[str], *, max_rows: int) -> Iterator[RowSlice]:
    """Yield the slices in which a file's rows can be read in bounded memory, in order.

    Raise ValueError if the file's metadata are inconsistent.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        groups = _footer(file, size).get(_ROW_GROUPS, [])
        if sum(group[_GROUP_ROWS] for group in groups) > size * ROWS_PER_BYTE:
            raise ValueError(f"it declares more than {ROWS_PER_BYTE} rows per byte")
        group_start = 0
        for group in groups:
            rows = group[_GROUP_ROWS]
            pages = [_column_pages(file, group, name) for name in columns]
            start = 0
            while start < rows:
                end = min(start + max_rows, *(column.slice_end(start) for column in pages))
                page_bytes = sum(column.page_bytes_at(start) for column in pages)
                yield RowSlice(group_start + start, end - start, page_bytes)
                start = end
            group_start += rows


def _footer(file: BinaryIO, size: int) -> ThriftStruct:
    """Return the metadata at the end of a file."""
    file.seek(max(0, size - _TAIL_BYTES))
    tail = file.read(_TAIL_BYTES)
    length = int.from_bytes(tail[:4], "little")
    if len(tail) < _TAIL_BYTES or tail[4:] != MAGIC or length > size - _TAIL_BYTES:
        raise ValueError("it has no Parquet footer")
    if length > MAX_FOOTER_BYTES:
        raise ValueError(f"its footer has {length:,} bytes")
    file.seek(size - _TAIL_BYTES - length)
    return ThriftReader(file.read(length)).read_struct()


def _column_pages(file: BinaryIO, group: ThriftStruct, name: str) -> ColumnPages:
    """Return the pages of a column, from the header before each of them."""
    metadata = _column_metadata(group, name)
    offset: int = metadata.get(_DICTIONARY_OFFSET) or metadata[_DATA_OFFSET]
    end = offset + metadata[_PACKED_SIZE]
    rows, sizes, dictionary_bytes = [], [], 0
    while offset < end:
        header, length = _page_header(file, offset)
        data = header.get(_DATA_HEADER) or header.get(_DATA_HEADER_2) or {}
        unpacked = _not_negative(header[_UNPACKED_SIZE])
        if _not_negative(data.get(_VALUE_COUNT, 0)):
            rows.append(data[_VALUE_COUNT])
            sizes.append(unpacked)
        else:
            dictionary_bytes = max(dictionary_bytes, unpacked)
        offset += length + _not_negative(header[_PACKED_PAGE_SIZE])
    if sum(rows) != group[_GROUP_ROWS]:
        raise ValueError(f"the pages of column {name} do not match the number of rows")
    return ColumnPages(list(accumulate(rows)), list(accumulate(sizes)), dictionary_bytes)


def _column_metadata(group: ThriftStruct, name: str) -> ThriftStruct:
    """Return the metadata of a flat column in a row group."""
    for column in group[_GROUP_COLUMNS]:
        metadata: ThriftStruct = column[_COLUMN_METADATA]
        if metadata[_PATH] == [name.encode()]:
            return metadata
    raise ValueError(f"it has no flat column {name}")


def _page_header(file: BinaryIO, offset: int) -> tuple[ThriftStruct, int]:
    """Return the header of a page and its length, which is stored nowhere else."""
    size = _HEADER_BYTES
    while True:
        file.seek(offset)
        data = file.read(size)
        reader = ThriftReader(data)
        try:
            return reader.read_struct(), reader.position
        except TruncatedDataError:
            if len(data) < size or size > MAX_FOOTER_BYTES:
                raise
            size *= 8


def _not_negative(size: int) -> int:
    if size < 0:
        raise ValueError(f"a page has {size} bytes")
    return size
