"""Import of WACZ files: digests are checked, and misleading zip files are refused."""

import gzip
import io
import json
import stat
import zipfile
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZipFile, ZipInfo

import pytest

from freshet.archive.importers import wacz
from freshet.archive.observation import Observation
from freshet.core.errors import BadInputError
from freshet.core.types import BadRow
from tests.archive.importers.samples import warc as warc_sample
from tests.archive.importers.samples.wacz import sample, write

NAME = "archive/a.warc.gz"
CONTENT = gzip.compress(warc_sample.WARC, mtime=0)
OTHER = gzip.compress(warc_sample.WARC.replace(b"00ff>", b"00ee>"), mtime=0)


def package(*names: str) -> str:
    return json.dumps({"resources": [{"path": name, "hash": "sha256:0"} for name in names]})


def write_zip(path: Path, *entries: tuple[ZipInfo, bytes]) -> Path:
    with ZipFile(path, "w") as file:
        for info, content in entries:
            file.writestr(info, content)
        file.writestr("datapackage.json", package(NAME))
    return path


def test_the_captures_of_all_warc_files_have_one_source(tmp_path: Path) -> None:
    path = write(tmp_path / "crawl.wacz", {NAME: CONTENT, "archive/b.warc.gz": OTHER})
    items = list(wacz.read(path))
    assert [(item.url, item.source) for item in items] == [("https://a.org/", "warc")] * 2
    assert items[0].raw_record == CONTENT


def test_files_outside_the_archive_folder_are_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "crawl.wacz", {NAME: CONTENT, "fuzzy/x.warc.gz": OTHER})
    assert len(list(wacz.read(path))) == 1


def test_a_file_with_a_wrong_digest_is_a_bad_row_and_the_others_are_imported(
    tmp_path: Path,
) -> None:
    files = {NAME: CONTENT, "archive/b.warc.gz": OTHER}
    good = f"sha256:{wacz.hashlib.sha256(OTHER).hexdigest()}"
    listed = {NAME: good, "archive/b.warc.gz": good}
    bad, observation = wacz.read(write(tmp_path / "crawl.wacz", files, listed=listed))
    assert bad == BadRow(NAME, "does not match the digest in datapackage.json; get the file again")
    assert isinstance(observation, Observation)


@pytest.mark.parametrize(
    ("listed", "place", "why"),
    [
        ({}, NAME, "does not list it"),
        ({NAME: "crc:1"}, NAME, "unknown algorithm"),
        ({NAME: ""}, NAME, "unknown algorithm"),
    ],
)
def test_a_file_without_a_declared_digest_is_a_bad_row(
    tmp_path: Path, listed: dict[str, str], place: str, why: str
) -> None:
    (bad,) = wacz.read(write(tmp_path / "crawl.wacz", {NAME: CONTENT}, listed=listed))
    assert bad.place == place
    assert why in bad.why


def test_a_listed_file_that_is_missing_is_a_bad_row(tmp_path: Path) -> None:
    digest = f"sha256:{wacz.hashlib.sha256(CONTENT).hexdigest()}"
    listed = {NAME: digest, "archive/b.warc.gz": digest}
    items = list(wacz.read(write(tmp_path / "crawl.wacz", {NAME: CONTENT}, listed=listed)))
    assert items[1:] == [BadRow("archive/b.warc.gz", "file is missing")]


def test_a_file_that_is_not_warc_is_a_bad_row(tmp_path: Path) -> None:
    items = list(wacz.read(write(tmp_path / "crawl.wacz", {NAME: b"no archive at all\n" * 9})))
    assert items[-1] == BadRow(NAME, "no record can be read")


def test_a_package_with_a_wrong_digest_is_refused(tmp_path: Path) -> None:
    path = sample(tmp_path)
    with ZipFile(path, "a") as file:
        file.writestr("datapackage-digest.json", '{"path": "datapackage.json", "hash": "sha256:0"}')
    with pytest.raises(BadInputError, match=r"datapackage.json does not match the digest"):
        wacz.read(path)


@pytest.mark.parametrize(
    "name",
    ["../a.warc.gz", "/etc/a", "archive/../../a.warc.gz", "archive\\..\\a", "archive/\x1b[2J"],
)
def test_a_path_outside_the_archive_is_refused(tmp_path: Path, name: str) -> None:
    info = ZipInfo("x")
    info.filename = name
    with pytest.raises(BadInputError, match="outside the archive"):
        wacz.read(write_zip(tmp_path / "a.wacz", (info, CONTENT)))
    assert [path.name for path in tmp_path.iterdir()] == ["a.wacz"]


def test_an_encrypted_entry_is_refused(tmp_path: Path) -> None:
    path = sample(tmp_path)
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 0x1
    path.write_bytes(content)
    with pytest.raises(BadInputError, match="is encrypted"):
        wacz.read(path)


def test_a_link_is_refused(tmp_path: Path) -> None:
    info = ZipInfo(NAME)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(BadInputError, match="is a link"):
        wacz.read(write_zip(tmp_path / "a.wacz", (info, b"/etc/passwd")))


def test_an_entry_that_unpacks_to_very_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wacz, "ALWAYS_ALLOWED_BYTES", 1000)
    info = ZipInfo(NAME)
    info.compress_type = ZIP_DEFLATED
    with pytest.raises(BadInputError, match="unpacks from"):
        wacz.read(write_zip(tmp_path / "a.wacz", (info, bytes(1_000_000))))


def test_an_entry_cannot_unpack_to_more_than_it_declares(tmp_path: Path) -> None:
    info = ZipInfo(NAME)
    info.compress_type = ZIP_DEFLATED
    path = write_zip(tmp_path / "a.wacz", (info, bytes(1_000_000)))
    content = path.read_bytes().replace(
        (1_000_000).to_bytes(4, "little"), (9).to_bytes(4, "little")
    )
    path.write_bytes(content)
    (bad,) = wacz.read(path)
    assert isinstance(bad, BadRow)


def test_an_unknown_compression_is_refused(tmp_path: Path) -> None:
    info = ZipInfo(NAME)
    info.compress_type = ZIP_LZMA
    with pytest.raises(BadInputError, match="unknown compression"):
        wacz.read(write_zip(tmp_path / "a.wacz", (info, CONTENT)))


def test_a_duplicate_name_is_refused(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = write_zip(tmp_path / "a.wacz", (ZipInfo(NAME), CONTENT), (ZipInfo(NAME), OTHER))
    with pytest.raises(BadInputError, match="occurs twice"):
        wacz.read(path)


def test_entries_that_overlap_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wacz", {NAME: CONTENT, "archive/b.warc.gz": OTHER})
    content = bytearray(path.read_bytes())
    second = content.index(b"PK\x01\x02", content.index(b"PK\x01\x02") + 4)
    content[second + 42 : second + 46] = bytes(4)
    path.write_bytes(content)
    with pytest.raises(BadInputError, match="overlap"):
        wacz.read(path)


def test_a_name_that_is_not_utf_8_is_bad_input(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wacz", {NAME.replace("a.", "é."): CONTENT})
    path.write_bytes(path.read_bytes().replace("é.warc".encode(), b"\xff\xff.warc"))
    with pytest.raises(BadInputError, match="the name of an entry is not UTF-8"):
        wacz.read(path)


@pytest.mark.parametrize(("record", "field"), [(b"PK\x01\x02", 42), (b"PK\x05\x06", 16)])
def test_an_offset_outside_the_file_is_bad_input(tmp_path: Path, record: bytes, field: int) -> None:
    path = sample(tmp_path)
    content = bytearray(path.read_bytes())
    at = content.rindex(record) + field
    content[at : at + 4] = b"\xfe\xff\xff\xff"
    path.write_bytes(content)
    with pytest.raises(BadInputError, match="get it again"):
        wacz.read(path)


def test_a_file_with_a_very_long_name_is_imported(tmp_path: Path) -> None:
    name = f"archive/{'n' * 300}.warc.gz"
    (observation,) = wacz.read(write(tmp_path / "a.wacz", {name: CONTENT}))
    assert isinstance(observation, Observation)
    assert observation.place == f"{name}, offset 0"


def test_a_list_of_entries_too_long_for_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wacz, "DIRECTORY_BYTES", 10)
    with pytest.raises(BadInputError, match="directory is too long"):
        wacz.read(sample(tmp_path))


def test_the_directory_size_of_a_zip64_file_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    path = sample(tmp_path)
    content = bytearray(path.read_bytes())
    end = content.rindex(b"PK\x05\x06")
    content[end + 12 : end + 20] = b"\xff" * 8
    path.write_bytes(content)
    assert len(list(wacz.read(path))) == 1
    monkeypatch.setattr(wacz, "DIRECTORY_BYTES", 10)
    with pytest.raises(BadInputError, match="directory is too long"):
        wacz.read(path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"[" * 100_000])
def test_a_package_without_resources_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.wacz"
    with ZipFile(path, "w") as file:
        file.writestr(NAME, CONTENT)
        file.writestr("datapackage.json", content)
    with pytest.raises(BadInputError, match=r"datapackage\.json"):
        wacz.read(path)


def test_a_file_that_is_not_wacz_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.wacz"
    path.write_bytes(b"no zip")
    with pytest.raises(BadInputError, match="is not a zip file"):
        wacz.read(path)
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as file:
        file.writestr(NAME, CONTENT)
    path.write_bytes(buffer.getvalue())
    with pytest.raises(BadInputError, match=r"datapackage\.json is missing"):
        wacz.read(path)
    with pytest.raises(BadInputError, match="there is no WARC file"):
        wacz.read(write(path, {"pages/pages.jsonl": b"{}"}))
