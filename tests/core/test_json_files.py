"""A file of JSON is read strictly, with one line that says what is wrong and what to do."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from freshet.core.errors import BadInputError
from freshet.core.json_files import read_json_object, write_json_object

ADVICE = "make it again"


def read(path: Path) -> dict[str, object]:
    return read_json_object(path, max_bytes=100, advice=ADVICE)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    made = datetime(2026, 1, 2, tzinfo=UTC)
    write_json_object(path, {"rate": float("nan"), "made": made, "names": ("a", "b")})
    assert read(path) == {"rate": None, "made": made.isoformat(), "names": ["a", "b"]}
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not readable as JSON"),
        (b"\xff\xfe\x00", "not readable as JSON"),
        (b"[" * 99, "not readable as JSON"),
        (b'{"a": NaN}', "NaN is not a number"),
        (b"[1]", "not a JSON object"),
        (b" " * 101, "larger than 100 bytes"),
    ],
)
def test_other_content_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(BadInputError, match=rf"bad\.json: .*{said}.*; {ADVICE}$") as refused:
        read(path)
    assert "\n" not in str(refused.value)


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    for name, said in (("pipe.json", "not a file"), ("gone.json", "No such file"), (".", "Is a")):
        with pytest.raises(BadInputError, match=f"{said}.*; {ADVICE}$"):
            read(tmp_path / name)
