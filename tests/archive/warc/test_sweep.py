"""No cut and no altered byte passes unseen, wherever it falls; recovery keeps whole records."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.archive.warc.build import build_resource
from freshet.archive.warc.check import check_file
from freshet.archive.warc.located_record import LocatedRecord
from freshet.archive.warc.read import read_records
from freshet.archive.warc.recover import RecoveredFile, recover_open_files
from freshet.archive.warc.writer import WarcWriter
from tests.archive.warc.warc_samples import CLOCK, NOW, ORIGIN, URL, small_file


def test_a_cut_at_any_offset_is_found(tmp_path: Path) -> None:
    path = small_file(tmp_path)
    whole = path.read_bytes()
    boundaries = {found.offset for found in read_records(path)} | {len(whole)}
    cut = tmp_path / "cut.warc.gz"
    for end in range(1, len(whole) + 1):
        cut.write_bytes(whole[:end])
        assert bool(list(check_file(cut))) == (end not in boundaries), end


@pytest.mark.parametrize("mask", [0x01, 0xFF])
def test_an_altered_byte_anywhere_is_found(tmp_path: Path, mask: int) -> None:
    path = small_file(tmp_path)
    whole = path.read_bytes()
    altered = tmp_path / "altered.warc.gz"
    for place in range(len(whole)):
        altered.write_bytes(whole[:place] + bytes([whole[place] ^ mask]) + whole[place + 1 :])
        assert list(check_file(altered)), place


@pytest.mark.parametrize("mask", [0x02, 0x04, 0x08, 0x80])
def test_an_altered_bit_is_found_or_stands_for_nothing(tmp_path: Path, mask: int) -> None:
    path = small_file(tmp_path)
    whole = path.read_bytes()
    before = [found.record for found in read_records(path)]
    altered = tmp_path / "altered.warc.gz"
    for place in range(len(whole)):
        altered.write_bytes(whole[:place] + bytes([whole[place] ^ mask]) + whole[place + 1 :])
        assert (
            list(check_file(altered)) or [found.record for found in read_records(altered)] == before
        )


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_an_altered_byte_costs_one_record_at_most(tmp_path: Path, mask: int) -> None:
    path = small_file(tmp_path, (b"one", b"two", b"three"))
    whole = path.read_bytes()
    altered = tmp_path / "altered.warc.gz"
    for place in range(0, len(whole), 7):
        altered.write_bytes(whole[:place] + bytes([whole[place] ^ mask]) + whole[place + 1 :])
        kept = [found for found in read_records(altered) if isinstance(found, LocatedRecord)]
        assert len(kept) >= 3, place


def leave_open(folder: Path, bodies: list[bytes]) -> tuple[Path, list[int]]:
    """Write a file as a killed process leaves it, and return where its records end."""
    writer = WarcWriter(folder, ORIGIN, clock=CLOCK)
    places = [
        p for body in bodies for p in writer.append([build_resource(URL, NOW, body, "text/plain")])
    ]
    content = (folder / f"{places[0].file}.open").read_bytes()
    writer.close()
    path = folder / places[0].file
    path.unlink()
    left = folder / f"{path.name}.open"
    left.write_bytes(content)
    return left, [places[0].offset, *(place.offset + place.length for place in places)]


@settings(max_examples=60, deadline=None)
@given(
    bodies=st.lists(st.binary(max_size=40), min_size=1, max_size=4),
    share=st.floats(0, 1),
    garbage=st.binary(max_size=30),
)
def test_recovery_keeps_every_whole_record(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[bytes], share: float, garbage: bytes
) -> None:
    folder = tmp_path_factory.mktemp("archive")
    left, ends = leave_open(folder, bodies)
    cut = int(share * left.stat().st_size)
    torn = left.read_bytes()[:cut] + garbage
    left.write_bytes(torn)
    [done] = recover_open_files(folder)
    whole = max((end for end in ends if end <= cut), default=0)
    assert done.length == whole
    path = folder / done.file
    assert path.exists() == (whole > 0)
    kept = path.read_bytes() if whole else b""
    tail = (folder / done.cut_file).read_bytes() if done.cut_file else b""
    assert kept + tail == torn
    assert not whole or list(check_file(path)) == []


def test_recovery_begins_where_records_are_known_to_be_whole(tmp_path: Path) -> None:
    left, ends = leave_open(tmp_path, [b"one", b"two"])
    left.write_bytes(left.read_bytes() + b"tail")
    name = left.name.removesuffix(".open")
    assert recover_open_files(tmp_path, whole_until={name: ends[1]}) == [
        RecoveredFile(name, ends[-1], 4, f"{name}.cut-{ends[-1]}")
    ]


def test_a_known_place_beyond_the_file_is_not_believed(tmp_path: Path) -> None:
    left, ends = leave_open(tmp_path, [b"one"])
    [done] = recover_open_files(tmp_path, whole_until={left.name.removesuffix(".open"): 1_000_000})
    assert done.length == ends[-1]


def test_recovery_never_moves_a_whole_record_that_follows_damage(tmp_path: Path) -> None:
    left, ends = leave_open(tmp_path, [b"one", b"two", b"three"])
    content = bytearray(left.read_bytes())
    content[ends[1] + 20] ^= 0xFF
    left.write_bytes(content)
    [done] = recover_open_files(tmp_path)
    assert done == RecoveredFile(done.file, ends[-1])


def test_a_folder_without_open_files_needs_no_recovery(tmp_path: Path) -> None:
    small_file(tmp_path)
    assert recover_open_files(tmp_path) == []
