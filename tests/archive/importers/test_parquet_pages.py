"""Parquet files are read in slices of bounded size, whatever their metadata claim."""

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from freshet.archive.importers import parquet, parquet_pages
from freshet.archive.importers.parquet_pages import row_slices
from freshet.archive.importers.thrift import ThriftReader
from freshet.archive.observation import Observation
from freshet.core.errors import BadInputError
from freshet.core.types import BadRow

COLUMNS = ("source", "page", "time", "html", "kind", "commit")


def versions(path: Path, bodies: list[bytes], **options) -> Path:
    number = len(bodies)
    same = {"source": "s", "time": datetime(2024, 1, 1, tzinfo=UTC), "kind": "html", "commit": "c"}
    table = {name: [value] * number for name, value in same.items()}
    pages = [f"https://a.org/{index}" for index in range(number)]
    pl.DataFrame({**table, "page": pages, "html": bodies}).write_parquet(path, **options)
    return path


def test_slices_cover_every_row_once_and_in_order(tmp_path: Path) -> None:
    path = versions(tmp_path / "v.parquet", [b"%d" % n for n in range(1000)], row_group_size=300)
    slices = list(row_slices(path, COLUMNS, max_rows=128))
    assert [piece.start for piece in slices] == [0, 128, 256, 300, 428, 556, 600, 728, 856, 900]
    assert sum(piece.rows for piece in slices) == 1000


def test_a_slice_ends_where_its_pages_would_unpack_to_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = [b"%05d" % n * 2_000 for n in range(1_000)]
    path = versions(tmp_path / "v.parquet", bodies, data_page_size=100_000)
    monkeypatch.setattr(parquet_pages, "SLICE_BYTES", 1_000_000)
    slices = list(row_slices(path, COLUMNS, max_rows=100_000))
    assert len(slices) > 5
    assert max(piece.rows for piece in slices) <= 101
    assert [item.snapshot.body for item in parquet.read(path)] == bodies


def test_a_page_that_would_unpack_to_too_much_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = versions(tmp_path / "v.parquet", [bytes(20_000_000)], compression="zstd")
    assert path.stat().st_size < 5_000
    monkeypatch.setattr(parquet_pages, "MAX_PAGE_BYTES", 10_000_000)
    (bad,) = parquet.read(path)
    assert isinstance(bad, BadRow)
    assert bad.place == "v.parquet, row 1"
    assert "its page of the file unpacks to 20,000,0" in bad.why


def test_rows_beside_an_oversized_value_are_imported(tmp_path: Path) -> None:
    path = versions(tmp_path / "v.parquet", [b"<p>one", bytes(64_000_001), b"<p>two"])
    first_row, bad, last_row = parquet.read(path)
    assert isinstance(first_row, Observation)
    assert isinstance(last_row, Observation)
    assert bad.why == "html has 64,000,001 bytes, more than the limit of 64,000,000"


@pytest.mark.parametrize("encoded_offset", [b"\x01", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"])
def test_a_column_with_an_impossible_offset_is_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoded_offset: bytes
) -> None:
    path = versions(tmp_path / "v.parquet", [b"<p>one"])
    offset = ThriftReader(b"\x16" + encoded_offset + b"\x00").read_struct()[1]
    facts = {3: [b"page"], 7: 10, 9: offset}
    footer = {4: [{1: [{3: facts}], 3: 1}]}
    monkeypatch.setattr(parquet_pages, "_footer", lambda *_: footer)
    table = parquet.ParquetTable(path, [pl.col("page")], 1, parquet.parse_version)
    with pytest.raises(BadInputError, match="is not readable as Parquet"):
        list(parquet.plan_slices(table))


def test_a_file_that_claims_more_rows_than_its_pages_hold_is_bad_input(tmp_path: Path) -> None:
    path = versions(tmp_path / "v.parquet", [b"<p>one"] * 4)
    table = parquet.ParquetTable(path, [pl.col("page")], 4, parquet.parse_version)
    assert len(list(parquet.plan_slices(table))) == 1
    content = path.read_bytes()
    page_header = content.index(b"\x15\x08", 4)
    path.write_bytes(content[:page_header] + b"\x15\x06" + content[page_header + 2 :])
    with pytest.raises(BadInputError, match="is not readable as Parquet"):
        list(parquet.read(path))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x1c" * 100,
        b"\x19\xfc\xff\xff\xff\xff\x0f",
        b"\x18\xff\xff\xff\x0f",
        b"\x16" + b"\xff" * 12,
    ],
)
def test_bytes_that_are_no_struct_are_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"cut short|nested|more than"):
        ThriftReader(data).read_struct()
