"""Learning a formula from the command line."""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from freshet.formula.expression import Formula
from freshet.learning.evolve.result import EvolutionResult
from freshet.learning.evolve.task import EvolutionTask
from tests.cli.cli_runs import Run
from tests.cli.test_cli_simulate import daily, write

SMALL = (
    "--population",
    "12",
    "--generations",
    "3",
    "--kept",
    "5",
    "--seeds",
    "2",
    "--budget",
    "10%",
)

# Runs the command line and sends signals to its own process once a checkpoint is written.
DRIVER = """
import os, sys
from freshet.cli.app import main
from freshet.learning.evolve import evolution

signals = [int(number) for number in sys.argv.pop(1).split(",")]
write = evolution.write_checkpoint

def write_and_signal(*words):
    write(*words)
    for number in signals:
        os.kill(os.getpid(), number)

evolution.write_checkpoint = write_and_signal
main()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder of 40 pages seen on 12 days, with the command line standing beside it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pages").mkdir()
    rows = daily(40, 12, lambda page, day: page % 5 == 0 or (7 * page + day) % 11 == 0)
    return write(tmp_path / "pages", rows)


def words(folder: str, *more: str) -> Sequence[str]:
    return ("evolve", folder, "--trace", "snap", *SMALL, *more)


def test_people_see_the_formula_what_it_was_learnt_on_and_its_place(run: Run, folder: str) -> None:
    result = run(*words(folder))
    lines = result.out.splitlines()
    model = json.loads(Path("formula.json").read_text("utf-8"))
    assert result.code == 0
    assert lines[0] == model["formula"]
    assert lines[1] == (
        f"learned on snap for ndcg at 10%: 16 pages for training ({model['training']:.3f}), "
        f"16 for validation ({model['validation']:.3f}), 8 for the test; 12 cycles; "
        "model file formula.json"
    )
    assert lines[3] == "Result of each search"
    assert lines[4].split() == ["fold", "seed", "training", "validation", "test", "formula"]
    assert lines[8] == "Comparison on the test pages, means of 3 seeds"
    assert lines[9].split() == ["policy", "changerate", "ndcg", "freshness"]
    document = {line.split("  ")[0] for line in lines[10:]}
    assert document == {
        "learned", "rand", "age", "cg", "nad", "sad", "aad", "gad", "t * X", "bayes-changes",
        "bayes-freshness", "oracle-change (oracle)", "oracle-life (oracle)",
        "known-rate (oracle)", "known-rate-changes (oracle)",
    }  # fmt: skip
    assert "the test has only 1 visit per cycle on 8 pages, so the figures are rough" in result.err


def test_programs_get_one_document(run: Run, folder: str) -> None:
    document = run(*words(folder, "--fitness", "changerate", "--out", "mine.json", "--json")).json
    model = json.loads(Path("mine.json").read_text("utf-8"))
    assert document["file"] == "mine.json"
    assert document["model"]["formula"] == model["formula"]
    assert (model["fitness"], model["budget"], model["trace"]) == ("changerate", 0.1, "snap")
    assert [search["seed"] for search in document["searches"]] == [1, 2]
    assert all(isinstance(search["formula"], str) for search in document["searches"])
    assert document["places"][0].keys() >= {"policy", "changerate", "ndcg", "freshness"}


def test_the_model_can_be_back_tested(run: Run, folder: str) -> None:
    run(*words(folder, "--out", "mine.json"))
    formula = json.loads(Path("mine.json").read_text("utf-8"))["formula"]
    result = run("simulate", folder, "--trace", "snap", "--policy", "mine.json", "--json")
    again = run("simulate", folder, "--trace", "snap", "--policy", formula, "--json")
    assert result.json[0]["ndcg"] == again.json[0]["ndcg"] > 0


def test_folds_are_printed_with_their_margins(run: Run, folder: str) -> None:
    result = run(*words(folder, "--folds", "3", "--seeds", "1"))
    assert "means over 3 folds with 95% intervals" in result.out
    assert "policy" in result.out
    assert "±" in result.out


def test_two_folds_have_no_margins(run: Run, folder: str) -> None:
    result = run(*words(folder, "--folds", "2", "--seeds", "1"))
    assert "means over 2 folds\n" in result.out
    assert "±" not in result.out


def test_without_a_test_the_end_says_so(run: Run, folder: str) -> None:
    result = run(*words(folder, "--folds", "0", "--seeds", "1"))
    assert "Comparison on the validation pages, which selected the formula" in result.out
    assert "20 pages for training" in result.out


def test_generated_pages_are_called_so(run: Run, folder: str) -> None:
    size = ("--pages", "60", "--cycles", "12", "--seeds", "1", "--population", "4")
    result = run("evolve", *size, "--generations", "1", "--budget", "10%")
    assert result.out.splitlines()[1].startswith(
        "learned on brdc, generated, for ndcg at 10%: 24 pages"
    )


def test_a_rule_that_does_better_is_named(
    run: Run, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    worst = [Formula(("-", 0.0, "t"))] * 4
    monkeypatch.setattr(
        "freshet.learning.evolve.genetic_search.initial_population", lambda *words: worst
    )
    result = run(*words(folder, "--population", "4", "--generations", "1", "--seeds", "1"))
    assert result.out.splitlines()[0] == "0 - t"
    assert " does better than the learned formula on these pages" in result.err


def test_quick_says_that_it_may_be_far_off(run: Run, folder: str) -> None:
    message = "--quick runs one short search, and its formula may be far from the best"
    few = ("--population", "4", "--generations", "1")
    assert message in run("evolve", folder, "--trace", "snap", "--quick", *few).err
    assert message not in run("evolve", folder, "--trace", "snap", "--seeds", "1", *few).err


def test_quick_is_one_small_search(run: Run, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[EvolutionTask] = []

    def noted(trace: object, task: EvolutionTask, **options: object) -> EvolutionResult:
        asked.append(task)
        raise KeyboardInterrupt

    monkeypatch.setattr("freshet.cli.commands.research.evolve.evolve", noted)
    run("evolve", folder, "--quick")
    run("evolve", folder, "--quick", "--generations", "4")
    assert [(task.seeds, task.config.population, task.config.generations) for task in asked] == [
        (1, 100, 15), (1, 100, 4),
    ]  # fmt: skip


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGINT] * 2])
def test_a_signal_stops_at_a_checkpoint_and_resume_goes_on(
    run: Run, folder: str, signals: Sequence[int]
) -> None:
    document = run(*words(folder, "--json")).json
    result = stopped(signals, words(folder, "--json"))
    assert result.returncode == 130
    assert "the state is in formula.checkpoint" in result.stderr
    assert "with --resume to continue" in result.stderr
    assert Path("formula.checkpoint").exists()
    refused = run(*words(folder))
    assert (refused.code, "continue it with --resume" in refused.err) == (2, True)
    assert run(*words(folder, "--resume", "--json")).json == document
    assert not Path("formula.checkpoint").exists()


def stopped(signals: Sequence[int], words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run in a process of its own that gets signals when a checkpoint was written."""
    numbers = ",".join(str(int(number)) for number in signals)
    command = [sys.executable, "-c", DRIVER, numbers, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (("--budget", "0%"), 2, "'0%' is not a share"),
        (("--budget", "101%"), 2, "'101%' is not a share"),
        (("--budget", "5%,10%"), 2, "'5%,10%' is not a share of the pages; write for example 5%"),
        (("--pages", "50"), 2, "--pages has no effect here"),
        (("--cycles", "9"), 2, "--cycles has no effect here"),
        (("--known", ".5"), 2, "--known has no effect here: a parquet trace"),
        (("--out", "a.json", "--checkpoint", "./a.json"), 2, "cannot be the same file"),
        (("--population", "1"), 2, "--population"),
        (("--seeds", "0"), 2, "--seeds"),
        (("--folds", "6"), 2, "--folds"),
        (("--terminals", "most"), 2, "--terminals"),
        (("--fitness", "age"), 2, "fitness 'age' is not a measure"),
        (("--out", "formula.txt"), 2, "must end in .json"),
        (("--out", "nowhere/formula.json"), 5, "cannot be written"),
        (("--checkpoint", "nowhere/kept"), 5, "cannot be written"),
        (("--resume",), 3, "there is no checkpoint"),
        (("--trace", "snapp"), 2, "'snapp' is not a trace"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(
    run: Run, folder: str, more: Sequence[str], code: int, message: str
) -> None:
    result = run(*words(folder, *more))
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert result.err.count("\n") == 1
    assert [path.name for path in Path().iterdir()] == ["pages"]


@pytest.mark.parametrize(
    ("pages", "days", "message"),
    [
        (1, 10, "one page"),
        (40, 2, "2 cycles"),
        (40, 10, "no change"),
        (5, 10, "too few to choose among"),
    ],
)
def test_a_trace_that_teaches_nothing_is_refused(
    run: Run, tmp_path: Path, pages: int, days: int, message: str
) -> None:
    folder = write(tmp_path, daily(pages, days, lambda page, day: pages < 10 or day < -1))
    result = run("evolve", folder, "--trace", "snap", "--out", str(tmp_path / "mine.json"), *SMALL)
    assert (result.code, result.out) == (4, "")
    assert message in result.err
