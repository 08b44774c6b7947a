"""Analysing pages: one in full, all in groups, and their pictures."""

import math
import subprocess
import sys
from pathlib import Path

import pytest

import freshet
from freshet.measure.statistics.burst_table import BurstInterval
from tests.cli.cli_runs import NEWS, CommandResult, Run
from tests.record.record_samples import observe, record

CLUB = "https://club.example/rules"
CLOCK = "https://status.example/"


@pytest.fixture
def news(run: Run, collection: Path) -> CommandResult:
    return run("analyse", NEWS)


def test_a_page_is_described_in_full(news: CommandResult) -> None:
    assert news.code == 0
    assert "28 from 2026-01-05 to 2026-02-01" in news.out
    assert "19 in 27 comparisons (bytes 19, text 19" in news.out
    assert "1.3 days on average" in news.out
    assert "words, compared with other pages of the collection" in news.out


def test_words_that_stay_and_words_that_pass_are_listed(run: Run, collection: Path) -> None:
    words = run("analyse", NEWS, "--json").json["words"]
    assert {"herald", "valley"} <= set(words["stay_high"] + words["stay_low"])
    assert words["stay"] + words["go"] <= words["total"]
    assert not words["alone"]


def test_blocks_are_listed_by_their_changes(run: Run, collection: Path) -> None:
    blocks = run("analyse", NEWS, "--json").json["blocks"]
    habits = {block["text"]: (block["habit"], block["changes"]) for block in blocks}
    assert habits["The Valley Herald"] == ("stays", 0)
    assert habits["Printed on recycled electrons."] == ("stays", 0)
    assert max(block["changes"] for block in blocks) >= 19
    assert all(0.0 <= block["presence"] <= 1.0 for block in blocks)


def test_a_curve_is_printed_with_its_points(run: Run, collection: Path) -> None:
    curve = run("analyse", NEWS, "--json").json["curve"]
    assert curve["dice"][0] == 1.0
    assert len(curve["dice"]) == len(curve["hours"]) == len(curve["counts"])
    assert curve["hours"][1] == 24.0


def test_a_calendar_tells_days_without_a_look_from_days_without_a_change(
    run: Run, collection: Path
) -> None:
    days = {row["day"]: row for row in run("analyse", CLUB, "--json").json["days"]}
    assert "2026-01-25" not in days  # a captcha was all that was seen
    assert days["2026-01-24"] == {"day": "2026-01-24", "looks": 1, "changes": 0}
    lines = run("analyse", CLUB).out.splitlines()
    [sundays] = [line for line in lines if line.strip().startswith("Sun ")]
    assert sundays.split()[1] == "▁▁·▁"


def test_a_calendar_names_its_months(run: Run, collection: Path) -> None:
    lines = run("analyse", CLUB).out.splitlines()
    [heads] = [line for line in lines if line.strip().startswith("2026 ")]
    assert heads.split() == ["2026", "Jan"]


def test_blocks_that_change_together_are_listed(run: Run, collection: Path) -> None:
    document = run("analyse", NEWS, "--json").json
    paths = [block["path"] for block in document["blocks"]]
    assert document["together"]
    for bound in document["together"]:
        assert len(bound["blocks"]) > 1
        assert set(bound["blocks"]) <= set(paths)
        assert len(bound["times"]) > 1
    groups = len(document["together"])
    burst_rows = f"{groups} group{'s' * (groups > 1)} of blocks that always change together"
    assert burst_rows in run("analyse", NEWS).out


def test_blocks_and_words_are_listed_up_to_the_limit(run: Run, collection: Path) -> None:
    out = run("analyse", NEWS, "--limit", "2").out
    assert "the 2 that change most" in out


def test_pages_are_grouped_and_tested(run: Run, collection: Path) -> None:
    result = run("analyse", "--by", "host")
    assert "6 pages, 6 with two or more looks." in result.out
    assert "6 groups by host" in result.out
    assert "not tested, fewer than two groups have 5 pages with a figure" in result.out
    document = run("analyse", "--json").json
    assert (document["by"], document["pages"]) == ("tld", 6)
    assert [row["name"] for row in document["groups"]] == ["example"]
    assert document["total"]["never_changed"] == pytest.approx(1 / 6)


def test_the_largest_groups_are_listed_up_to_the_limit(run: Run, collection: Path) -> None:
    result = run("analyse", "--by", "host", "--limit", "2")
    assert "6 groups by host, the 2 largest" in result.out


def test_groups_may_be_those_of_a_tag(run: Run, collection: Path) -> None:
    run("tag", "front", NEWS)
    assert run("analyse", "--by", "tag", "--tag", "front", "--json").json["pages"] == 1
    assert "2 groups by tag" in run("analyse", "--by", "tag").out


def test_a_period_may_be_analysed(run: Run, collection: Path) -> None:
    period = ("--since", "2026-01-10T00:00+00:00", "--until", "2026-01-20T00:00+00:00")
    summary = run("analyse", NEWS, *period, "--json").json["summary"]
    assert 5 <= summary["looks"] <= 11
    assert summary["changes"] < summary["looks"]
    assert run("analyse", *period, "--json").json["pages"] == 6
    result = run("analyse", NEWS, "--since", "spring")
    assert result.code == 2
    assert "--since 'spring' is not a time; write it as 2026-03-01T12:00" in result.err


def test_lifespans_and_similar_blocks_are_in_the_document(run: Run, collection: Path) -> None:
    document = run("analyse", NEWS, "--json").json
    masthead = next(row for row in document["blocks"] if row["text"] == "The Valley Herald")
    assert masthead["constant"]
    assert masthead["lifespan_hours"] == masthead["page_lifespan_hours"] == 27 * 24
    for group in document["similar_lifespans"]:
        assert len(group["blocks"]) > 1
        assert group["hours"] == sorted(group["hours"])
    assert document["summary"]["traits"]["unbroken_survival"]


def test_pages_are_grouped_by_their_visitors(run: Run, collection: Path) -> None:
    run("set", "importance=40", "--page", NEWS)
    document = run("analyse", "--by", "visitors", "--json").json
    assert [(row["name"], row["pages"]) for row in document["groups"]] == [("2", 5), ("39+", 1)]


def test_all_pictures_of_a_page_are_written(run: Run, collection: Path) -> None:
    document = run("analyse", NEWS, "--pictures", "drawn", "--format", "svg", "--json").json
    names = [Path(name).name for name in document["files"]]
    assert names == [
        "changes.svg", "curve.svg", "words.svg", "staying-power.svg", "blocks.svg",
        "survival.svg", "calendar.svg",
    ]  # fmt: skip
    assert document["not_drawn"] == []
    assert sorted(path.name for path in Path("drawn").iterdir()) == sorted(names)
    assert "The Valley Herald" in Path("drawn/blocks.svg").read_text("utf-8")
    assert "herald" in Path("drawn/words.svg").read_text("utf-8")


def test_pictures_of_groups_are_written(run: Run, collection: Path) -> None:
    result = run("analyse", "--by", "host", "--pictures", "drawn", "--format", "svg")
    assert "Wrote 6 charts in drawn" in result.out
    assert "news.example (1)" in Path("drawn/intervals-by-host.svg").read_text("utf-8")


def test_no_empty_picture_is_written(run: Run, empty: Path) -> None:
    run("add", NEWS)
    result = run("analyse", NEWS, "--pictures", "drawn")
    assert result.code == 0
    assert "has no looks yet" in result.out
    assert "Wrote 0 charts" in result.out
    assert list(Path("drawn").iterdir()) == []
    assert "no calendar: the page has no looks" in result.err
    assert "no change curve: the page has no looks" in result.err


def test_one_version_is_too_little_for_a_curve(run: Run, empty: Path) -> None:
    Path("seen.csv").write_text("page,time,changed\nhttps://a.org/,2024-01-01,1\n")
    run("import", "csv", "seen.csv", "--source", "")
    out = run("analyse", "https://a.org/").out
    assert "too little data" in out
    assert run("analyse", "https://a.org/", "--json").json["curve"]["shape"] is None


def test_of_blocks_seen_once_nothing_is_said(run: Run, empty: Path) -> None:
    run("add", NEWS)
    with freshet.open(Path.cwd()) as opened:
        record(opened, [observe(0, b"<p>one<p>two", url=NEWS)])
    assert "2 blocks, seen once: too little data about their behaviour." in run("analyse", NEWS).out
    blocks = run("analyse", NEWS, "--json").json["blocks"]
    assert [block["habit"] for block in blocks] == ["seen once", "seen once"]


def test_a_masked_page_says_what_its_mask_does_not_touch(run: Run, collection: Path) -> None:
    mask_note = "blocks cover the whole page"
    assert mask_note not in run("analyse", NEWS).out
    run("mask", NEWS, "--hide", "/html/body/h1")
    assert mask_note in run("analyse", NEWS).out
    assert run("analyse", NEWS, "--json").json["masked"]


def test_bursts_are_listed_below_the_groups(
    run: Run, collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "change within the hour" not in run("analyse").out
    rows = [
        BurstInterval(0, 4, 0.25, 0.25, 0.9, 0.95, 1),
        BurstInterval(2, 4, 0.5, 0.25, math.nan, math.nan),
    ]
    monkeypatch.setattr(
        "freshet.analysis.collection_analysis.collection_burst_table", lambda _: rows
    )
    lines = run("analyse").out.split("change within the hour")[1].splitlines()
    assert [line.split() for line in lines[2:4]] == [
        ["at", "once", "4", "25.0%", "25.0%", "0.900", "0.950", "1"],
        ["2", "minutes", "4", "25.0%", "50.0%"],
    ]
    burst_rows = run("analyse", "--json").json["rounds"]
    assert [(row["minutes"], row["any"], row["mean_dice"]) for row in burst_rows] == [
        (0, 0.25, 0.9),
        (2, 0.5, None),
    ]
    assert run("analyse", "--tag", "front", "--json").json["rounds"] == []


def test_a_page_is_rendered_with_its_blocks_tinted(run: Run, collection: Path) -> None:
    assert "Wrote page.html" in run("analyse", NEWS, "--render", "page.html").out
    page = Path("page.html").read_text("utf-8")
    assert "The Valley Herald" in page
    assert "default-src 'none'" in page
    assert "<script" not in page


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--by", "colour"), 2, "is not a grouping"),
        ((NEWS, "--by", "tld"), 2, "a URL cannot be combined"),
        ((NEWS, "--tag", "front"), 2, "a URL cannot be combined"),
        (("--render", "page.html"), 2, "--render needs the URL of a page"),
        (("--language", "source"), 2, "--language needs the URL of a page"),
        (("--language", "collection"), 2, "--language needs the URL of a page"),
        ((NEWS, "--format", "gif"), 2, "gif"),
        (("https://nowhere.example/",), 3, "is not in"),
        ((NEWS, "--pictures", "freshet.toml/x"), 5, "cannot hold charts"),
        ((NEWS, "--render", "no/page.html"), 5, "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    run: Run, collection: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    result = run("analyse", *words)
    assert result.code == code
    assert result.err.count("\n") == 1
    assert message in result.err


def test_a_collection_without_pages_says_so(run: Run, empty: Path) -> None:
    assert "There are no pages to analyse." in run("analyse").out
    result = run("analyse", "--pictures", "drawn")
    assert "Wrote 0 charts" in result.out
    assert "no histogram of intervals" in result.err


def test_a_page_that_changes_at_every_look_is_reported_as_such(run: Run, collection: Path) -> None:
    document = run("analyse", CLOCK, "--json").json
    assert document["summary"]["changes"] == 27
    always = [block["text"] for block in document["blocks"] if block["habit"] == "always changes"]
    assert any(text.startswith("Checked at") for text in always)


def test_only_commands_that_draw_load_what_draws() -> None:
    code = (
        "import sys; from freshet.cli.app import COMMANDS, load_command;"
        "[load_command(name) for name in COMMANDS if name != 'analyse'];"
        "sys.exit(bool({'altair', 'vl_convert'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


WITHOUT_CHARTS = """
import sys
sys.modules["altair"] = sys.modules["vl_convert"] = None
from freshet.cli.app import main
main()
"""


def run_without_charts(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command where the packages that draw charts are not installed."""
    command = [sys.executable, "-c", WITHOUT_CHARTS, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_an_analysis_without_charts_needs_no_chart_package(collection: Path) -> None:
    result = run_without_charts("analyse", NEWS, "--collection", str(collection))
    assert (result.returncode, result.stderr) == (0, "")


def test_charts_without_their_packages_fail_with_one_line(collection: Path) -> None:
    folder = str(collection.parent / "pictures")
    result = run_without_charts("analyse", "--pictures", folder, "--collection", str(collection))
    assert result.returncode == 2
    assert result.stderr.strip().endswith(
        "charts need altair and vl-convert-python; install it with: pip install '.[charts]' in the "
        "checkout of Freshet"
    )
    assert result.stderr.count("\n") == 1
