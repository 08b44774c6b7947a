"""Export a web archive as one WACZ 1.1.1 file: WARC files, their index and a page list.

WARC files and the compressed index are stored without further compression, so that a reader can
seek to a record. Everything is streamed; only the secondary index is held in memory.
"""

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import chain, groupby, islice
from pathlib import Path
from typing import IO, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from freshet.archive.disk_index import sort_lines
from freshet.archive.exporters.cdxj import index_line, is_indexed
from freshet.archive.warc.build import replace_block
from freshet.archive.warc.http_message import split_http
from freshet.archive.warc.located_record import LocatedRecord, gzip_member_of
from freshet.archive.warc.read import closed_name, read_records
from freshet.archive.warc.record import WarcRecord, encode_record
from freshet.core.files import atomic_output
from freshet.core.redaction import redact_headers
from freshet.core.types import RecordLocation

WACZ_VERSION = "1.1.1"
INDEX, SECONDARY_INDEX = "indexes/index.cdx.gz", "indexes/index.idx"
PAGES = "pages/pages.jsonl"
PACKAGE, PACKAGE_DIGEST = "datapackage.json", "datapackage-digest.json"
LINES_PER_BLOCK = 300
FILE_MODE = 0o644 << 16


@dataclass(frozen=True, slots=True)
class ListedPage:
    """An entry of the page list: the page's newest capture and its title."""

    id: str
    url: str
    ts: str
    title: str


@dataclass(frozen=True, slots=True)
class WaczPackage:
    """Contents of a WACZ file.

    ``captures`` has the records of each visit, the visit's own record first, in the order of the
    files.
    """

    title: str
    software: str
    created: datetime
    captures: Iterable[Sequence[LocatedRecord]]
    pages: Iterable[ListedPage]


class _WaczEntry:
    """A file inside the zip that is hashed while it is written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._sha256 = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._file.write(data)
        self._sha256.update(data)
        self.size += len(data)

    @property
    def hash(self) -> str:
        """Return the digest in the notation of WACZ."""
        return f"sha256:{self._sha256.hexdigest()}"


class _WaczWriter:
    """The zip file and the list of its entries so far."""

    def __init__(self, file: ZipFile, created: datetime) -> None:
        self._file = file
        self._created = created
        self.resources: list[dict[str, str | int]] = []

    @contextmanager
    def entry(self, path: str, *, compressed: bool = False) -> Iterator[_WaczEntry]:
        """Open an entry for writing; list it with its digest when it is complete."""
        info = ZipInfo(path, self._created.timetuple()[:6])
        info.compress_type = ZIP_DEFLATED if compressed else ZIP_STORED
        info.external_attr = FILE_MODE
        with self._file.open(info, "w", force_zip64=True) as file:
            entry = _WaczEntry(file)
            yield entry
        name = path.rpartition("/")[2].lower()
        self.resources.append({"name": name, "path": path, "hash": entry.hash, "bytes": entry.size})


def write(path: Path, package: WaczPackage) -> int:
    """Write a WACZ file; return the number of index lines."""
    with atomic_output(path) as partial_path, ZipFile(partial_path, "w") as file:
        wacz = _WaczWriter(file, package.created)
        written = _write_archives(wacz, package.captures)
        indexed = ((record, location) for record, location in written if is_indexed(record))
        lines = sort_lines(index_line(*item).encode() for item in indexed)
        # The first line exists only after all WARC files are written and all lines are sorted.
        count = _write_index(wacz, chain(list(islice(lines, 1)), lines))
        with wacz.entry(PAGES, compressed=True) as page_list:
            for text in _page_lines(package.pages):
                page_list.write(text)
        _write_package(wacz, package)
    return count


def _write_archives(
    wacz: _WaczWriter, captures: Iterable[Sequence[LocatedRecord]]
) -> Iterator[tuple[WarcRecord, RecordLocation]]:
    """Write a WARC file for each one with selected captures; yield all records written."""
    for path, visits in groupby(captures, key=lambda capture: capture[0].path):
        name = closed_name(path)
        with path.open("rb") as file, wacz.entry(f"archive/{name}") as entry:
            for located in chain(_warcinfo_record(path), chain.from_iterable(visits)):
                content = _redacted_member(located, file)
                location = RecordLocation(name, entry.size, len(content))
                entry.write(content)
                yield located.record, location


def _warcinfo_record(path: Path) -> Iterator[LocatedRecord]:
    """Yield the warcinfo record of a file."""
    first_item = next(iter(read_records(path)), None)
    if isinstance(first_item, LocatedRecord) and first_item.record.type == "warcinfo":
        yield first_item


def _redacted_member(located: LocatedRecord, file: BinaryIO) -> bytes:
    """Return a record as one gzip member; secrets are removed from a request."""
    if located.record.type != "request" or located.is_partial:
        return gzip_member_of(located, file)
    head, body = split_http(located.record.block)
    redacted_head = redact_headers(head)
    if redacted_head == head:
        return gzip_member_of(located, file)
    return encode_record(replace_block(located.record, redacted_head + body))


def _write_index(wacz: _WaczWriter, lines: Iterator[bytes]) -> int:
    """Write the sorted lines in compressed blocks, then a secondary index of the blocks."""
    count = 0
    blocks = [_index_line("!meta 0", {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"})]
    with wacz.entry(INDEX) as entry:
        while batch := list(islice(lines, LINES_PER_BLOCK)):
            compressor = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
            content = b"".join(text + b"\n" for text in batch)
            block = compressor.compress(content) + compressor.flush()
            key = batch[0].decode().partition(" {")[0]
            digest = f"sha256:{hashlib.sha256(block).hexdigest()}"
            block_location = {"offset": entry.size, "length": len(block), "digest": digest}
            blocks.append(_index_line(key, block_location))
            entry.write(block)
            count += len(batch)
    with wacz.entry(SECONDARY_INDEX, compressed=True) as entry:
        entry.write("".join(blocks).encode())
    return count


def _index_line(key: str, fields: Mapping[str, object]) -> str:
    return f"{key} {json.dumps(fields)}\n"


def _page_lines(pages: Iterable[ListedPage]) -> Iterator[bytes]:
    yield b'{"format": "json-pages-1.0", "id": "pages", "title": "All pages"}\n'
    for page in pages:
        known_fields = {name: value for name, value in asdict(page).items() if value}
        yield json.dumps(known_fields).encode() + b"\n"


def _write_package(wacz: _WaczWriter, package: WaczPackage) -> None:
    """Write the list of all files with their digests, then the digest of that list."""
    description = {
        "profile": "data-package",
        "wacz_version": WACZ_VERSION,
        "title": package.title,
        "software": package.software,
        "created": f"{package.created:%Y-%m-%dT%H:%M:%SZ}",
        "resources": list(wacz.resources),
    }
    with wacz.entry(PACKAGE, compressed=True) as entry:
        entry.write(json.dumps(description, indent=2).encode())
    digest = {"path": PACKAGE, "hash": entry.hash}
    with wacz.entry(PACKAGE_DIGEST, compressed=True) as entry:
        entry.write(json.dumps(digest, indent=2).encode())
