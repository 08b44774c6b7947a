"""Bringing histories in and taking tables out."""

import gzip
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from tests.cli.cli_runs import NEWS, Run

CSV = "page,time,changed,new_links\nhttps://a.example/,2026-01-01,0,\nhttps://a.example/,2026-01-02,1,3\n"


def bing(folder: Path) -> None:
    folder.mkdir()
    (folder / "url_urlid_hostid.txt").write_text("https://a.example/\t1\t1\n", "utf-8")
    (folder / "urlid_imp.txt").write_text("1\t0.5\n", "utf-8")
    (folder / "urlid_offset_history.txt").write_text("1\t0.5\t[[1.0, 1], [2.0, 0]]\n", "utf-8")


def test_a_warc_is_imported_once(run: Run, empty: Path, small_warc: Path) -> None:
    assert run("import", "warc", str(small_warc), "--json").json["visits"] == 168
    again = run("import", "warc", str(small_warc))
    assert (again.code, again.out) == (0, "Imported 0 visits; 168 already existed.\n")


def test_an_import_tells_of_visits_that_another_source_has(
    run: Run, empty: Path, small_warc: Path
) -> None:
    run("import", "warc", str(small_warc))
    again = run("import", "warc", str(small_warc), "--source", "mine")
    assert again.out.splitlines() == [
        "Imported 0 visits; 168 already existed.",
        "168 of them are in source warc: a visit is stored once, in its first source.",
    ]
    joined = run("import", "warc", str(small_warc), "--source", "", "--json").json
    assert joined["other_sources"] == {"warc": 168}


def test_observations_are_imported_from_csv(run: Run, empty: Path) -> None:
    Path("seen.csv").write_text(CSV, "utf-8")
    assert run("import", "csv", "seen.csv").out.startswith("Imported 2 visits;")
    page = run("list", "--json").json[0]
    assert (page["page"]["source"], page["visits"], page["changes"]) == ("seen", 2, 1)


def test_the_bing_histories_are_imported(run: Run, empty: Path) -> None:
    bing(Path("bing"))
    assert run("import", "bing", "bing", "--start", "2020-01-01", "--json").json["visits"] == 3
    times = [row["visit"]["time"] for row in run("history", "https://a.example/", "--json").json]
    assert times[0].startswith("2020-01-01T12:00")


def test_versions_are_imported_from_parquet(run: Run, empty: Path) -> None:
    rows = {
        "page": ["https://a.example/"] * 2,
        "time": [datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)],
        "html": ["<p>A first version.</p>", "<p>A second version.</p>"],
        "kind": ["html"] * 2,
        "commit": ["c1", "c2"],
        "source": ["mine"] * 2,
    }
    pl.DataFrame(rows).write_parquet("versions.parquet")
    assert run("import", "parquet", "versions.parquet", "--json").json["visits"] == 2


@pytest.mark.parametrize("kind", ["warc", "git", "csv", "bing", "parquet"])
def test_what_is_not_there_is_bad_input(run: Run, empty: Path, kind: str) -> None:
    result = run("import", kind, "nowhere")
    assert (result.code, result.out) == (4, "")
    assert result.err.startswith("freshet: nowhere: ")
    assert result.err.count("\n") == 1


def test_bad_rows_are_listed_and_good_ones_kept(run: Run, empty: Path) -> None:
    Path("seen.csv").write_text(CSV + "https://a.example/,never,1,\n" * 30, "utf-8")
    result = run("import", "csv", "seen.csv")
    assert result.code == 4
    assert "Imported 2 visits" in result.out
    assert "seen.csv, line 4: time 'never'" in result.err
    assert "freshet status --bad 1" in result.err
    assert len(run("status", "--bad", "1", "--json").json) == 30
    assert "30 rows could not be imported." in run("status", "--bad", "1").out


def test_an_import_that_never_was_is_not_found(run: Run, empty: Path) -> None:
    assert run("status", "--bad", "7").code == 3


def test_a_broken_warc_gives_what_is_whole(run: Run, empty: Path, small_warc: Path) -> None:
    content = bytearray(small_warc.read_bytes())
    content[len(content) // 2] ^= 1
    Path("broken.warc.gz").write_bytes(content)
    result = run("import", "warc", "broken.warc.gz", "--json")
    assert result.code == 4
    assert result.json["visits"] == 167
    assert run("check").code == 0


def test_a_kind_must_be_named(run: Run, empty: Path) -> None:
    for command in ("import", "export"):
        result = run(command)
        assert result.code == 2
        assert f"freshet {command} --help" in result.err


def test_tables_leave_in_every_form(run: Run, collection: Path) -> None:
    assert run("export", "parquet", "v.parquet", "--json").json["rows"] == 168
    assert run("export", "parquet", "c.parquet", "--table", "changes").code == 0
    assert run("export", "csv", "c.csv").out == "Wrote 155 rows to c.csv.\n"
    assert run("export", "cdxj", "index.cdxj").code == 0
    assert pl.read_parquet("v.parquet").height == 168
    assert pl.read_parquet("c.parquet").height == 155
    assert Path("index.cdxj").read_text("utf-8").count("example,news)/ ") == 28


def test_what_was_exported_can_be_imported(run: Run, collection: Path) -> None:
    run("export", "csv", "c.csv")
    assert run("import", "csv", "c.csv", "--json").json["visits"] == 155
    assert len(run("history", NEWS, "--source", "c", "--json").json) == 27


def test_a_table_is_not_written_over_a_folder(run: Run, collection: Path) -> None:
    assert run("export", "csv", ".").code == 2


def test_a_table_that_cannot_be_written_is_said(run: Run, collection: Path) -> None:
    result = run("export", "csv", "nowhere/c.csv")
    assert result.code == 5
    assert "nowhere/c.csv" in result.err


def test_a_compressed_list_that_is_cut_keeps_what_came_before(run: Run, empty: Path) -> None:
    Path("seen.csv.gz").write_bytes(gzip.compress(CSV.encode())[:-4])
    result = run("import", "csv", "seen.csv.gz")
    assert result.code == 4
    assert "is damaged or incomplete" in result.err


def test_a_collection_leaves_and_comes_back_as_a_wacz_file(
    run: Run, collection: Path, tmp_path: Path
) -> None:
    result = run("export", "wacz", "../news.wacz")
    assert (result.code, result.out) == (0, "Wrote 168 rows to ../news.wacz.\n")
    run("init", str(tmp_path / "again"), "--contact", "you@example.org")
    result = run("import", "wacz", "../news.wacz", "-C", str(tmp_path / "again"), "--json")
    assert (result.code, result.json["visits"], result.json["bad"]) == (0, 168, 0)


def test_a_wacz_file_with_another_digest_is_reported_and_ends_with_4(
    run: Run, collection: Path, tmp_path: Path
) -> None:
    run("export", "wacz", "../news.wacz")
    path = tmp_path / "news.wacz"
    content = bytearray(path.read_bytes())
    content[2000] ^= 0xFF
    path.write_bytes(content)
    result = run("import", "wacz", "../news.wacz", "--source", "other")
    assert result.code == 4
    assert "archive/freshet-" in result.err
    assert "get the file again" in result.err


def test_an_export_of_links_without_rows_says_why(run: Run, empty: Path, tmp_path: Path) -> None:
    out = run("export", "links", str(tmp_path / "links.csv"), "--every", "30d").out
    assert "Wrote 0 rows to " in out
    assert "No page was looked at in two intervals of 30d" in out
