"""Formulas and learned models wherever a policy is named on the command line."""

from pathlib import Path

import pytest

from tests.cli.cli_runs import NEWS, Run
from tests.schedule.test_model_file import MODEL

QUICK = ("simulate", "--pages", "200", "--cycles", "8", "--seeds", "1")
HOSTILE = [
    ("__import__('os').system('true')", "cannot read"),
    ("open(t)", "'open' is unknown"),
    ("t * (X + 1", "')' is missing"),
    ("t + + X", "does not belong here"),
    ("(" * 3_000 + "t" + ")" * 3_000, "deep"),
    ("t" + "+t" * 30_000, "shorten it"),
    ("t; X", "cannot read"),
]


def set_policy(folder: Path, policy: str) -> None:
    """Put a policy at the head of a collection's settings."""
    file = folder / "freshet.toml"
    file.write_text(f"policy = '''{policy}'''\n{file.read_text()}")


def test_formulas_are_back_tested_beside_rules(run: Run) -> None:
    rows = run(*QUICK, "--policy", "age,t", "--policy", "pow(t,X)", "--json").json
    assert [row["policy"] for row in rows] == ["age", "t", "pow(t,X)"]
    assert rows[0]["changerate"] == rows[1]["changerate"]


def test_a_model_is_back_tested_by_its_file(run: Run, tmp_path: Path) -> None:
    MODEL.save(tmp_path / "news.json")
    names = [str(tmp_path / "news.json"), str(MODEL.formula)]
    rows = run(*QUICK, "--policy", ",".join(names), "--json").json
    assert [row["policy"] for row in rows] == names


@pytest.mark.parametrize(("policy", "message"), HOSTILE)
def test_what_is_no_formula_is_not_back_tested(run: Run, policy: str, message: str) -> None:
    result = run(*QUICK, "--policy", policy)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("words", [("plan",), ("why", NEWS), ("run", "--for", "1s")])
def test_what_is_no_formula_plans_nothing(
    run: Run, collection: Path, words: tuple[str, ...]
) -> None:
    settings = (collection / "freshet.toml").read_text()
    for policy, message in HOSTILE:
        (collection / "freshet.toml").write_text(settings)
        set_policy(collection, policy)
        result = run(*words)
        assert (result.code, result.out) == (2, "")
        assert message in result.err
        assert "setting policy: " in result.err
        assert result.err.count("\n") == 1


def test_a_plan_and_its_reasons_go_by_the_formula(run: Run, collection: Path) -> None:
    set_policy(collection, "t*X")
    assert run("plan").out.startswith("objective none   policy t * X   500 requests per day\n")
    assert "objective none " in run("status").out
    output = run("why", NEWS).out
    assert "formula" in output
    assert "without an objective, by t * X" in output
    assert "t * X" in output
    reckoning = run("why", NEWS, "--json").json["explanation"]["reckoning"]
    assert reckoning["formula"] == "t * X"
    assert reckoning["score"] == pytest.approx(reckoning["names"]["t"] * reckoning["names"]["X"])


def test_the_doctor_names_the_policy_or_what_is_wrong_with_it(run: Run, collection: Path) -> None:
    set_policy(collection, "models/news.json")
    assert "cannot be read" in run("doctor").out
    MODEL.save(collection / "models" / "news.json")
    result = run("doctor")
    assert "cannot be read" not in result.out
    assert "news" in result.out


def test_a_damaged_model_file_plans_nothing_and_can_still_be_looked_past(
    run: Run, collection: Path
) -> None:
    (collection / "models" / "news.json").write_text('{"format": "freshet-model", "version": 9}')
    set_policy(collection, "models/news.json")
    result = run("plan")
    assert (result.code, result.out) == (4, "")
    assert "models/news.json: a model file of version 9" in result.err
    assert run("list").code == 0
    assert run("forecast", NEWS).code == 0
