"""Every cut and every altered byte is detected at any offset; recovery keeps complete records."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.archive.warc.build import build_resource
from freshet.archive.warc.located_record import LocatedRecord
from freshet.archive.warc.read import read_records
from freshet.archive.warc.recover import RecoveredFile, recover_open_files
from freshet.archive.warc.writer import WarcWriter
from tests.archive.warc.file_check import check_file
from tests.archive.warc.warc_samples import CLOCK, NOW, ORIGIN, URL, small_file


def test_a_cut_at_any_offset_is_found(tmp_path: Path) -> None:
    path = small_file(tmp_path)
    content = path.read_bytes()
    boundaries = {located.offset for located in read_records(path)} | {len(content)}
    cut_path = tmp_path / "cut.warc.gz"
    for end in range(1, len(content) + 1):
        cut_path.write_bytes(content[:end])
        assert bool(list(check_file(cut_path))) == (end not in boundaries), end


@pytest.mark.parametrize("mask", [0x01, 0xFF])
def test_an_altered_byte_anywhere_is_found(tmp_path: Path, mask: int) -> None:
    path = small_file(tmp_path)
    content = path.read_bytes()
    altered = tmp_path / "altered.warc.gz"
    for offset in range(len(content)):
        altered.write_bytes(
            content[:offset] + bytes([content[offset] ^ mask]) + content[offset + 1 :]
        )
        assert list(check_file(altered)), offset


@pytest.mark.parametrize("mask", [0x02, 0x04, 0x08, 0x80])
def test_an_altered_bit_is_found_or_has_no_effect(tmp_path: Path, mask: int) -> None:
    path = small_file(tmp_path)
    content = path.read_bytes()
    before = [located.record for located in read_records(path)]
    altered = tmp_path / "altered.warc.gz"
    for offset in range(len(content)):
        altered.write_bytes(
            content[:offset] + bytes([content[offset] ^ mask]) + content[offset + 1 :]
        )
        assert (
            list(check_file(altered))
            or [located.record for located in read_records(altered)] == before
        )


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_an_altered_byte_costs_one_record_at_most(tmp_path: Path, mask: int) -> None:
    path = small_file(tmp_path, (b"one", b"two", b"three"))
    content = path.read_bytes()
    altered = tmp_path / "altered.warc.gz"
    for offset in range(0, len(content), 7):
        altered.write_bytes(
            content[:offset] + bytes([content[offset] ^ mask]) + content[offset + 1 :]
        )
        remaining = [
            located for located in read_records(altered) if isinstance(located, LocatedRecord)
        ]
        assert len(remaining) >= 3, offset


def leave_open(folder: Path, bodies: list[bytes]) -> tuple[Path, list[int]]:
    """Write a file as a killed process leaves it; return it with the ends of its records."""
    writer = WarcWriter(folder, ORIGIN, clock=CLOCK)
    places = [
        p for body in bodies for p in writer.append([build_resource(URL, NOW, body, "text/plain")])
    ]
    content = (folder / f"{places[0].file}.open").read_bytes()
    writer.close()
    path = folder / places[0].file
    path.unlink()
    open_path = folder / f"{path.name}.open"
    open_path.write_bytes(content)
    return open_path, [
        places[0].offset,
        *(location.offset + location.length for location in places),
    ]


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
    open_path, ends = leave_open(folder, bodies)
    cut_offset = int(share * open_path.stat().st_size)
    torn = open_path.read_bytes()[:cut_offset] + garbage
    open_path.write_bytes(torn)
    [done] = recover_open_files(folder)
    complete_end = max((end for end in ends if end <= cut_offset), default=0)
    assert done.length == complete_end
    path = folder / done.file
    assert path.exists() == (complete_end > 0)
    complete_content = path.read_bytes() if complete_end else b""
    tail = (folder / done.cut_file).read_bytes() if done.cut_file else b""
    assert complete_content + tail == torn
    assert not complete_end or list(check_file(path)) == []


def test_recovery_begins_where_records_are_known_to_be_whole(tmp_path: Path) -> None:
    open_path, ends = leave_open(tmp_path, [b"one", b"two"])
    open_path.write_bytes(open_path.read_bytes() + b"tail")
    name = open_path.name.removesuffix(".open")
    assert recover_open_files(tmp_path, whole_until={name: ends[1]}) == [
        RecoveredFile(name, ends[-1], 4, f"{name}.cut-{ends[-1]}")
    ]


def test_a_known_offset_beyond_the_file_is_ignored(tmp_path: Path) -> None:
    open_path, ends = leave_open(tmp_path, [b"one"])
    [done] = recover_open_files(
        tmp_path, whole_until={open_path.name.removesuffix(".open"): 1_000_000}
    )
    assert done.length == ends[-1]


def test_recovery_never_moves_a_whole_record_that_follows_damage(tmp_path: Path) -> None:
    open_path, ends = leave_open(tmp_path, [b"one", b"two", b"three"])
    content = bytearray(open_path.read_bytes())
    content[ends[1] + 20] ^= 0xFF
    open_path.write_bytes(content)
    [done] = recover_open_files(tmp_path)
    assert done == RecoveredFile(done.file, ends[-1])


def test_a_folder_without_open_files_needs_no_recovery(tmp_path: Path) -> None:
    small_file(tmp_path)
    assert recover_open_files(tmp_path) == []
