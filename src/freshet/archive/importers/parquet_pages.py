"""How large the pages of a Parquet file are once unpacked, told before anything is unpacked.

A page is what a column is packed in: reading one value unpacks its whole page. So a file is read in
slices of rows that share few enough bytes, and rows of a page that is too large are left out.
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

# Numbers of the fields in Parquet's own definition (parquet.thrift).
_ROW_GROUPS = 4
_GROUP_COLUMNS, _GROUP_ROWS = 1, 3
_COLUMN_FACTS = 3
_PATH, _PACKED_SIZE, _DATA_OFFSET, _DICTIONARY_OFFSET = 3, 7, 9, 11
_UNPACKED, _PACKED, _DATA_HEADER, _DATA_HEADER_2 = 2, 3, 5, 8
_VALUES = 1


@dataclass(frozen=True, slots=True)
class RowSlice:
    """Some rows of a file; ``page_bytes`` bounds the unpacked size of any one of them."""

    start: int
    rows: int
    page_bytes: int

    @property
    def fault(self) -> str:
        """Return why the rows cannot be read; empty where they can."""
        if self.page_bytes <= MAX_PAGE_BYTES:
            return ""
        size = f"unpacks to {self.page_bytes:,} bytes, more than the {MAX_PAGE_BYTES:,} taken"
        return f"its page of the file {size}; write the file with smaller pages"


@dataclass(frozen=True, slots=True)
class ColumnPages:
    """The pages of a column in one row group, unpacked.

    ``row_ends`` and ``byte_ends`` say for each page at which row and at which byte it ends;
    ``dictionary_bytes`` is the size of the page of values that the others share.
    """

    row_ends: Sequence[int]
    byte_ends: Sequence[int]
    dictionary_bytes: int

    def slice_end(self, start: int) -> int:
        """Return up to which row pages can be read together, at least to the end of one."""
        first = bisect_right(self.row_ends, start)
        begin = self.byte_ends[first - 1] if first else 0
        beyond = bisect_right(self.byte_ends, begin + SLICE_BYTES)
        return self.row_ends[max(first, beyond - 1)]

    def page_bytes_at(self, row: int) -> int:
        """Return the unpacked size of what reading a row takes."""
        page = bisect_right(self.row_ends, row)
        begin = self.byte_ends[page - 1] if page else 0
        return max(self.dictionary_bytes, self.byte_ends[page] - begin)


def row_slices(path: Path, columns: Sequence[str], *, max_rows: int) -> Iterator[RowSlice]:
    """Yield the slices in which a file's rows can be read in bounded memory, in order.

    ValueError says that the file's own description of itself makes no sense.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        groups = _footer(file, size).get(_ROW_GROUPS, [])
        if sum(group[_GROUP_ROWS] for group in groups) > size * ROWS_PER_BYTE:
            raise ValueError(f"it claims more than {ROWS_PER_BYTE} rows for each of its bytes")
        first = 0
        for group in groups:
            rows = group[_GROUP_ROWS]
            pages = [_column_pages(file, group, name) for name in columns]
            start = 0
            while start < rows:
                end = min(start + max_rows, *(column.slice_end(start) for column in pages))
                page_bytes = sum(column.page_bytes_at(start) for column in pages)
                yield RowSlice(first + start, end - start, page_bytes)
                start = end
            first += rows


def _footer(file: BinaryIO, size: int) -> ThriftStruct:
    """Return the description at the end of a file."""
    file.seek(max(0, size - _TAIL_BYTES))
    tail = file.read(_TAIL_BYTES)
    length = int.from_bytes(tail[:4], "little")
    if len(tail) < _TAIL_BYTES or tail[4:] != MAGIC or length > size - _TAIL_BYTES:
        raise ValueError("it does not end as a Parquet file does")
    if length > MAX_FOOTER_BYTES:
        raise ValueError(f"its description of itself has {length:,} bytes")
    file.seek(size - _TAIL_BYTES - length)
    return ThriftReader(file.read(length)).read_struct()


def _column_pages(file: BinaryIO, group: ThriftStruct, name: str) -> ColumnPages:
    """Return the pages of a column, whose headers stand before each of them."""
    facts = _facts(group, name)
    at: int = facts.get(_DICTIONARY_OFFSET) or facts[_DATA_OFFSET]
    end = at + facts[_PACKED_SIZE]
    rows, sizes, shared = [], [], 0
    while at < end:
        header, length = _page_header(file, at)
        data = header.get(_DATA_HEADER) or header.get(_DATA_HEADER_2) or {}
        unpacked = _not_negative(header[_UNPACKED])
        if _not_negative(data.get(_VALUES, 0)):
            rows.append(data[_VALUES])
            sizes.append(unpacked)
        else:
            shared = max(shared, unpacked)
        at += length + _not_negative(header[_PACKED])
    if sum(rows) != group[_GROUP_ROWS]:
        raise ValueError(f"the pages of its column {name} do not hold its rows")
    return ColumnPages(list(accumulate(rows)), list(accumulate(sizes)), shared)


def _facts(group: ThriftStruct, name: str) -> ThriftStruct:
    """Return what a row group says of a column that is no structure."""
    for column in group[_GROUP_COLUMNS]:
        facts: ThriftStruct = column[_COLUMN_FACTS]
        if facts[_PATH] == [name.encode()]:
            return facts
    raise ValueError(f"it has no plain column {name}")


def _page_header(file: BinaryIO, at: int) -> tuple[ThriftStruct, int]:
    """Return the header of a page, and its length, which nothing else tells."""
    size = _HEADER_BYTES
    while True:
        file.seek(at)
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
        raise ValueError(f"a page of it has {size} bytes")
    return size
