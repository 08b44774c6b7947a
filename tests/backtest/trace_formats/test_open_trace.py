"""Traces opened from every format of recorded pages, and rejected input."""

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from freshet.backtest.comparison import run_policies
from freshet.backtest.trace_formats.open_trace import FORMATS, guess_format, open_trace
from freshet.backtest.trace_formats.readers import ReadListener
from freshet.backtest.trace_formats.saved_trace import save_trace
from freshet.core.errors import BadInputError, FreshetError, NotFoundError, UsageError
from freshet.core.tables import hash_names
from tests.backtest.traces import drawn, lines_of
from tests.record.record_samples import html, make_collection, observe, record

FIRST = date(2026, 1, 1)


def rows_of(lines: Sequence[str]) -> list[tuple[int, int, bool]]:
    """Return page, day and whether it changed, of every cell that is known."""
    return [
        (page, day, cell == "x")
        for page, line in enumerate(lines)
        for day, cell in enumerate(line)
        if cell != "?"
    ]


def write_csv(path: Path, *lines: str) -> Path:
    """Write cells as observations: one page a line, one column a day, at noon."""
    rows = [
        f"https://example.org/{page},{FIRST + timedelta(days=day)}T12:00:00Z,{int(changed)}"
        for page, day, changed in rows_of(lines)
    ]
    path.write_text("\n".join(["page,time,changed", *rows]) + "\n")
    return path


def write_days(folder: Path, *lines: str, links: bool = False) -> Path:
    """Write cells as a folder of daily observations."""
    columns = {
        "part": [f"some_snap{'_b' * (page % 2)}" for page, _, _ in rows_of(lines)],
        "page": [f"https://example.org/{page}" for page, _, _ in rows_of(lines)],
        "day": [FIRST + timedelta(days=day) for _, day, _ in rows_of(lines)],
        "changed": [changed for _, _, changed in rows_of(lines)],
    }
    if links:
        columns["n_new_links_internal"] = [2 * changed for _, _, changed in rows_of(lines)]
        columns["n_new_links_external"] = [None for _ in rows_of(lines)]
    pl.DataFrame(columns).write_parquet(folder / "observations.parquet")
    return folder


def write_bing(folder: Path) -> Path:
    """Write three pages: crawled daily but for one day, daily, and only once."""
    folder.mkdir()
    daily = ", ".join(f"[1, {int(day == 3)}]" for day in range(6))
    histories = ["5\t0.5\t[[1, 1], [1, 1], [1, 1], [2, 0], [1, 1]]", f"6\t0\t[{daily}]", "7\t2\t[]"]
    (folder / "urlid_offset_history.txt").write_text("\n".join(histories) + "\n")
    urls = [f"https://h{number}.example.org/a\t{number}\t1" for number in (5, 6, 7)]
    (folder / "url_urlid_hostid.txt").write_text("\n".join(urls) + "\n")
    weights = [f"{number}\t{number / 10}" for number in (5, 6, 7)]
    (folder / "urlid_imp.txt").write_text("\n".join(weights) + "\n")
    return folder


def test_a_table_of_observations_is_a_trace_by_days(tmp_path: Path) -> None:
    trace = open_trace(write_csv(tmp_path / "shop.csv", "x.x..", "..x.x"), impute=False)
    assert (trace.name, lines_of(trace)) == ("shop", ["x.x..", "..x.x"])
    assert trace.pages.hosts.tolist() == hash_names(["example.org"] * 2).tolist()
    assert trace.pages.sites.tolist() == hash_names(["example.org"] * 2).tolist()
    assert trace.new_links is None


def test_observations_of_one_day_are_one_cell_and_links_add_up(tmp_path: Path) -> None:
    looks = (
        "a;2026-01-01T01:00;0;0", "a;2026-01-01T02:00;1;2", "a;2026-01-01T23:00;0;",
        "a;2026-01-02T00:00;0;0", "a;2026-01-03T00:00;1;4",
        "b;2026-01-01;0;0", "b;2026-01-02;0;0", "b;2026-01-03T00:00-02:00;0;0",
    )  # fmt: skip
    (tmp_path / "a.csv").write_text("\n".join(("page;time;changed;new_links", *looks)))
    trace = open_trace(tmp_path / "a.csv")
    assert lines_of(trace) == ["x.x", "..."]
    assert trace.new_links is not None
    assert trace.new_links.tolist() == [[2, 0], [0, 0], [4, 0]]


def test_two_spellings_of_a_url_are_one_page(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "a.csv", "x..x", "....")
    file.write_text(file.read_text().replace("org/0,2026-01-04", "org:443/b/../0#top,2026-01-04"))
    assert lines_of(open_trace(file)) == ["x..x", "...."]


def test_a_table_is_imputed_unless_one_says_no(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "a.csv", "xxxxx?xxxx", "...x...x..")
    assert lines_of(open_trace(file))[0] == "xxxxxXxxxx"
    assert lines_of(open_trace(file, impute=False))[0] == "xxxxx?xxxx"


def test_bad_rows_are_reported_and_skipped(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "a.csv", "x.x.", ".x.x")
    file.write_text(file.read_text() + "https://example.org/0,yesterday,1\n")
    notes: list[str] = []
    trace = open_trace(file, listener=ReadListener(note=notes.append))
    assert lines_of(trace) == ["x.x.", ".x.x"]
    assert len(notes) == 1
    assert "1 unreadable; the first is a.csv, line 10" in notes[0]


def test_bing_histories_are_a_trace_with_importance(tmp_path: Path) -> None:
    trace = open_trace(write_bing(tmp_path / "crawl"))
    assert trace.name == "crawl"
    assert lines_of(trace) == ["xxxX.x", "...x.."]
    assert trace.pages.importance.tolist() == [0.5, 0.6]
    assert len(set(trace.pages.hosts.tolist())) == 2
    assert len(set(trace.pages.sites.tolist())) == 1
    assert lines_of(open_trace(tmp_path / "crawl", impute=False))[0] == "xxx?.x"


def test_daily_observations_are_a_named_trace_and_not_imputed(tmp_path: Path) -> None:
    folder = write_days(tmp_path, "xxxxx?xxxx", "...x...x..")
    trace = open_trace(folder, name="snap")
    assert (trace.name, lines_of(trace)) == ("snap", ["xxxxx?xxxx", "...x...x.."])
    assert trace.pages.sites.tolist() == hash_names(["some_snap"] * 2).tolist()
    assert open_trace(folder).name == "mixed"
    assert open_trace(folder / "observations.parquet").digest == trace.digest
    assert lines_of(open_trace(folder, impute=True))[0] == "xxxxxXxxxx"


def test_daily_observations_bring_their_new_links(tmp_path: Path) -> None:
    trace = open_trace(write_days(tmp_path, "x.x", "..x", links=True))
    assert trace.new_links is not None
    assert trace.new_links.tolist() == [[2, 0], [0, 0], [2, 2]]


def test_a_collection_is_a_trace_of_its_looks_by_days(tmp_path: Path) -> None:
    urls = [f"https://example.org/{name}" for name in ("a", "b")]
    with make_collection(tmp_path / "saved") as collection:
        for day, (first, second) in enumerate([(1, 1), (2, 1), (2, 1), (3, 0), (3, 2), (3, 2)]):
            looks = [observe(day, html(str(first), *"xyz"[:first]), url=urls[0])]
            if second:
                looks.append(observe(day + 0.5, html(str(second)), url=urls[1]))
            else:
                looks.append(observe(day, b"", url=urls[1], status=500))
            record(collection, looks)
        collection.change_settings(collection.page(urls[1]), [("importance", 3.0)])
        collection.add("https://example.org/never-visited")
    trace = open_trace(tmp_path / "saved")
    assert (trace.name, lines_of(trace)) == ("saved", ["x.x..", "..?x."])
    assert trace.pages.importance.tolist() == [1.0, 3.0]
    assert trace.new_links is not None
    assert trace.new_links[:, 0].tolist() == [1, 0, 1, 0, 0]


def test_a_collection_may_be_opened_by_source(tmp_path: Path) -> None:
    with make_collection(tmp_path / "saved") as collection:
        for source, days in (("old", (0, 1, 2, 3)), ("new", (90, 91, 92, 93))):
            for page in "ab":
                url = f"https://example.org/{page}"
                record(collection, [
                    observe(day, html(f"{day} {page}"), url=url, source=source) for day in days
                ])  # fmt: skip
    trace = open_trace(tmp_path / "saved", name="new")
    assert (trace.name, lines_of(trace)) == ("new", ["xxx", "xxx"])
    said = "no page is known on 80% of the 93 days from 2024-01-02 to 2024-04-03, the best one on"
    with pytest.raises(BadInputError, match=said):
        open_trace(tmp_path / "saved")
    with pytest.raises(NotFoundError, match="no page has source 'newest'"):
        open_trace(tmp_path / "saved", name="newest")


def test_a_saved_trace_opens_as_it_was(tmp_path: Path) -> None:
    trace = drawn("x.x?", "..xx")
    save_trace(trace, tmp_path / "saved")
    opened = open_trace(tmp_path / "saved")
    assert (opened.name, opened.digest) == ("drawn", trace.digest)


def test_without_a_path_the_pages_are_generated() -> None:
    trace = open_trace(None, pages=50, cycles=9, seed=3)
    assert (trace.name, len(trace.pages), trace.cycles) == ("brdc", 50, 9)
    assert open_trace(None, pages=50, cycles=9, seed=3).digest == trace.digest
    assert open_trace(None, pages=50, cycles=9, seed=4).digest != trace.digest
    assert open_trace(None, name="outlinks", pages=50, cycles=9).name == "outlinks"


def test_every_format_is_recognised(tmp_path: Path) -> None:
    save_trace(drawn("x.x", "..x"), tmp_path / "trace")
    write_bing(tmp_path / "bing")
    (tmp_path / "parquet").mkdir()
    write_days(tmp_path / "parquet", "x.x", "..x")
    make_collection(tmp_path / "catalog").close()
    (tmp_path / "git" / ".git").mkdir(parents=True)
    assert [
        form for form in FORMATS if form != "csv" and guess_format(tmp_path / form) != form
    ] == []
    assert guess_format(tmp_path / "parquet" / "observations.parquet") == "parquet"
    for name in ("a.csv", "a.tsv", "a.txt", "a.csv.gz"):
        (tmp_path / name).touch()
        assert guess_format(tmp_path / name) == "csv"


@pytest.mark.parametrize(
    "lines", [("x.x..",), ("?????", "?????"), ("x.", "x."), ("xx...", "x....")]
)
def test_a_trace_on_which_all_policies_are_equal_is_refused(
    tmp_path: Path, lines: tuple[str, ...]
) -> None:
    save_trace(drawn(*lines), tmp_path / "saved")
    said = {
        "x.x..": "has one page",
        "?????": "has only unknown cells",
        "x.": "has 2 cycles, at least 3 are needed; record more days",
        "xx...": "has no change after the first 2 cycles",
    }
    with pytest.raises(BadInputError, match=said[lines[0]]):
        open_trace(tmp_path / "saved")


def test_a_trace_for_cold_crawls_needs_no_cycles_for_a_warm_up(tmp_path: Path) -> None:
    save_trace(drawn(".x", ".."), tmp_path / "short")
    trace = open_trace(tmp_path / "short", cold=True)
    [result] = run_policies(trace, ["age"], [0.5], seeds=1, cold=True)
    assert result.to_row(trace).cycles == 2
    save_trace(drawn("x....", "....."), tmp_path / "early")
    with pytest.raises(BadInputError, match="has no change after the first cycle, so"):
        open_trace(tmp_path / "early", cold=True)


def test_files_without_known_days_are_rejected(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    for text, said in [
        ("", "names no column page, time, changed"),
        ("page,time,changed\n", "no known day"),
        ("page,time,changed\na,0001-01-01,0\nb,2026-01-01,1\n", "looks span"),
    ]:
        file.write_text(text)
        with pytest.raises(BadInputError, match=said):
            open_trace(file)


def test_a_minimum_share_of_known_days_can_be_set(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "a.csv", "x??.x", "x.???", "??..?")
    said = r"on 80% of the 5 days from 2026-01-01 to 2026-01-05, the best one on 60\.0%"
    with pytest.raises(BadInputError, match=said):
        open_trace(file)
    trace = open_trace(file, least_known=0.4, impute=False)
    assert lines_of(trace) == ["x??.x", "x.???", "??..?"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"form": "pdf"},
            "'pdf' is not a trace format; use one of parquet, csv, bing, git, catalog",
        ),
        ({"form": "csv", "name": "snap"}, "a csv trace has no parts"),
        ({"form": "parquet", "name": "snapp"}, "'snapp' is not a trace of"),
    ],
)
def test_invalid_requests_are_rejected(tmp_path: Path, options: dict[str, str], said: str) -> None:
    write_csv(tmp_path / "a.csv", "x.x", "..x")
    with pytest.raises(UsageError, match=said):
        open_trace(tmp_path / "a.csv", **options)


def test_a_format_needs_a_path() -> None:
    with pytest.raises(UsageError, match="'csv' says how to read pages"):
        open_trace(None, form="csv")


@pytest.mark.parametrize("form", [*FORMATS, ""])
def test_missing_or_empty_input_is_rejected_in_every_format(tmp_path: Path, form: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.md").write_text("no pages")
    for where in (tmp_path / "missing", tmp_path / "empty", tmp_path / "file.md"):
        with pytest.raises(FreshetError) as refused:
            open_trace(where, form=form)
        assert str(tmp_path) in str(refused.value)
        assert 2 <= refused.value.exit_code <= 4


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "a.csv", "x.x?.", "..x.x", ".....")
    digest = open_trace(file).digest
    head, *rows = file.read_text().splitlines()
    file.write_text("\n".join([head, *reversed(rows)]))
    assert open_trace(file).digest == digest


@pytest.mark.parametrize("seed", range(3))
def test_observations_give_the_cells_that_they_were_made_of(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells = rng.choice(list("x..?"), (10, 20))
    cells[:, [0, -1]] = "."
    cells[:2] = np.where(cells[:2] == "?", "x", cells[:2])
    lines = ["".join(line) for line in cells]
    trace = open_trace(write_csv(tmp_path / "a.csv", *lines), impute=False, least_known=0.1)
    assert lines_of(trace) == lines
