"""A learned model is a file that a person can read and edit, and that is read strictly."""

import json
import os
import re
from collections.abc import Callable
from dataclasses import fields, replace
from math import isnan
from pathlib import Path
from typing import Any

import pytest

from freshet.core.errors import BadInputError, NoSpaceError, UsageError
from freshet.formula.expression import parse_formula
from freshet.schedule.model_file import (
    MAX_MODEL_BYTES,
    FormulaModel,
    PolicyTestResult,
    resolve_policy,
)
from freshet.schedule.policies import FormulaRanking

ROOT = Path(__file__).parents[2]
FORMULA = parse_formula("t * (X + 0.001) - pow(NAD, 2)", ("t", "X", "NAD"))
MODEL = FormulaModel(
    formula=FORMULA,
    terminals="all",
    clock="cycle",
    fitness="ndcg",
    budget=0.05,
    trace="mixed",
    digest="5f0c",
    selection="avg",
    training=0.41,
    validation=0.4,
    seed=3,
    search=5,
    standings=(
        PolicyTestResult("nad", 0.2, 0.3, 0.6),
        PolicyTestResult("learned", 0.33, 0.42, 0.7),
    ),
    made_with="0.1.0",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    MODEL.save(tmp_path / "news.json")
    return tmp_path / "news.json"


def edited(file: Path, edit: Callable[[dict[str, Any]], object]) -> Path:
    """Change the document in a model file as an editor would."""
    document = json.loads(file.read_text())
    edit(document)
    file.write_text(json.dumps(document))
    return file


def test_a_model_reads_back_from_its_file(file: Path) -> None:
    assert FormulaModel.read(file) == MODEL


def test_the_formula_stands_in_the_file_as_text(file: Path) -> None:
    assert '"formula": "t * (X + 0.001) - pow(NAD, 2)"' in file.read_text()
    changed = edited(file, lambda document: document.update(formula="X*t"))
    assert FormulaModel.read(changed).formula == parse_formula("X * t", ("X", "t"))


def test_a_model_file_names_a_ranking_by_its_formula_and_clock(file: Path) -> None:
    assert resolve_policy(str(file)) == FormulaRanking(FORMULA, "cycle", "news")


def test_the_reference_tells_of_every_key_and_its_example_is_a_model(tmp_path: Path) -> None:
    text = (ROOT / "docs/reference/model-file.md").read_text("utf-8")
    keys = re.findall(r"`([a-z_]+)`", "".join(re.findall(r"^\| (.+?) \|", text, re.M)))
    assert set(keys) == {"format", "version", *(item.name for item in fields(FormulaModel))}
    (tmp_path / "example.json").write_text(text.partition("```json\n")[2].partition("```")[0])
    assert str(FormulaModel.read(tmp_path / "example.json").formula) == "t * (X + 0.001)"


def test_a_model_takes_the_place_of_the_one_before_and_leaves_nothing_beside(file: Path) -> None:
    replace(MODEL, seed=4).save(file)
    assert FormulaModel.read(file).seed == 4
    assert [item.name for item in file.parent.iterdir()] == ["news.json"]


def test_a_model_that_cannot_be_written_leaves_the_one_before(file: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        replace(MODEL, training=float("inf")).save(file)
    assert FormulaModel.read(file) == MODEL
    assert [item.name for item in file.parent.iterdir()] == ["news.json"]


def test_a_model_is_written_only_to_a_place_that_is_read_as_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"must end in \.json"):
        MODEL.save(tmp_path / "news.txt")
    with pytest.raises(NoSpaceError, match="cannot be written"):
        MODEL.save(tmp_path / "nowhere" / "news.json")


def test_a_figure_that_could_not_be_measured_is_null(file: Path) -> None:
    replace(MODEL, standings=(PolicyTestResult("age", 0.1, float("nan"), 0.2),)).save(file)
    assert '"ndcg": null' in file.read_text()
    [score] = FormulaModel.read(file).standings
    assert isnan(score.ndcg)
    assert score.freshness == 0.2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not readable as JSON"),
        (b"t * X", "not readable as JSON"),
        (b"\xff\xfe\x00", "not readable as JSON"),
        (b"[" * 100_000, "not readable as JSON"),
        (b"[1, 2]", "not a JSON object; choose a model file"),
        (b"{}", "its format must be 'freshet-model'"),
        (b'{"format": "freshet-model"}', "version None"),
        (b'{"format": "freshet-model", "version": 3}', "version 3, but this Freshet reads"),
        (b'{"format": "freshet-model", "version": 2}', "formula, terminals"),
        (b" " * (MAX_MODEL_BYTES + 1), "larger than"),
    ],
)
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(BadInputError, match=r"bad\.json") as refused:
        FormulaModel.read(path)
    assert said in str(refused.value)
    assert len(str(refused.value)) < 500


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(BadInputError, match=r"pipe\.json: not a file"):
        FormulaModel.read(tmp_path / "pipe.json")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("formula", "t *", "formula: formula 't *', character 4: something is missing"),
        ("formula", "__import__('os')", "cannot read"),
        ("formula", "age", "'age' is unknown"),
        ("formula", 5, "formula must be text, not 5"),
        ("terminals", "some", "must be one of basic, all, extended, not 'some'"),
        ("clock", ["visit"], "must be one of visit, cycle"),
        ("fitness", None, "must be text"),
        ("selection", "whatever", "must be one of best, avg, sum, not 'whatever'"),
        ("search", "one", "search must be a whole number, not 'one'"),
        ("budget", 0, "must be above 0"),
        ("budget", None, "must be above 0"),
        ("budget", 1.5, "must be above 0 and at most 1"),
        ("budget", "5%", "budget must be a number, not '5%'"),
        ("budget", True, "budget must be a number, not True"),
        ("training", float("nan"), "NaN is not a number"),
        ("validation", float("-inf"), "-Infinity is not a number"),
        ("validation", 10**400, "usual size"),
        ("seed", 1.5, "seed must be a whole number, not 1.5"),
        ("trace", 7, "trace must be text, not 7"),
        ("standings", {}, "standings must be a list"),
        ("standings", [3], "standings: must be a JSON object, not 3"),
        ("standings", [{"policy": "age"}], "changerate, ndcg, freshness is missing"),
        ("fromula", "t", "'fromula' is unknown"),
    ],
)
def test_a_wrong_value_is_named(file: Path, name: str, value: Any, said: str) -> None:
    with pytest.raises(BadInputError, match=r"news\.json") as refused:
        FormulaModel.read(edited(file, lambda document: document.update({name: value})))
    assert said in str(refused.value)


@pytest.mark.parametrize("name", ["formula", "clock", "standings", "made_with"])
def test_a_missing_value_is_named(file: Path, name: str) -> None:
    with pytest.raises(BadInputError, match=f"{name} is missing"):
        FormulaModel.read(edited(file, lambda document: document.pop(name)))


def test_a_number_too_large_to_be_one_is_refused(file: Path) -> None:
    file.write_text(file.read_text().replace("0.41", "1e999"))
    with pytest.raises(BadInputError, match="training must be a number of usual size, not inf"):
        FormulaModel.read(file)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"gone.json: cannot be read: No such file"):
        FormulaModel.read(tmp_path / "gone.json")
    with pytest.raises(BadInputError, match="cannot be read: Is a directory"):
        FormulaModel.read(tmp_path)
