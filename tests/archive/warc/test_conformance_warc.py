"""WARC and ARC files of other projects: exactly the faulty ones are reported."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from freshet.archive.warc.located_record import LocatedRecord
from freshet.archive.warc.read import read_records
from tests.archive.warc.file_check import check_file

FOLDER = Path(os.environ.get("FRESHET_DATA", "")) / "conformance" / "warc"
CASES: list[dict[str, Any]] = (
    json.loads((FOLDER / "EXPECTED.json").read_text())["files"]
    if "FRESHET_DATA" in os.environ
    else []
)

if CASES:

    @pytest.mark.parametrize("case", CASES, ids=[case["file"] for case in CASES])
    def test_check_flags_a_file_exactly_when_it_is_broken(case: dict[str, Any]) -> None:
        faults = list(check_file(FOLDER / case["file"]))
        assert bool(faults) == case["must_be_flagged"], faults

    @pytest.mark.parametrize(
        "case",
        [case for case in CASES if not case["must_be_flagged"]],
        ids=lambda case: case["file"],
    )
    def test_every_record_of_a_sound_file_is_read(case: dict[str, Any]) -> None:
        found = [
            item for item in read_records(FOLDER / case["file"]) if isinstance(item, LocatedRecord)
        ]
        assert len(found) == case["warcio_records"]
