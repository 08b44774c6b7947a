"""What differs: in short since a time, as a page of HTML, and under a page's mask."""

import re
from pathlib import Path

import pytest

import freshet
from freshet.core.clock import SystemClock
from tests.cli.cli_runs import NEWS, Run

CLUB = "https://club.example/rules"


def hide(folder: Path, url: str, pattern: str) -> None:
    with freshet.open(folder) as opened:
        body = {"patterns": [pattern]}
        opened.catalog.add_mask_version(opened.page(url).id, body, SystemClock().now())


@pytest.mark.parametrize("since", ["4", "-25", "2026-01-08", "2026-01-08T12:00"])
def test_news_since_a_version_or_a_time_is_short(run: Run, collection: Path, since: str) -> None:
    result = run("diff", NEWS, "--since", since)
    head, text = result.out.splitlines()
    assert head == f"{NEWS}  2026-01-08 06:00 UTC (v4) → 2026-02-01 06:00 UTC (v28)"
    assert 0 < len(text) <= 300
    document = run("diff", NEWS, "--since", since, "--json").json
    assert document["text"] == text
    assert (document["old"]["number"], document["new"]["number"]) == (4, 28)


def test_news_are_of_the_last_version_and_were_not_there_before(run: Run, collection: Path) -> None:
    text = run("diff", NEWS, "--since", "4", "--json").json["text"]
    with freshet.open(collection) as opened:
        page = opened.page(NEWS)
        old, new = (" ".join(page.view(versions).text.split()) for versions in (4, -1))
    for sentence in text.strip("…").split(" … "):
        assert sentence in new
        assert sentence not in old


def test_where_nothing_is_new_that_is_said(run: Run, collection: Path) -> None:
    assert "There is no new text." in run("diff", CLUB, "--since", "1").out
    assert "There is no newer version." in run("diff", CLUB, "--since", "-1").out
    assert run("diff", CLUB, "--since", "1", "--json").json["text"] == ""


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--since", "2020-01-01"), 3, "first seen"),
        (("--since", "soon"), 2, "is not a version"),
        (("1", "--since", "2"), 2, "--since cannot be combined"),
        (("--since", "2", "--html", "a.html"), 2, "--since cannot be combined"),
        (("--html", "."), 2, "is not a file"),
        (("--html", "nowhere/a.html"), 5, "cannot be written"),
    ],
)
def test_an_impossible_comparison_is_one_line(
    run: Run, collection: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    result = run("diff", NEWS, *words)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert result.err.count("\n") == 1


def test_a_difference_is_written_as_a_page_that_loads_nothing(run: Run, collection: Path) -> None:
    assert run("diff", NEWS, "4", "5", "--html", "d.html").out == "Wrote d.html.\n"
    page = Path("d.html").read_text("utf-8")
    assert "<ins>Council harvest" in page
    assert "<del>Harvest museum" in page
    assert "2026-01-08 06:00 UTC (v4) → 2026-01-09 06:00 UTC (v5)" in page
    assert "https://news.example/story/16" in page
    assert not re.search(r"<script|\ssrc=|\shref=|url\(|@import", page)


def test_a_page_of_a_difference_can_come_with_json(run: Run, collection: Path) -> None:
    assert run("diff", NEWS, "4", "5", "--html", "d.html", "--json").json["words"]
    assert Path("d.html").exists()


def test_what_a_mask_hides_is_shown_and_said_to_count_for_nothing(
    run: Run, collection: Path
) -> None:
    with freshet.open(collection) as opened:
        old, new = (opened.page(NEWS).view(versions).text for versions in (4, 5))
    lines = [line for line in {*old.splitlines()} ^ {*new.splitlines()} if line.strip()]
    assert "counts as no change" not in run("diff", NEWS, "4", "5").out
    with freshet.open(collection) as opened:
        page, now = opened.page(NEWS), SystemClock().now()
        opened.catalog.add_mask_version(page.id, {"patterns": lines}, now)
    result = run("diff", NEWS, "4", "5")
    assert (
        "These differences do not count as a change because of counts_as text and mask 1."
        in result.out
    )
    assert "{+" in result.out
    change = run("diff", NEWS, "4", "5", "--json").json["change"]
    assert (change["changed"], change["text"], change["mask"]) == (False, True, 1)


def test_news_leave_out_what_a_mask_hides(run: Run, collection: Path) -> None:
    text = run("diff", NEWS, "--since", "4", "--json").json["text"]
    sentence = text.strip("…").split(" … ")[0]
    hide(collection, NEWS, sentence)
    assert sentence not in run("diff", NEWS, "--since", "4", "--json").json["text"]
