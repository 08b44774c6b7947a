"""Going on after a stop: as if there had been none, and never with something else."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from freshet.core.errors import (
    BadInputError,
    LockedError,
    NotFoundError,
    StopRequestedError,
    UsageError,
)
from freshet.learning.evolve.evolution import EvolutionFiles, EvolutionProgress, evolve
from freshet.schedule.model_file import FormulaModel
from tests.backtest.traces import by_chance, in_groups
from tests.learning.evolve.evolve_samples import (
    TASK,
    TRACE,
    WAYS,
    files,
    stopped,
    stopping_after,
    whole,
)


@pytest.mark.parametrize("after", [1, 3, 4, 5, 8])
def test_an_evolution_that_was_stopped_goes_on_as_if_it_never_was(
    tmp_path: Path, after: int
) -> None:
    stopped(tmp_path, after=after)
    steps: list[EvolutionProgress] = []
    resumed = evolve(TRACE, TASK, files=files(tmp_path, resume=True), watch=steps.append)
    assert resumed == whole()
    assert [step.steps_done for step in steps] == list(range(after + 1, 10))


def test_a_search_may_be_stopped_again_and_again(tmp_path: Path) -> None:
    stopped(tmp_path, after=2)
    with pytest.raises(StopRequestedError):
        evolve(TRACE, TASK, files=files(tmp_path, resume=True), watch=stopping_after(6))
    assert evolve(TRACE, TASK, files=files(tmp_path, resume=True)) == whole()


def test_a_stop_after_the_last_test_loses_nothing(tmp_path: Path) -> None:
    stopped(tmp_path, after=9)
    steps: list[EvolutionProgress] = []
    assert evolve(TRACE, TASK, files=files(tmp_path, resume=True), watch=steps.append) == whole()
    assert [step.is_test for step in steps] == [True]


def test_two_evolutions_do_not_share_a_checkpoint(tmp_path: Path) -> None:
    def second(step: EvolutionProgress) -> None:
        for resume in (False, True):
            with pytest.raises(LockedError, match="another evolution is keeping its work here"):
                evolve(TRACE, TASK, files=files(tmp_path, resume=resume))

    assert evolve(TRACE, TASK, files=files(tmp_path), watch=second) == whole()
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"budget": 0.2}, "--budget 0.1, not --budget 0.2"),
        ({"measure": "changerate"}, "--fitness ndcg, not --fitness changerate"),
        ({"terminals": "basic"}, "--terminals all, not --terminals basic"),
        ({"seed": 2}, "--seed 1, not --seed 2"),
        ({"ways": replace(WAYS, population=30)}, "options: --population 20, not --population 30;"),
    ],
)
def test_a_checkpoint_of_other_options_is_refused(
    tmp_path: Path, other: dict[str, Any], said: str
) -> None:
    stopped(tmp_path, after=2)
    with pytest.raises(BadInputError, match="other options") as refused:
        evolve(TRACE, replace(TASK, **other), files=files(tmp_path, resume=True))
    assert said in str(refused.value)


def test_a_checkpoint_of_another_device_is_refused(tmp_path: Path) -> None:
    stopped(tmp_path, after=2)
    with pytest.raises(BadInputError, match="other options: --device cpu, not --device arrays"):
        evolve(TRACE, TASK, files=files(tmp_path, resume=True), device="arrays")


def test_the_same_trace_by_another_name_goes_on(tmp_path: Path) -> None:
    stopped(tmp_path, after=2)
    renamed = replace(TRACE, name="renamed")
    resumed = evolve(renamed, TASK, files=files(tmp_path, resume=True))
    assert resumed == replace(whole(), model=replace(whole().model, trace="renamed"))
    stopped(tmp_path, after=2)
    with pytest.raises(BadInputError, match="other options: --seeds 2, not --seeds 3;"):
        evolve(renamed, replace(TASK, seeds=3), files=files(tmp_path, resume=True))


def test_a_checkpoint_of_another_trace_is_refused(tmp_path: Path) -> None:
    stopped(tmp_path, after=2)
    another = in_groups(by_chance(120, 20, seed=4))
    said = "another trace .groups: 120 pages, 20 cycles, not groups: 120 pages, 20 cycles as given"
    with pytest.raises(BadInputError, match=said):
        evolve(another, TASK, files=files(tmp_path, resume=True))


def cut(document: dict[str, Any]) -> str:
    return json.dumps(document)[:-400]


def without_stand(document: dict[str, Any]) -> str:
    return json.dumps(document | {"under_way": {"generation": 1}})


def with_nonsense(document: dict[str, Any]) -> str:
    document["under_way"]["best"][0][0] = "__import__('os')"
    return json.dumps(document)


def with_no_number(document: dict[str, Any]) -> str:
    document["under_way"]["best"][0][1] = float("nan")
    return json.dumps(document)


def with_under_way(**changes: Any) -> Callable[[dict[str, Any]], str]:
    def damage(document: dict[str, Any]) -> str:
        return json.dumps(document | {"under_way": document["under_way"] | changes})

    return damage


def with_over(**changes: Any) -> Callable[[dict[str, Any]], str]:
    def damage(document: dict[str, Any]) -> str:
        return json.dumps(document | {"over": [document["over"][0] | changes]})

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        cut,
        without_stand,
        with_nonsense,
        with_no_number,
        lambda document: json.dumps(document | {"under_way": 0}),
        lambda document: json.dumps(document | {"under_way": []}),
        lambda document: json.dumps(document | {"over": 2 * document["over"]}),
        with_under_way(population=[]),
        with_under_way(best=[]),
        with_under_way(generation=-1),
        with_under_way(generation=99),
        with_under_way(known={"t": "nan"}),
        with_over(kept=[]),
        with_over(seed=99),
        with_over(fold=9),
        with_over(kept=[["t", 0.5, "inf"]]),
    ],
)
def test_a_damaged_checkpoint_is_refused(
    tmp_path: Path, damage: Callable[[dict[str, Any]], str]
) -> None:
    path = stopped(tmp_path, after=6)
    path.write_text(damage(json.loads(path.read_text("utf-8"))), "utf-8")
    with pytest.raises(BadInputError, match=r"model\.checkpoint: the checkpoint is damaged"):
        evolve(TRACE, TASK, files=files(tmp_path, resume=True))


@pytest.mark.parametrize("content", ["[]", '{"format": "else"}', "null"])
def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path, content: str) -> None:
    files(tmp_path).checkpoint_path.write_text(content, "utf-8")
    with pytest.raises(BadInputError, match="is no checkpoint"):
        evolve(TRACE, TASK, files=files(tmp_path, resume=True))


def test_there_must_be_a_checkpoint_to_go_on_with(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="begin without --resume"):
        evolve(TRACE, TASK, files=files(tmp_path, resume=True))


def test_unfinished_work_is_not_overwritten(tmp_path: Path) -> None:
    kept = stopped(tmp_path, after=2).read_bytes()
    with pytest.raises(UsageError, match="go on with --resume, or delete it"):
        evolve(TRACE, TASK, files=files(tmp_path))
    assert files(tmp_path).checkpoint_path.read_bytes() == kept


@pytest.mark.parametrize("content", ['{"name": "package"}', "", "[]"])
def test_what_is_no_model_is_not_overwritten(tmp_path: Path, content: str) -> None:
    files(tmp_path).model_path.write_text(content, "utf-8")
    with pytest.raises(UsageError, match="is there already and is no model; give another --out"):
        evolve(TRACE, TASK, files=files(tmp_path))
    assert files(tmp_path).model_path.read_text("utf-8") == content


def test_a_model_is_replaced_by_the_next_one(tmp_path: Path) -> None:
    files(tmp_path).model_path.write_text('{"format": "freshet-model", "version": 1}', "utf-8")
    evolve(TRACE, TASK, files=files(tmp_path))
    assert FormulaModel.read(files(tmp_path).model_path) == whole().model


@pytest.mark.parametrize("spelling", ["model.json", "../{folder}/model.json", "linked.json"])
def test_the_checkpoint_cannot_be_the_model_itself(tmp_path: Path, spelling: str) -> None:
    (tmp_path / "linked.json").symlink_to(tmp_path / "model.json")
    checkpoint = tmp_path / spelling.format(folder=tmp_path.name)
    with pytest.raises(UsageError, match="cannot be the same file; give another --checkpoint"):
        evolve(TRACE, TASK, files=EvolutionFiles(tmp_path / "model.json", checkpoint))
    assert not (tmp_path / "model.json").exists()
