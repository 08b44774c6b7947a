"""The index that replay programs read."""

import json
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from freshet.archive.exporters import cdxj
from freshet.archive.exporters.base import VisitRow
from freshet.archive.spill import in_order
from freshet.core.types import Location, Outcome, Page, Visit

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
AT = Location("a.warc.gz", 333, 1043)


def visit(**facts: object) -> Visit:
    return Visit(
        **{
            "uid": bytes(16), "page": 1, "time": NOON, "outcome": Outcome.OK, "status": 200,
            "digest": bytes(20), "media_type": "text/html", "location": AT, **facts,
        }
    )  # fmt: skip


def row(url: str = "https://a.org/", **facts: object) -> VisitRow:
    return VisitRow(Page(1, url, "", "a.org", "a.org", "a.org/", NOON), visit(**facts))


def written(path: Path, *rows: VisitRow) -> list[str]:
    assert cdxj.write(path, rows) == len(path.read_text().splitlines())
    return path.read_text().splitlines()


def test_a_line_has_key_time_and_where_the_record_lies(tmp_path: Path) -> None:
    (line,) = written(tmp_path / "index.cdxj", row())
    key, time, fields = line.split(" ", 2)
    assert (key, time) == ("org,a)/", "20240501120000")
    assert json.loads(fields) == {
        "url": "https://a.org/",
        "mime": "text/html",
        "status": "200",
        "digest": "A" * 32,
        "length": "1043",
        "offset": "333",
        "filename": "a.warc.gz",
    }


def test_lines_are_in_order_of_key_then_time(tmp_path: Path) -> None:
    rows = [row("https://b.org/"), row("https://a.org/b"), row(time=NOON.replace(year=2025)), row()]
    lines = written(tmp_path / "index.cdxj", *rows)
    assert lines == sorted(lines)
    assert [line.split(" ")[0] for line in lines] == ["org,a)/", "org,a)/", "org,a)/b", "org,b)/"]


def test_a_redirected_look_is_found_under_both_addresses(tmp_path: Path) -> None:
    moved = row(final_url="https://b.org/new")
    refused = row(final_url="http://10.0.0.1/", outcome=Outcome.REFUSED)
    lines = written(tmp_path / "index.cdxj", moved, refused)
    assert [line.split(" ")[0] for line in lines] == ["org,a)/", "org,a)/", "org,b)/new"]
    assert {json.loads(line.split(" ", 2)[2])["offset"] for line in lines} == {"333"}


def test_a_visit_without_a_record_has_no_line(tmp_path: Path) -> None:
    assert written(tmp_path / "index.cdxj", row(location=None)) == []


def test_a_revisit_says_so_in_place_of_its_media_type(tmp_path: Path) -> None:
    (line,) = written(tmp_path / "index.cdxj", row(outcome=Outcome.NOT_MODIFIED, digest=None))
    fields = json.loads(line.split(" ", 2)[2])
    assert fields["mime"] == "warc/revisit"
    assert "digest" not in fields


@given(st.lists(st.binary()))
def test_lines_are_sorted_by_their_bytes_and_none_is_lost(lines: list[bytes]) -> None:
    assert list(in_order(lines)) == sorted(lines)
