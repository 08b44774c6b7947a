"""Web archives in one file (WACZ 1.1.1): the WARC files, their index and the list of pages, zipped.

WARC files and the compressed index are stored without further compression, so that a reader can go
straight to a record. Everything is streamed; only the index of the index is held in memory.
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
from typing import BinaryIO, Protocol
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from freshet.archive.exporters.cdxj import index_line, is_indexed
from freshet.archive.spill import sort_lines
from freshet.archive.warc.build import replace_block
from freshet.archive.warc.http_message import split_http
from freshet.archive.warc.located_record import LocatedRecord, gzip_member_of
from freshet.archive.warc.read import closed_name, read_records
from freshet.archive.warc.record import encode_record
from freshet.core.partial_files import atomic_output
from freshet.core.redaction import redact_headers
from freshet.core.types import RecordLocation

WACZ_VERSION = "1.1.1"
INDEX, INDEX_OF_INDEX = "indexes/index.cdx.gz", "indexes/index.idx"
PAGES = "pages/pages.jsonl"
PACKAGE, PACKAGE_DIGEST = "datapackage.json", "datapackage-digest.json"
LINES_PER_BLOCK = 300
FILE_MODE = 0o644 << 16


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page for the list of pages: where its newest capture is found, and its title."""

    id: str
    url: str
    ts: str
    title: str


@dataclass(frozen=True, slots=True)
class WaczPackage:
    """What goes into a WACZ file.

    ``captures`` are the records of each visit, the visit's own first, in the order of the files.
    """

    title: str
    software: str
    created: datetime
    captures: Iterable[Sequence[LocatedRecord]]
    pages: Iterable[ListedPage]


class _Writable(Protocol):
    def write(self, data: bytes, /) -> int: ...


class _WaczEntry:
    """A file inside the zip, hashed while it is written."""

    def __init__(self, file: _Writable) -> None:
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
        """Return the digest as WACZ writes it."""
        return f"sha256:{self._sha256.hexdigest()}"


class _WaczWriter:
    """The zip file under way, and what it holds so far."""

    def __init__(self, file: ZipFile, created: datetime) -> None:
        self._file = file
        self._created = created
        self.resources: list[dict[str, str | int]] = []

    @contextmanager
    def entry(self, path: str, *, packed: bool = False) -> Iterator[_WaczEntry]:
        """Give a file to write; it is listed with its digest once it is whole."""
        info = ZipInfo(path, self._created.timetuple()[:6])
        info.compress_type = ZIP_DEFLATED if packed else ZIP_STORED
        info.external_attr = FILE_MODE
        with self._file.open(info, "w", force_zip64=True) as file:
            entry = _WaczEntry(file)
            yield entry
        name = path.rpartition("/")[2].lower()
        self.resources.append({"name": name, "path": path, "hash": entry.hash, "bytes": entry.size})


def write(path: Path, package: WaczPackage) -> int:
    """Write a WACZ file, and return how many lines its index has."""
    with atomic_output(path) as part, ZipFile(part, "w") as file:
        archive = _WaczWriter(file, package.created)
        lines = sort_lines(_write_archives(archive, package.captures))
        # The first line comes once all are sorted: every WARC file is written by then.
        count = _write_index(archive, chain(list(islice(lines, 1)), lines))
        with archive.entry(PAGES, packed=True) as pages:
            for text in _page_lines(package.pages):
                pages.write(text)
        _write_package(archive, package)
    return count


def _write_archives(
    archive: _WaczWriter, captures: Iterable[Sequence[LocatedRecord]]
) -> Iterator[bytes]:
    """Write a WARC file for each of the collection that is needed; yield the index lines."""
    for path, visits in groupby(captures, key=lambda capture: capture[0].path):
        name = closed_name(path)
        with path.open("rb") as file, archive.entry(f"archive/{name}") as entry:
            found = chain(_opening(path), chain.from_iterable(visits))
            yield from _write_records(name, entry, ((item, _member(item, file)) for item in found))


def _write_records(
    name: str, entry: _WaczEntry, members: Iterable[tuple[LocatedRecord, bytes]]
) -> Iterator[bytes]:
    for found, content in members:
        place = RecordLocation(name, entry.size, len(content))
        entry.write(content)
        if is_indexed(found.record):
            yield index_line(found.record, place).encode()


def _opening(path: Path) -> Iterator[LocatedRecord]:
    """Yield the record that describes a file."""
    first = next(iter(read_records(path)), None)
    if isinstance(first, LocatedRecord) and first.record.type == "warcinfo":
        yield first


def _member(found: LocatedRecord, file: BinaryIO) -> bytes:
    """Return a record as one gzip member, a request without its secrets."""
    if found.record.type != "request" or found.is_partial:
        return gzip_member_of(found, file)
    head, body = split_http(found.record.block)
    blanked = redact_headers(head)
    if blanked == head:
        return gzip_member_of(found, file)
    return encode_record(replace_block(found.record, blanked + body))


def _write_index(archive: _WaczWriter, lines: Iterator[bytes]) -> int:
    """Write the sorted lines in compressed blocks, and where each block begins."""
    count = 0
    blocks = [_index_line("!meta 0", {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"})]
    with archive.entry(INDEX) as entry:
        while batch := list(islice(lines, LINES_PER_BLOCK)):
            packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
            block = packer.compress(b"".join(text + b"\n" for text in batch)) + packer.flush()
            key = batch[0].decode().partition(" {")[0]
            digest = f"sha256:{hashlib.sha256(block).hexdigest()}"
            place = {"offset": entry.size, "length": len(block), "digest": digest}
            blocks.append(_index_line(key, place))
            entry.write(block)
            count += len(batch)
    with archive.entry(INDEX_OF_INDEX, packed=True) as entry:
        entry.write("".join(blocks).encode())
    return count


def _index_line(key: str, fields: Mapping[str, object]) -> str:
    return f"{key} {json.dumps(fields)}\n"


def _page_lines(pages: Iterable[ListedPage]) -> Iterator[bytes]:
    yield b'{"format": "json-pages-1.0", "id": "pages", "title": "All pages"}\n'
    for page in pages:
        known = {name: value for name, value in asdict(page).items() if value}
        yield json.dumps(known).encode() + b"\n"


def _write_package(archive: _WaczWriter, package: WaczPackage) -> None:
    """Write what the file holds with the digest of each part, then the digest of that."""
    facts = {
        "profile": "data-package",
        "wacz_version": WACZ_VERSION,
        "title": package.title,
        "software": package.software,
        "created": f"{package.created:%Y-%m-%dT%H:%M:%SZ}",
        "resources": list(archive.resources),
    }
    with archive.entry(PACKAGE, packed=True) as entry:
        entry.write(json.dumps(facts, indent=2).encode())
    digest = {"path": PACKAGE, "hash": entry.hash}
    with archive.entry(PACKAGE_DIGEST, packed=True) as entry:
        entry.write(json.dumps(digest, indent=2).encode())
