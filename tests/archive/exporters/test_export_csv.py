"""Export of changes as CSV, and their import."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from freshet.archive.exporters import csv as export
from freshet.archive.exporters.base import ChangeRow
from freshet.archive.importers import csv as importer
from freshet.core.types import Change, Outcome, Page, Visit

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def row(url: str, time: datetime, change: Change) -> ChangeRow:
    page = Page(1, url, "", "a.org", "a.org", "a.org/", NOON)
    return ChangeRow(page, Visit(bytes(16), 1, time, Outcome.OK), change)


def test_a_change_is_a_line_of_page_time_changed_and_new_links(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    rows = [
        row("https://a.org/", NOON, Change(True, new_internal=1, new_external=2)),
        row("https://a.org/?a=1,2", NOON, Change(False)),
    ]
    assert export.write(path, rows) == 2
    assert path.read_text() == (
        "page,time,changed,new_links\n"
        "https://a.org/,2024-05-01T12:00:00+00:00,1,3\n"
        '"https://a.org/?a=1,2",2024-05-01T12:00:00+00:00,0,\n'
    )


pages = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1)
times = st.integers(0, 10**15).map(lambda micros: NOON + timedelta(microseconds=micros))
counts = st.none() | st.integers(0, 10**6)


@given(st.lists(st.tuples(pages, times, st.booleans(), counts)))
def test_what_is_exported_comes_back_by_import(tmp_path_factory, facts) -> None:
    path = tmp_path_factory.mktemp("round") / "trip.csv"
    rows = [row(url, time, Change(changed, new_external=n)) for url, time, changed, n in facts]
    assert export.write(path, rows) == len(facts)
    back = [
        (item.url, item.time, item.change.changed, item.change.new_external)
        for item in importer.read(path)
    ]
    assert back == facts
