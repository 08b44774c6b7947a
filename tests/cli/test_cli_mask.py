"""freshet mask: the rules of a page's mask are shown and edited."""

from dataclasses import replace
from pathlib import Path

import pytest

from freshet.core.types import Snapshot
from tests.cli.cli_runs import NEWS, Run
from tests.record.record_samples import URL, html, make_collection, observe, record


def test_a_page_without_a_mask_says_so(run: Run, collection: Path) -> None:
    assert run("mask", NEWS).out.strip() == f"The mask of {NEWS} has no rules."


def test_rules_are_added_shown_and_taken_out_for_good(run: Run, collection: Path) -> None:
    added = run("mask", NEWS, "--hide", "read # minutes ago", "--hide", "/html/body/h1", "--json")
    assert [row["rule"]["what"] for row in added.json["rules"]] == [
        "read # minutes ago",
        "/html/body/h1",
    ]
    assert (added.json["version"], added.json["measured"]) == (1, None)
    result = run("mask", NEWS, "--show", "1")
    assert "Never masked: read # minutes ago" in result.out
    assert f"'freshet mask {NEWS} --again' recomputes them" in result.out
    assert run("mask", NEWS, "--json").json["never"] == ["read # minutes ago"]


def test_earlier_visits_are_measured_again_on_request(run: Run, collection: Path) -> None:
    before = sum(bool(row["change"]) for row in run("history", NEWS, "--json").json)
    measured = run("mask", NEWS, "--hide", "/html/body/ul", "--again", "--json").json["measured"]
    assert measured == before
    changes = [row["change"] for row in run("history", NEWS, "--json").json]
    assert {change["mask"] for change in changes if change} == {1}


def test_learning_nothing_is_said(run: Run, collection: Path) -> None:
    result = run("mask", "https://club.example/rules", "--learn")
    assert "No new rule was learned from the stored versions." in result.out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--hide", "*"), 2, "hides the whole of every page"),
        (("--hide", ""), 2, "hides the whole of every page"),
        (("--hide", "/html/body"), 2, "hides the whole of every page"),
        (("--hide", "/html[x]/p"), 2, "cannot be parsed"),
        (("--hide", "x" * 501), 2, "use at most 500"),
        (("--hide", "/html/body" + "/div" * 200), 2, "use at most 500"),
        (("--hide", "/html/body/../p"), 2, "cannot be parsed"),
        (("--show", "7"), 3, "has no rule '7'"),
        (("--show", "no such rule"), 3, "has no rule"),
    ],
)
def test_what_cannot_be_a_rule_is_refused(
    run: Run, collection: Path, words: tuple[str, str], code: int, message: str
) -> None:
    result = run("mask", NEWS, *words)
    assert (result.code, message in result.err) == (code, True)
    assert run("mask", NEWS, "--json").json["version"] == 0


def test_a_page_that_is_too_large_to_learn_from_is_said_to_be(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make_collection(tmp_path / "c") as page:
        record(page, [observe(0, html("one") + b" " * 2_000_000)])
    monkeypatch.chdir(tmp_path / "c")
    assert "No mask is learned for this page, because it has 2,000," in run("mask", URL).out
    assert "bytes, more than 2,000,000" in run("mask", URL, "--json").json["not_learnt"]


@pytest.mark.parametrize("words", [(), ("--learn",)])
def test_a_page_of_too_many_lines_to_learn_from_is_said_to_be(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    with make_collection(tmp_path / "c") as made:
        text = "\n".join(f"line {number}" for number in range(5_001))
        page = Snapshot(URL, text.encode(), headers=(("Content-Type", "text/plain"),))
        record(made, [replace(observe(0), snapshot=page)])
    monkeypatch.chdir(tmp_path / "c")
    message = "5,001 lines, more than 4,000"
    assert (
        f"No mask is learned for this page, because it has {message}."
        in run("mask", URL, *words).out
    )
    assert run("mask", URL, *words, "--json").json["not_learnt"] == message
