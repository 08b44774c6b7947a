"""Checkpoints: a resumed evolution equals an uninterrupted one, and others are refused."""

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
    CONFIG,
    TASK,
    TRACE,
    files,
    stop_evolution,
    stopping_after,
    uninterrupted,
)


@pytest.mark.parametrize("after", [1, 3, 4, 5, 8])
def test_a_resumed_evolution_equals_an_uninterrupted_one(tmp_path: Path, after: int) -> None:
    stop_evolution(tmp_path, after=after)
    progress_log: list[EvolutionProgress] = []
    resumed = evolve(
        TRACE, TASK, files=files(tmp_path, resume=True), on_progress=progress_log.append
    )
    assert resumed == uninterrupted()
    assert [progress.steps_done for progress in progress_log] == list(range(after + 1, 10))


def test_a_search_may_be_stopped_again_and_again(tmp_path: Path) -> None:
    stop_evolution(tmp_path, after=2)
    with pytest.raises(StopRequestedError):
        evolve(TRACE, TASK, files=files(tmp_path, resume=True), on_progress=stopping_after(6))
    assert evolve(TRACE, TASK, files=files(tmp_path, resume=True)) == uninterrupted()


def test_a_stop_after_the_last_test_loses_nothing(tmp_path: Path) -> None:
    stop_evolution(tmp_path, after=9)
    progress_log: list[EvolutionProgress] = []
    assert (
        evolve(TRACE, TASK, files=files(tmp_path, resume=True), on_progress=progress_log.append)
        == uninterrupted()
    )
    assert [progress.is_test for progress in progress_log] == [True]


def test_searches_side_by_side_are_resumed_together(tmp_path: Path) -> None:
    options = {"files": files(tmp_path), "device": "arrays"}
    with pytest.raises(StopRequestedError):
        evolve(TRACE, TASK, on_progress=stopping_after(4), **options)
    document = json.loads(files(tmp_path).checkpoint_path.read_text("utf-8"))
    assert [generation["generation"] for generation in document["under_way"]] == [1, 1]
    resumed = evolve(TRACE, TASK, files=files(tmp_path, resume=True), device="arrays")
    assert resumed == evolve(TRACE, TASK, device="arrays")


def test_two_evolutions_do_not_share_a_checkpoint(tmp_path: Path) -> None:
    def second(progress: EvolutionProgress) -> None:
        for resume in (False, True):
            with pytest.raises(LockedError, match="another evolution uses this checkpoint"):
                evolve(TRACE, TASK, files=files(tmp_path, resume=resume))

    assert evolve(TRACE, TASK, files=files(tmp_path), on_progress=second) == uninterrupted()
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budget": 0.2}, "--budget 0.1, not --budget 0.2"),
        ({"measure": "changerate"}, "--fitness ndcg, not --fitness changerate"),
        ({"terminals": "basic"}, "--terminals all, not --terminals basic"),
        ({"seed": 2}, "--seed 1, not --seed 2"),
        (
            {"config": replace(CONFIG, population=30)},
            "options: --population 20, not --population 30;",
        ),
    ],
)
def test_a_checkpoint_of_other_options_is_refused(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    stop_evolution(tmp_path, after=2)
    with pytest.raises(BadInputError, match="other options") as refused:
        evolve(TRACE, replace(TASK, **changes), files=files(tmp_path, resume=True))
    assert message in str(refused.value)


def test_a_checkpoint_of_another_device_is_refused(tmp_path: Path) -> None:
    stop_evolution(tmp_path, after=2)
    with pytest.raises(BadInputError, match="other options: --device cpu, not --device arrays"):
        evolve(TRACE, TASK, files=files(tmp_path, resume=True), device="arrays")


def test_the_same_trace_by_another_name_is_resumed(tmp_path: Path) -> None:
    stop_evolution(tmp_path, after=2)
    renamed = replace(TRACE, name="renamed")
    resumed = evolve(renamed, TASK, files=files(tmp_path, resume=True))
    assert resumed == replace(
        uninterrupted(), model=replace(uninterrupted().model, trace="renamed")
    )
    stop_evolution(tmp_path, after=2)
    with pytest.raises(BadInputError, match="other options: --seeds 2, not --seeds 3;"):
        evolve(renamed, replace(TASK, seeds=3), files=files(tmp_path, resume=True))


def test_a_checkpoint_of_another_trace_is_refused(tmp_path: Path) -> None:
    stop_evolution(tmp_path, after=2)
    another = in_groups(by_chance(120, 20, seed=4))
    message = (
        "another trace .groups: 120 pages, 20 cycles, not groups: 120 pages, 20 cycles as given"
    )
    with pytest.raises(BadInputError, match=message):
        evolve(another, TASK, files=files(tmp_path, resume=True))


def cut(document: dict[str, Any]) -> str:
    return json.dumps(document)[:-400]


def without_population(document: dict[str, Any]) -> str:
    return json.dumps(document | {"under_way": [{"generation": 1}]})


def with_nonsense(document: dict[str, Any]) -> str:
    document["under_way"][0]["best"][0][0] = "__import__('os')"
    return json.dumps(document)


def with_nan(document: dict[str, Any]) -> str:
    document["under_way"][0]["best"][0][1] = float("nan")
    return json.dumps(document)


def with_current_generation(**changes: Any) -> Callable[[dict[str, Any]], str]:
    def damage(document: dict[str, Any]) -> str:
        return json.dumps(document | {"under_way": [document["under_way"][0] | changes]})

    return damage


def with_finished_search(**changes: Any) -> Callable[[dict[str, Any]], str]:
    def damage(document: dict[str, Any]) -> str:
        return json.dumps(document | {"over": [document["over"][0] | changes]})

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        cut,
        without_population,
        with_nonsense,
        with_nan,
        lambda document: json.dumps(document | {"under_way": 0}),
        lambda document: json.dumps(document | {"under_way": [[]]}),
        lambda document: json.dumps(document | {"over": 2 * document["over"]}),
        with_current_generation(population=[]),
        with_current_generation(best=[]),
        with_current_generation(generation=-1),
        with_current_generation(generation=99),
        with_current_generation(known={"t": "nan"}),
        lambda document: json.dumps(document | {"under_way": 3 * document["under_way"]}),
        with_finished_search(kept=[]),
        with_finished_search(seed=99),
        with_finished_search(fold=9),
        with_finished_search(kept=[["t", 0.5, "inf"]]),
    ],
)
def test_a_damaged_checkpoint_is_refused(
    tmp_path: Path, damage: Callable[[dict[str, Any]], str]
) -> None:
    path = stop_evolution(tmp_path, after=6)
    path.write_text(damage(json.loads(path.read_text("utf-8"))), "utf-8")
    with pytest.raises(BadInputError, match=r"model\.checkpoint: the checkpoint is damaged"):
        evolve(TRACE, TASK, files=files(tmp_path, resume=True))


@pytest.mark.parametrize("content", ["[]", '{"format": "else"}', "null"])
def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path, content: str) -> None:
    files(tmp_path).checkpoint_path.write_text(content, "utf-8")
    with pytest.raises(BadInputError, match="not a checkpoint"):
        evolve(TRACE, TASK, files=files(tmp_path, resume=True))


def test_resuming_needs_a_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="begin without --resume"):
        evolve(TRACE, TASK, files=files(tmp_path, resume=True))


def test_a_checkpoint_is_not_overwritten(tmp_path: Path) -> None:
    checkpoint = stop_evolution(tmp_path, after=2).read_bytes()
    with pytest.raises(UsageError, match="continue it with --resume, or delete the file"):
        evolve(TRACE, TASK, files=files(tmp_path))
    assert files(tmp_path).checkpoint_path.read_bytes() == checkpoint


@pytest.mark.parametrize("content", ['{"name": "package"}', "", "[]"])
def test_a_file_that_is_not_a_model_is_not_overwritten(tmp_path: Path, content: str) -> None:
    files(tmp_path).model_path.write_text(content, "utf-8")
    with pytest.raises(UsageError, match="exists and is not a model; give another --out"):
        evolve(TRACE, TASK, files=files(tmp_path))
    assert files(tmp_path).model_path.read_text("utf-8") == content


def test_a_model_is_replaced_by_the_next_one(tmp_path: Path) -> None:
    files(tmp_path).model_path.write_text('{"format": "freshet-model", "version": 1}', "utf-8")
    evolve(TRACE, TASK, files=files(tmp_path))
    assert FormulaModel.read(files(tmp_path).model_path) == uninterrupted().model


@pytest.mark.parametrize("spelling", ["model.json", "../{folder}/model.json", "linked.json"])
def test_the_checkpoint_cannot_be_the_model_itself(tmp_path: Path, spelling: str) -> None:
    (tmp_path / "linked.json").symlink_to(tmp_path / "model.json")
    checkpoint = tmp_path / spelling.format(folder=tmp_path.name)
    with pytest.raises(UsageError, match="cannot be the same file; give another --checkpoint"):
        evolve(TRACE, TASK, files=EvolutionFiles(tmp_path / "model.json", checkpoint))
    assert not (tmp_path / "model.json").exists()
