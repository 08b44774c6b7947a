"""Import of histories from Parquet files."""

from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest

from freshet.archive.importers import parquet
from freshet.archive.observation import Observation
from freshet.core.errors import BadInputError
from freshet.core.types import BadRow, Change, Outcome

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def versions(path: Path, **columns: list[object]) -> Path:
    table = {
        "source": ["me/repo"],
        "page": ["https://a.org/"],
        "time": [NOON],
        "html": ["<p>é"],
        "kind": ["html"],
        "commit": ["c1"],
        **columns,
    }
    pl.DataFrame(table).write_parquet(path)
    return path


def observations(path: Path, **columns: list[object]) -> Path:
    table = {
        "page": ["a"],
        "day": [date(2024, 5, 1)],
        "changed": [True],
        "changed_html": [True],
        "confirmed": [True],
        "n_new_links_internal": [1],
        "n_new_links_external": [2],
        "n_new_links_never_seen": [3],
        "part": ["shop"],
        **columns,
    }
    pl.DataFrame(table).write_parquet(path)
    return path


def test_a_version_has_its_bytes_and_media_type(tmp_path: Path) -> None:
    (observation,) = parquet.read(versions(tmp_path / "versions_shop.parquet"))
    assert observation.source == "shop"
    assert observation.time == NOON
    assert observation.time.tzinfo is UTC
    assert observation.outcome is None
    assert observation.snapshot.body == "<p>é".encode()
    assert observation.snapshot.header("content-type") == "text/html; charset=utf-8"


@pytest.mark.parametrize(
    ("kind", "media_type"), [("markdown", "text/markdown"), ("text", "text/plain")]
)
def test_the_kind_gives_the_media_type(tmp_path: Path, kind: str, media_type: str) -> None:
    (observation,) = parquet.read(versions(tmp_path / "v.parquet", kind=[kind]))
    assert observation.snapshot.media_type == media_type


def test_the_source_is_given_or_the_part_or_the_column(tmp_path: Path) -> None:
    named, unnamed = versions(tmp_path / "versions_x.parquet"), versions(tmp_path / "other.parquet")
    assert [item.source for item in parquet.read(named, source="mine")] == ["mine"]
    assert [item.source for item in parquet.read(named)] == ["x"]
    assert [item.source for item in parquet.read(unnamed)] == ["me/repo"]


def test_versions_may_have_neither_source_nor_commit(tmp_path: Path) -> None:
    path = versions(tmp_path / "shop.parquet")
    pl.read_parquet(path).drop("source", "commit").write_parquet(path)
    reader = parquet.read(path)
    (observation,) = reader
    assert (observation.source, reader.source) == ("shop", "shop")
    assert observation.snapshot.body == "<p>é".encode()
    assert [item.source for item in parquet.read(path, source="")] == [""]


def test_observations_may_have_page_day_and_changed_alone(tmp_path: Path) -> None:
    path = observations(tmp_path / "seen.parquet")
    pl.read_parquet(path).select("page", "day", "changed").write_parquet(path)
    (observation,) = parquet.read(path)
    assert observation.source == "seen"
    assert observation.change == Change(True, text=True)


def test_a_row_that_lacks_something_is_a_bad_row(tmp_path: Path) -> None:
    path = versions(
        tmp_path / "versions_x.parquet",
        source=["s"] * 3, page=["a", None, "c"], time=[NOON] * 3, html=["x", "y", None],
        kind=["html"] * 3, commit=["1", "2", "3"],
    )  # fmt: skip
    good, *bad = parquet.read(path)
    assert isinstance(good, Observation)
    assert bad == [
        BadRow("versions_x.parquet, row 2", "page is missing"),
        BadRow("versions_x.parquet, row 3", "html is missing"),
    ]


@pytest.mark.parametrize("unit", ["ms", "us"])
@pytest.mark.parametrize("value", [-(10**17), 10**18])
def test_a_time_beyond_the_calendar_is_a_bad_row(tmp_path: Path, unit: str, value: int) -> None:
    same = {"source": "s", "page": "a", "html": "x", "kind": "html", "commit": "c"}
    table = pl.DataFrame({name: [text] * 3 for name, text in same.items()})
    times = pl.Series("time", [0, value, 1]).cast(pl.Datetime(unit))
    table.with_columns(times).write_parquet(tmp_path / "v.parquet")
    before, bad, after = parquet.read(tmp_path / "v.parquet")
    assert isinstance(before, Observation)
    assert isinstance(bad, BadRow)
    assert (bad.place, bad.why[:5]) == ("v.parquet, row 2", "time ")
    assert isinstance(after, Observation)


def test_times_and_days_may_be_iso_strings(tmp_path: Path) -> None:
    (version,) = parquet.read(versions(tmp_path / "v.parquet", time=["2024-05-01T14:00:00+02:00"]))
    assert version.time == NOON
    (observed_day,) = parquet.read(observations(tmp_path / "o.parquet", day=["2024-05-01"]))
    assert observed_day.time == datetime(2024, 5, 1, 23, 59, 59, tzinfo=UTC)
    (bad,) = parquet.read(versions(tmp_path / "v.parquet", time=["noon"]))
    assert bad.why == "time 'noon' is neither ISO 8601 nor epoch seconds"


def test_a_day_beyond_the_calendar_is_a_bad_row(tmp_path: Path) -> None:
    path = observations(tmp_path / "o.parquet")
    days = pl.Series("day", [-(10**7)], dtype=pl.Int32).cast(pl.Date)
    pl.read_parquet(path).with_columns(days).write_parquet(path)
    (bad,) = parquet.read(path)
    assert bad.why == "day -10000000 since 1970 is not in the years 1 to 9999"


@pytest.mark.parametrize("count", [-1, 10**9 + 1, 2**63, 0.5, float("nan"), float("inf")])
def test_an_absurd_number_of_links_is_a_bad_row(tmp_path: Path, count: float) -> None:
    path = observations(tmp_path / "o.parquet", n_new_links_external=[count])
    (bad,) = parquet.read(path)
    assert isinstance(bad, BadRow)
    assert "new links is not a whole number from 0 to 1,000,000,000" in bad.why


def test_an_observation_reports_the_change_at_the_end_of_its_day(tmp_path: Path) -> None:
    (observation,) = parquet.read(observations(tmp_path / "observations.parquet"))
    assert observation.source == "shop"
    assert observation.time == datetime(2024, 5, 1, 23, 59, 59, tzinfo=UTC)
    assert observation.outcome is Outcome.REPORTED
    assert observation.change == Change(
        True, bytes=True, text=True, links=True, new_internal=1, new_external=2, never_seen=3
    )


def test_a_document_that_stayed_the_same_kept_its_structure_and_links() -> None:
    assert parquet.reported_change(False, False, 0, 0, 0) == Change(
        False, bytes=False, text=False, structure=False, links=False,
        new_internal=0, new_external=0, never_seen=0,
    )  # fmt: skip


def test_structure_and_links_of_a_changed_document_are_unknown() -> None:
    change = parquet.reported_change(False, True, 0, 0, 0)
    assert (change.bytes, change.text) == (True, False)
    assert (change.structure, change.links) == (None, None)


def test_only_the_versions_of_a_folder_are_read(tmp_path: Path) -> None:
    versions(tmp_path / "versions_a.parquet")
    versions(tmp_path / "versions_b.parquet")
    observations(tmp_path / "observations.parquet")
    reader = parquet.read(tmp_path)
    assert [item.source for item in reader] == ["a", "b"]
    assert reader.done == reader.total == 2


def test_rows_come_in_order_across_slices(tmp_path: Path) -> None:
    pages = [f"p{n:04}" for n in range(1500)]
    times = [NOON] * len(pages)
    same = {"source": ["s"], "html": ["x"], "kind": ["html"], "commit": ["c"]}
    repeated = {name: value * len(pages) for name, value in same.items()}
    path = versions(tmp_path / "versions_x.parquet", page=pages, time=times, **repeated)
    assert [item.url for item in parquet.read(path)] == pages


def test_a_list_of_pages_is_skipped_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    pl.DataFrame({"page": ["a"], "n_versions": [1], "first": [NOON], "last": [NOON]}).write_parquet(
        path
    )
    reader = parquet.read(path)
    assert list(reader) == []
    assert reader.notes == ["pages.parquet: a list of pages has no history; skipped"]


def test_other_tables_and_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(path)
    with pytest.raises(BadInputError, match="has neither the columns"):
        parquet.read(path)
    path.write_bytes(b"PAR1 this is not a table")
    with pytest.raises(BadInputError, match="is not readable as Parquet"):
        parquet.read(path)
    with pytest.raises(BadInputError, match="is not readable as Parquet"):
        parquet.read(tmp_path / "missing.parquet")


def test_a_folder_without_versions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"contains no versions_\*\.parquet"):
        parquet.read(tmp_path)


def test_damage_inside_a_file_is_refused_with_its_name(tmp_path: Path) -> None:
    path = versions(tmp_path / "versions_x.parquet", html=["x" * 5000])
    content = path.read_bytes()
    path.write_bytes(content[:4] + bytes(200) + content[204:])
    with pytest.raises(BadInputError, match=r"versions_x\.parquet: is not readable as Parquet"):
        list(parquet.read(path))
