"""Traces given to commands in any form, and saved."""

from pathlib import Path

import pytest

from tests.cli.cli_runs import Run

DAYS = 10


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of ten pages seen daily, of which the first four change often, and one bad row."""
    rows = [
        f"https://example.org/{page},2026-01-{day + 1:02},{int(page < 4 or (page + day) % 7 == 0)}"
        for page in range(10)
        for day in range(DAYS)
    ]
    file = tmp_path / "shop.csv"
    file.write_text("\n".join(["page,time,changed", *rows, "a,soon,1"]) + "\n")
    return file


def test_a_table_can_be_crawled_as_it_is_and_bad_rows_are_reported(run: Run, table: Path) -> None:
    result = run("simulate", str(table), "--policy", "age", "--seeds", "1", "--json")
    row = result.json[0]
    assert (row["trace"], row["pages"], row["cycles"]) == ("shop", 10, DAYS)
    assert "1 unreadable; the first is shop.csv, line 102" in result.err


def test_a_saved_trace_gives_the_same_figures(run: Run, table: Path, tmp_path: Path) -> None:
    saved_folder = str(tmp_path / "kept")
    message = run("export", "trace", saved_folder, "--from", str(table)).out
    assert message == f"Wrote the trace shop of 10 pages and 10 cycles to {saved_folder}.\n"
    words = ("--policy", "cg,bayes-freshness", "--seeds", "1", "--json")
    assert run("simulate", saved_folder, *words).json == run("simulate", str(table), *words).json


def test_a_collection_becomes_a_trace_of_its_looks(run: Run, collection: Path) -> None:
    result = run("export", "trace", "kept", "--known", "0.5", "--json")
    assert (result.json["trace"], result.json["folder"]) == ("news", "kept")
    again = run("simulate", "kept", "--policy", "age", "--seeds", "1", "--json").json[0]
    assert (again["pages"], again["cycles"]) == (result.json["pages"], result.json["cycles"])
    assert result.json["pages"] > 1


def test_a_saved_trace_takes_no_share_of_known_days(run: Run, table: Path, tmp_path: Path) -> None:
    saved_folder = str(tmp_path / "kept")
    run("export", "trace", saved_folder, "--from", str(table))
    result = run("simulate", saved_folder, "--known", "0.2", "--policy", "age")
    assert (result.code, result.out) == (2, "")
    assert "--known has no effect here: a saved trace has fixed pages" in result.err


def test_in_a_collection_generated_pages_are_not_taken_for_its_own(
    run: Run, collection: Path
) -> None:
    result = run("simulate", "--pages", "50", "--cycles", "5", "--policy", "age", "--seeds", "1")
    assert (
        "using generated pages; give '.' as TRACE to use the pages of this collection" in result.err
    )


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("simulate", "shop.csv", "--format", "pdf"), 2, "'pdf' is not a trace format"),
        (("simulate", "shop.csv", "--format", "trace"), 4, "contains no trace.json"),
        (("simulate", "nowhere"), 4, "does not exist"),
        (("simulate", "shop.csv", "--known", "1.1"), 2, "--known"),
        (("simulate", "--format", "csv"), 2, "give the file or folder"),
        (("simulate", "shop.csv", "--pages", "50"), 2, "--pages has no effect here: shop.csv has"),
        (("simulate", "shop.csv", "--cycles", "9"), 2, "--cycles has no effect here"),
        (
            ("simulate", "--known", "0.2"),
            2,
            "--known has no effect here: all days of generated pages are",
        ),
        (
            ("simulate", "--impute"),
            2,
            "--impute has no effect here: all days of generated pages are",
        ),
        (("export", "trace", ".", "--from", "shop.csv"), 2, "exists already"),
        (("export", "trace", "new", "--format", "csv"), 2, "needs --from"),
        (("export", "trace", "new", "--from", "shop.csv", "--trace", "snap"), 2, "has no parts"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...], code: int, message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(table.parent)
    result = run(*words)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert not (table.parent / "new").exists()
