"""Sitemaps against the cases of crawler-commons."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from freshet.view.content_coding import decode_content
from freshet.view.formats.sitemap import entries, is_index

DATA = Path(os.environ["FRESHET_DATA"]) / "conformance" / "sitemaps"
CASES = json.loads((DATA / "EXPECTED.json").read_text())["cases"]
LIMIT = 1 << 24


def content(case: dict[str, Any]) -> str:
    if "content" in case:
        return str(case["content"])
    body = (DATA / case["file"]).read_bytes()
    return decode_content(body, "gzip" if case["file"].endswith(".gz") else "", LIMIT).decode()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["test"])
def test_every_entry_is_found(case: dict[str, Any]) -> None:
    text = content(case)
    assert len(entries(text, case["url"])) == case["expected_count"]
    assert is_index(text) == (case["kind"] == "index")


def test_all_cases_are_there() -> None:
    assert len(CASES) == 18
