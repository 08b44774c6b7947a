"""Back-testing policies from the command line."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest

from freshet.backtest.cycle_oracles import CYCLE_ORACLES
from freshet.cli.commands.research import simulate
from freshet.schedule.policies import LINK_POLICY_NAMES, POLICY_NAMES
from tests.cli.cli_runs import Run

Row = tuple[str, str, date, bool]
FIRST = date(2026, 1, 1)
KEYS = {"policy", "trace", "budget", "seeds", "changerate", "ndcg", "freshness", "pages", "cycles"}


def daily(pages: int, days: int, changes: Callable[[int, int], bool]) -> Iterator[Row]:
    """Yield what was observed of pages, day by day."""
    for page in range(pages):
        for day in range(days):
            moment = FIRST + timedelta(days=day)
            yield "some_snap", f"https://example.org/{page}", moment, changes(page, day)


def write(folder: Path, rows: Iterator[Row]) -> str:
    """Write observations into a folder and return its name."""
    columns = ["part", "page", "day", "changed"]
    frame = pl.DataFrame(list(rows), schema=columns, orient="row")
    frame.write_parquet(folder / "observations.parquet")
    return str(folder)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A folder of 40 pages seen on 12 days; the first four change daily, others now and then."""
    return write(tmp_path, daily(40, 12, lambda page, day: page < 4 or (7 * page + day) % 11 == 0))


def test_a_row_has_every_figure(run: Run, folder: str) -> None:
    result = run("simulate", folder, "--trace", "snap", "--policy", "age,cg", "--budget", "5%,10%",
              "--seeds", "2", "--json")  # fmt: skip
    rows = result.json
    assert [(row["policy"], row["budget"]) for row in rows] == [
        ("age", 0.05), ("cg", 0.05), ("age", 0.1), ("cg", 0.1),
    ]  # fmt: skip
    assert all(set(row) >= KEYS for row in rows)
    assert {(row["trace"], row["seeds"], row["pages"], row["cycles"]) for row in rows} == {
        ("snap", 2, 40, 12)
    }
    assert all(0 <= row[name] <= 1 for row in rows for name in ("changerate", "ndcg", "freshness"))


def test_weighted_measures_stand_beside_the_plain_ones(run: Run) -> None:
    options = ("simulate", "--continuous", "--trace", "living", "--pages", "60", "--cycles", "8",
               "--policy", "nad", "--seeds", "1")  # fmt: skip
    known, ignored = (
        run(*options, *extra, "--json").json[0] for extra in ((), ("--ignore-importance",))
    )
    assert known["weighted_changerate"] > ignored["weighted_changerate"]
    assert (known["importance_ignored"], ignored["importance_ignored"]) == (False, True)
    assert "weighted" in run(*options).out


def test_all_means_every_policy_and_oracle(run: Run, folder: str) -> None:
    rows = run("simulate", folder, "--seeds", "1", "--json").json
    assert {row["policy"] for row in rows} == {*POLICY_NAMES, *CYCLE_ORACLES}
    assert all(row["budget"] == 0.05 for row in rows)


def write_links(folder: Path) -> str:
    """Write a folder in which the pages that change daily have new links on weekdays."""
    write(folder, daily(40, 12, lambda page, day: page < 4 or (7 * page + day) % 11 == 0))
    file = folder / "observations.parquet"
    table = pl.read_parquet(file)
    new_links = pl.col("changed").cast(pl.Int32)
    table.with_columns(
        n_new_links_internal=2 * new_links,
        n_new_links_external=new_links,
        n_new_links_never_seen=new_links,
        n_links=pl.lit(4),
    ).write_parquet(file)
    return str(folder)


def test_the_objective_links_compares_policies_by_new_links(run: Run, tmp_path: Path) -> None:
    folder = write_links(tmp_path)
    arguments = ("simulate", folder, "--objective", "links", "--seeds", "1")
    rows = run(*arguments, "--json").json
    assert {*LINK_POLICY_NAMES, "age", "oracle-change"} <= {row["policy"] for row in rows}
    assert all(row["links_found"] == pytest.approx(20 * row["new_links"]) for row in rows)
    table = run(*arguments, "--policy", "bayes-links,age", "--against", "age").out.splitlines()
    assert table[2].split()[:3] == ["policy", "links", "found"]
    assert any(line.startswith("bayes-links  new_links") for line in table)


def test_the_kind_of_links_may_be_chosen(run: Run, tmp_path: Path) -> None:
    folder = write_links(tmp_path)
    found = {
        kind: run("simulate", folder, "--links", kind, "--policy", "age", "--budget", "100%",
                  "--seeds", "1", "--json").json[0]["links_found"]
        for kind in ("all", "internal", "external", "never-seen")
    }  # fmt: skip
    assert found["all"] == found["internal"] + found["external"] > found["internal"]
    assert found["never-seen"] == found["external"]


def test_new_links_are_found_in_continuous_time_too(run: Run, tmp_path: Path) -> None:
    folder = write_links(tmp_path)
    arguments = ("simulate", folder, "--continuous", "--objective", "links", "--seeds", "1")
    rows = run(*arguments, "--policy", "bayes-links", "--budget", "100%", "--json").json
    assert 0 < rows[0]["links_detected"] <= 1
    assert rows[0]["links_found"] > 0


def test_a_trace_without_links_has_no_objective_links(run: Run, folder: str) -> None:
    result = run("simulate", folder, "--objective", "links", "--policy", "age")
    assert "has no numbers of new links: give a TRACE of recorded pages" in result.err


def test_policies_may_be_named_one_by_one_and_count_once(run: Run, folder: str) -> None:
    result = run(
        "simulate", folder, "--policy", "age,rand", "--policy", "age", "--seeds", "1", "--json"
    )
    assert [row["policy"] for row in result.json] == ["age", "rand"]


def test_people_see_a_table(run: Run, folder: str) -> None:
    result = run(
        "simulate", folder, "--trace", "snap", "--policy", "oracle-change", "--budget", "2.5%"
    )
    lines = result.out.splitlines()
    assert lines[0] == (
        "snap: 40 pages, 12 cycles, 100.0% of the cells known; means of 3 seeds"
        "; first visits not counted (--cold counts them)"
    )
    assert lines[1] == "budget 2.5% of the pages per cycle: 1 visit"
    assert lines[2].split()[:3] == ["policy", "changerate", "ndcg"]
    assert lines[3].split()[:3] == ["oracle-change", "1.000", "1.000"]


def test_several_budgets_stand_in_the_table(run: Run, folder: str) -> None:
    lines = run("simulate", folder, "--policy", "age", "--budget", "5%,10%").out.splitlines()
    assert lines[1].split()[:3] == ["policy", "budget", "changerate"]
    assert [line.split()[1] for line in lines[2:]] == ["5%", "10%"]


def test_without_a_folder_the_pages_are_generated(run: Run) -> None:
    words = ("simulate", "--pages", "300", "--cycles", "8", "--policy", "age", "--seeds", "1")
    first_line = run(*words).out.splitlines()[0]
    assert first_line.startswith("brdc: 300 pages, 8 cycles, generated; means of 1 seed; first ")
    row = run(*words, "--trace", "outlinks", "--json").json[0]
    assert (row["trace"], row["pages"], row["cycles"]) == ("outlinks", 300, 8)


def test_a_recorded_trace_needs_a_folder(run: Run) -> None:
    result = run("simulate", "--trace", "snap")
    assert result.code == 2
    assert "'snap' is not a trace without a folder; choose brdc" in result.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--budget", "0%"), "'0%' is not a share"),
        (("--budget", "101%"), "'101%' is not a share"),
        (("--budget", "5"), "write 5%"),
        (("--budget", "nan"), "'nan' is not a share"),
        (("--budget", ""), "'' is not a share"),
        (("--budget", "\uff15%"), "is not a share"),
        (("--budget", "1e-2"), "write 5% or 0.05"),
        (("--policy", "nuttch"), "did you mean nutch?"),
        (("--policy", "Nad"), "did you mean nad?"),
        (("--policy", "age,"), "'' is not a policy"),
        (("--trace", "snapp"), "'snapp' is not a trace"),
        (("--seeds", "0"), "--seeds"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(
    run: Run, folder: str, words: tuple[str, ...], message: str
) -> None:
    result = run("simulate", folder, *words)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("pages", "days", "message"),
    [
        (0, 0, "no page"),
        (1, 10, "one page"),
        (5, 2, "2 cycles"),
        (5, 10, "no change"),
    ],
)
def test_a_trace_on_which_all_policies_are_equal_is_refused(
    run: Run, tmp_path: Path, pages: int, days: int, message: str
) -> None:
    folder = write(tmp_path, daily(pages, days, lambda page, day: pages == 1))
    result = run("simulate", folder)
    assert (result.code, result.out) == (4, "")
    assert message in result.err


def test_pages_that_are_hardly_known_make_no_trace(run: Run, tmp_path: Path) -> None:
    rows = daily(10, 10, lambda page, day: True)
    one_day_each = (row for row in rows if row[2].day == 1 + int(row[1][-1]))
    result = run("simulate", write(tmp_path, one_day_each))
    assert result.code == 4
    assert "no page with enough known days" in result.err


def test_a_folder_without_observations_is_refused(run: Run, tmp_path: Path) -> None:
    result = run("simulate", str(tmp_path))
    assert result.code == 4
    assert "contains no observations.parquet" in result.err


def test_a_file_that_is_no_table_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "observations.parquet").write_bytes(b"PAR1 or not")
    result = run("simulate", str(tmp_path))
    assert result.code == 4
    assert "not readable as Parquet" in result.err


def test_a_table_without_the_columns_is_refused(run: Run, tmp_path: Path) -> None:
    pl.DataFrame({"page": ["a"], "day": [FIRST]}).write_parquet(tmp_path / "observations.parquet")
    result = run("simulate", str(tmp_path))
    assert result.code == 4
    assert "has no column part, changed" in result.err


def test_a_row_tells_how_sure_its_figures_are(run: Run, folder: str) -> None:
    words = ("simulate", folder, "--policy", "rand", "--budget", "10%", "--json")
    several_seeds, single_seed = (
        run(*words, "--seeds", "4").json[0],
        run(*words, "--seeds", "1").json[0],
    )
    assert 0 < several_seeds["changerate_ci"] < 1
    assert 0 < several_seeds["freshness_ci"] < 1
    assert single_seed["changerate_ci"] is None
    assert several_seeds["new_links"] is None
    assert 0 < several_seeds["detected"] < 1
    assert 0 < several_seeds["time_to_detection"] < 12


def test_policies_are_tested_against_one_of_them(run: Run, folder: str) -> None:
    words = ("simulate", folder, "--policy", "oracle-change", "--against", "rand", "--seeds", "2")
    rows = run(*words, "--json").json
    assert [row["policy"] for row in rows] == ["oracle-change", "rand"]
    assert rows[1]["against"] == []
    comparisons = {comparison["measure"]: comparison for comparison in rows[0]["against"]}
    assert set(comparisons) == {"changerate", "ndcg", "freshness"}
    assert comparisons["changerate"]["policy"] == "rand"
    assert comparisons["changerate"]["difference"] > 0
    assert comparisons["changerate"]["p"] < 0.05
    difference = rows[0]["freshness"] - rows[1]["freshness"]
    assert comparisons["freshness"]["difference"] == pytest.approx(difference)
    cycles = sum(comparisons["freshness"][name] for name in ("won", "lost", "tied"))
    assert cycles == rows[0]["cycles"] - 2
    lines = run(*words).out.splitlines()
    assert "against rand, cycle by cycle" in lines
    assert lines[-1].split()[:2] == ["oracle-change", "freshness"]


def test_only_one_policy_can_be_the_one_to_beat(run: Run, folder: str) -> None:
    for against in ("age,cg", "all"):
        result = run("simulate", folder, "--against", against)
        assert (result.code, result.out) == (2, "")
        assert "is not one policy" in result.err
    assert run("simulate", folder, "--against", "nuttch").code == 2


def test_guessed_cells_are_reported(run: Run, tmp_path: Path) -> None:
    """Of four pages seen on 20 days, two days of each are not known; all change every other day."""
    lines = [
        f"https://example.org/{page},{FIRST + timedelta(days=day)},{day % 2}"
        for page in range(4)
        for day in range(20)
        if day not in {11 + page, 12 + page}
    ]
    (tmp_path / "seen.csv").write_text("\n".join(["page,time,changed", *lines]))
    words = ("simulate", str(tmp_path / "seen.csv"), "--policy", "age", "--seeds", "1")
    assert "90.0% of the cells known, the rest imputed;" in run(*words).out
    assert "the rest taken as unchanged;" in run(*words, "--no-impute").out
    assert run(*words, "--json").json[0]["imputed"]
    assert not run(*words, "--no-impute", "--json").json[0]["imputed"]


def test_a_back_test_that_is_stopped_keeps_nothing_and_says_so(
    run: Run, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*asked: object, **options: object) -> Iterator[None]:
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(simulate, "run_policies", stopped)
    result = run("simulate", folder, "--policy", "age")
    assert (result.code, result.out) == (130, "")
    assert "the back-test keeps nothing" in result.err


@pytest.mark.parametrize("suffix", ["csv", "parquet", "json"])
def test_every_cycle_is_written_on_request(
    run: Run, folder: str, tmp_path: Path, suffix: str
) -> None:
    file = tmp_path / f"curves.{suffix}"
    words = ("--policy", "age,cg", "--budget", "5%,10%", "--seeds", "2", "--curves", str(file))
    row = run("simulate", folder, *words, "--json").json[0]
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "json": pl.read_json}[suffix]
    table = read(file)
    assert f"wrote the measures of every cycle to {file}" in run("simulate", folder, *words).out
    assert len(table) == 2 * 2 * 2 * 10
    first = table.filter(policy="age", budget=0.05)
    assert first["cycle"].to_list() == [*range(2, 12)] * 2
    assert first["freshness"].mean() == pytest.approx(row["freshness"])
    assert first["new_links"].null_count() == len(first)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("curves.txt", "must end in .csv"),
        ("none/curves.csv", "cannot be written"),
        (".", "must end"),
    ],
)
def test_a_file_that_cannot_hold_curves_is_refused_at_once(
    run: Run, folder: str, tmp_path: Path, name: str, message: str
) -> None:
    result = run("simulate", folder, "--curves", str(tmp_path / name))
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_live_policies_race_in_continuous_time(run: Run, folder: str) -> None:
    words = ("simulate", folder, "--continuous", "--seeds", "2", "--budget", "10%")
    rows = run(*words, "--json").json
    by_name = {row["policy"]: row for row in rows}
    assert set(by_name) >= {"age", "bayes-freshness", "oracle-life", "known-rate"}
    assert all(row["ndcg"] is None for row in rows)
    assert all(0 <= row["changerate"] <= 1 for row in rows)
    assert all(0 < row["freshness"] < 1 for row in rows)
    best = max(row["freshness"] for row in rows if not row["policy"].startswith("oracle"))
    assert by_name["oracle-life"]["freshness"] > best
    table = run(*words, "--policy", "t*X,age", "--against", "age").out
    assert "against age" in table
    assert "ndcg" not in table


def test_a_living_web_has_moments_of_its_own(run: Run) -> None:
    words = ("simulate", "--trace", "living", "--pages", "120", "--cycles", "8", "--seeds", "1")
    rows = run(*words, "--continuous", "--policy", "age,oracle-life", "--json").json
    assert [(row["trace"], row["pages"], row["cycles"]) for row in rows] == [("living", 120, 8)] * 2
    assert rows[0]["freshness"] < rows[1]["freshness"]
    result = run(*words)
    assert result.code == 2
    assert "add --continuous" in result.err


@pytest.mark.parametrize("mode", [[], ["--continuous"]])
def test_a_cold_start_counts_first_visits(run: Run, folder: str, mode: list[str]) -> None:
    arguments = ["simulate", folder, "--policy", "age", "--budget", "10%", "--seeds", "1", *mode]
    warm, cold = (run(*arguments, *more, "--json").json[0] for more in ([], ["--cold"]))
    assert (warm["cold"], cold["cold"]) == (False, True)
    assert cold["changerate"] < warm["changerate"]
    assert cold["freshness"] < warm["freshness"]
    assert "; means of 1 seed, from a cold start" in run(*arguments, "--cold").out
    assert "--cold counts them" in run(*arguments).out


def test_site_wide_days_are_named_and_kept_unless_told_otherwise(run: Run, tmp_path: Path) -> None:
    rows = daily(40, 12, lambda page, day: day == 5 or (7 * page + day) % 11 == 0)
    folder = write(tmp_path, rows)
    line = "1 site-wide day {}: 2026-01-06 some_snap (100% of 40 pages)"
    for trace, options, action in (
        ("mixed", [], "dropped"), ("raw", [], "kept"),
        ("mixed", ["--keep-site-wide-days"], "kept"), ("raw", ["--drop-site-wide-days"], "dropped"),
    ):  # fmt: skip
        arguments = ["simulate", folder, "--trace", trace, "--policy", "age", "--seeds", "1"]
        assert run(*arguments, *options).out.splitlines()[1] == line.format(action)
        row = run(*arguments, *options, "--json").json[0]
        assert (row["site_wide_days"], row["site_wide_days_dropped"]) == (1, action == "dropped")
        assert row["cycles"] == (11 if action == "dropped" else 12)


def test_a_saved_trace_knows_its_site_wide_days_and_cannot_drop_them(
    run: Run, tmp_path: Path
) -> None:
    folder = write(tmp_path, daily(40, 12, lambda page, day: day == 5 or page == day))
    saved = str(tmp_path / "saved")
    run("export", "trace", saved, "--from", folder, "--trace", "raw")
    result = run("simulate", saved, "--policy", "age", "--seeds", "1")
    assert result.out.splitlines()[1].startswith("1 site-wide day kept: 2026-01-06 some_snap")
    refused = run("simulate", saved, "--drop-site-wide-days")
    assert "--drop-site-wide-days has no effect here: a saved trace has fixed days" in refused.err
    generated = run("simulate", "--keep-site-wide-days")
    assert "--drop-site-wide-days has no effect here" in generated.err


def test_recorded_moments_are_used_in_continuous_time(run: Run, tmp_path: Path) -> None:
    rows = [
        f"https://example.org/{page},{FIRST + timedelta(days=day)}T{hour:02}:00:00Z,{int(changed)}"
        for page in range(4)
        for day in range(6)
        for hour, changed in ((3, False), (9, (page + day) % 2), (15, False))
    ]
    file = tmp_path / "looks.csv"
    file.write_text("\n".join(["page,time,changed", *rows]) + "\n")
    arguments = ["simulate", str(file), "--policy", "age", "--budget", "50%", "--seeds", "1"]
    note = ", 100% of the changes at recorded moments; means of 1 seed"
    assert note in run(*arguments, "--continuous").out
    assert "recorded moments" not in run(*arguments).out
    saved = str(tmp_path / "saved")
    run("export", "trace", saved, "--from", str(file))
    assert note in run("simulate", saved, *arguments[2:], "--continuous").out
