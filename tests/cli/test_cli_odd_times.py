"""Times that no visit can have are refused, and a collection that holds one can still be used."""

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from freshet.archive.importers.base import row_uid
from freshet.archive.observation import Observation
from freshet.archive.warc.build import build_response
from freshet.archive.warc.record import encode_record
from freshet.core.types import Change, Outcome, Snapshot
from freshet.record.collection_store import CollectionStore
from tests.cli.cli_runs import Run

URL = "https://odd.example/"
END = datetime.max.replace(tzinfo=UTC)
BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
GOOD = datetime(2026, 1, 1, tzinfo=UTC)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
COMMANDS = [
    ("status",), ("status", "--json"), ("list",), ("list", "--json"), ("show", URL),
    ("history", URL), ("history", URL, "--json"), ("plan",), ("why", URL), ("forecast", URL),
    ("analyse",), ("analyse", URL), ("diff", URL), ("mask", URL),
    ("measure", "--again"), ("check",),
    ("check", "--repair"), ("doctor",), ("export", "csv", "out.csv"),
    ("export", "parquet", "out.parquet"), ("export", "cdxj", "out.cdxj"),
    ("export", "parquet", "--table", "changes", "changes.parquet"),
    ("prune", "--older-than", "1d", "--keep", "year", "--yes"),
    ("remove", URL, "--purge", "--yes"),
]  # fmt: skip


def write_csv(times: list[str]) -> tuple[str, str]:
    rows = "".join(f"{URL},{time},1\n" for time in times)
    Path("seen.csv").write_text(f"page,time,changed\n{rows}", "utf-8")
    return "csv", "seen.csv"


def write_parquet(times: list[str]) -> tuple[str, str]:
    rows = {"source": "s", "page": URL, "html": b"<p>a page", "kind": "html", "commit": "c"}
    table = {name: [value] * len(times) for name, value in rows.items()}
    pl.DataFrame({**table, "time": times}).write_parquet("seen.parquet")
    return "parquet", "seen.parquet"


def write_warc(times: list[str]) -> tuple[str, str]:
    records = (
        build_response(URL, datetime.fromisoformat(time), HEAD + b"a page") for time in times
    )
    Path("seen.warc.gz").write_bytes(b"".join(map(encode_record, records)))
    return "warc", "seen.warc.gz"


@pytest.mark.parametrize("write", [write_csv, write_parquet, write_warc])
def test_a_time_that_no_visit_can_have_is_a_bad_row(run: Run, empty: Path, write) -> None:
    odd = ["9999-12-31T23:59:59.999999Z", "1969-12-31T00:00:00Z", "2300-01-01T00:00:00Z"]
    kind, name = write([*odd, "2026-01-01T00:00:00Z"])
    result = run("import", kind, name)
    assert result.code == 4
    assert result.out.startswith("Imported 1 visit")
    assert result.err.count("1970-01-01") == 3
    assert f"{name}, " in result.err


def hold(folder: Path, *times: datetime) -> None:
    """Record visits at those times, as an earlier version took them from an import."""
    pages = [Snapshot(URL, f"<p>A page of version {time.year}".encode()) for time in times]
    with CollectionStore.open(folder) as collection, collection.recording() as recorder:
        for time, page in zip(times, pages, strict=True):
            uid = row_uid("version", "", URL, time)
            recorder.record([Observation(URL, "", time, uid, page)])
        outputs = [
            Observation(
                f"{URL}told", "", time, row_uid("csv", "", "told", time),
                change=Change(True), outcome=Outcome.REPORTED,
            )
            for time in times
        ]  # fmt: skip
        recorder.record(outputs)


def test_a_collection_that_holds_odd_times_can_be_used(run: Run, empty: Path) -> None:
    hold(empty, BEGINNING, GOOD, END)
    failed = {command: result.err for command in COMMANDS if (result := run(*command)).code}
    assert not failed


def test_a_trace_is_not_made_of_looks_thousands_of_years_apart(run: Run, empty: Path) -> None:
    hold(empty, GOOD, END)
    result = run("export", "trace", "trace")
    assert result.code == 4
    assert "correct or remove wrong times" in result.err
