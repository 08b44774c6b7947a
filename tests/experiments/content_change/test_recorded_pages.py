"""Recorded pages become a grid of daily versions."""

from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest
from experiments.content_change.recorded_pages import read_grid

from freshet.core.content.content_grid import changed_steps
from freshet.core.errors import BadInputError

PAGE, OTHER = "https://a.example/terms", "https://b.example/terms"


def write_pages(folder: Path, observed: list[tuple[str, date]] | None = None) -> None:
    """Write three versions of a page and one of a page that it links to."""
    link = f'<a href="{OTHER}">terms</a>'
    rows = [
        (PAGE, datetime(2026, 2, 20, 12, tzinfo=UTC), "<p>one two</p>", "0a"),
        (PAGE, datetime(2026, 2, 22, 0, tzinfo=UTC), "<p>one three</p>", "0b"),
        (PAGE, datetime(2026, 2, 22, 12, tzinfo=UTC), f"<p>one two</p>{link}", "0a"),
        (OTHER, datetime(2026, 2, 21, 12, tzinfo=UTC), "<p>four</p>", "0c"),
        (PAGE, datetime(2026, 2, 24, 12, tzinfo=UTC), "<p>one two</p>", "0a"),
    ]
    (folder / "pages").mkdir()
    columns = ["page", "time", "html", "text_hash"]
    table = pl.DataFrame(rows, columns, orient="row")
    table.write_parquet(folder / "pages" / "versions_ota_contrib_snap.parquet")
    if observed is not None:
        observations = pl.DataFrame(observed, ["page", "day"], orient="row")
        observations = observations.with_columns(part=pl.lit("ota_contrib_snap"))
        observations.write_parquet(folder / "pages" / "observations.parquet")


def test_a_day_has_its_last_version_and_equal_versions_share_a_row(tmp_path: Path) -> None:
    write_pages(tmp_path)
    grid = read_grid(tmp_path)
    assert grid.page_names == (PAGE, OTHER)
    assert grid.step_count == 5
    first, _, linked, _, last = grid.versions[0].tolist()
    assert first == last
    assert linked != first
    assert grid.versions[1].tolist() == [-1, *[grid.versions[1, 1]] * 4]
    assert changed_steps(grid).tolist() == [[0, 0, 0, 0], [-1, 0, 0, 0]]
    columns, _ = grid.links.row(linked)
    assert grid.link_targets[columns].tolist() == [1]


def test_days_without_an_observation_are_not_known(tmp_path: Path) -> None:
    days = [(PAGE, date(2026, 2, 22)), (PAGE, date(2026, 2, 24)), (OTHER, date(2026, 2, 22))]
    write_pages(tmp_path, days)
    is_known = read_grid(tmp_path).versions >= 0
    assert is_known.astype(int).tolist() == [[1, 0, 1, 0, 1], [0, 1, 1, 0, 0]]


def test_parsed_pages_are_read_from_the_work_folder(tmp_path: Path) -> None:
    write_pages(tmp_path)
    parsed = read_grid(tmp_path, tmp_path / "work")
    stored = read_grid(tmp_path, tmp_path / "work")
    assert stored.page_names == parsed.page_names
    assert (stored.versions == parsed.versions).all()
    assert (stored.terms.values == parsed.terms.values).all()
    assert (stored.link_targets == parsed.link_targets).all()


def test_a_folder_without_snapshots_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="pages/"):
        read_grid(tmp_path)
