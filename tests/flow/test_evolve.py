"""Learning a formula from a trace: the same for a seed, going on after a stop, bad input."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from freshet.core.errors import BadInput, Interrupted, NoSpace, NotFound, UsageError
from freshet.core.formula import parse
from freshet.core.ranking.known import ALL, BASIC
from freshet.flow.contenders import contender
from freshet.flow.evolve import Evolved, Files, Step, Task, evolve
from freshet.flow.evolve.standings import LEARNED
from freshet.flow.evolve.trials import Trial
from freshet.flow.models import Model
from freshet.schedule.evolve.search import Ways
from freshet.schedule.policies import Ranking, make
from freshet.schedule.ranked import NAMES
from freshet.simulate.arrays.device import open_device
from freshet.simulate.folds import shared_out
from freshet.simulate.loop import crawl, visits_per_cycle
from freshet.simulate.metrics import score
from freshet.simulate.trace import Trace
from tests.simulate.traces import by_chance, choices, drawn, in_groups

WAYS = Ways(population=20, generations=4, kept=6)
TASK = Task(budget=0.1, seeds=2, ways=WAYS)
TRACE = in_groups(by_chance(120, 20, seed=3))


@cache
def whole() -> Evolved:
    """Return what an evolution finds that nobody stops."""
    return evolve(TRACE, TASK)


def files(folder: Path, *, resume: bool = False) -> Files:
    return Files(folder / "model.json", folder / "model.checkpoint", resume)


def stopping_after(steps: int) -> Callable[[Step], None]:
    """Return what stops an evolution after some generations, as a signal does."""

    def watch(step: Step) -> None:
        if step.done >= steps:
            raise Interrupted("stopped")

    return watch


def stopped(folder: Path, *, after: int, task: Task = TASK, trace: Trace = TRACE) -> Path:
    with pytest.raises(Interrupted):
        evolve(trace, task, files=files(folder), watch=stopping_after(after))
    return files(folder).checkpoint


def test_what_is_found_does_not_depend_on_the_number_of_workers() -> None:
    assert evolve(TRACE, TASK, workers=3) == whole()


def test_another_seed_finds_something_else() -> None:
    assert whole().searches != evolve(TRACE, replace(TASK, seed=7)).searches


@pytest.mark.parametrize("after", [1, 3, 4, 5, 8])
def test_an_evolution_that_was_stopped_goes_on_as_if_it_never_was(
    tmp_path: Path, after: int
) -> None:
    stopped(tmp_path, after=after)
    steps: list[Step] = []
    resumed = evolve(TRACE, TASK, files=files(tmp_path, resume=True), watch=steps.append)
    assert resumed == whole()
    assert [step.done for step in steps] == list(range(after + 1, 9))


def test_a_search_may_be_stopped_again_and_again(tmp_path: Path) -> None:
    stopped(tmp_path, after=2)
    with pytest.raises(Interrupted):
        evolve(TRACE, TASK, files=files(tmp_path, resume=True), watch=stopping_after(6))
    assert evolve(TRACE, TASK, files=files(tmp_path, resume=True)) == whole()


def test_every_generation_is_told_with_the_best_so_far() -> None:
    steps: list[Step] = []
    evolve(TRACE, replace(TASK, folds=2), watch=steps.append)
    assert [step.done for step in steps] == list(range(1, 17))
    assert {step.total for step in steps} == {16}
    assert [(step.fold, step.seed, step.generation) for step in steps[:5]] == [
        (1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 1, 4), (1, 2, 1),
    ]  # fmt: skip
    first = [step.best for step in steps[:4]]
    assert first == sorted(first)


def test_the_model_is_read_back_and_the_checkpoint_goes(tmp_path: Path) -> None:
    evolved = evolve(TRACE, TASK, files=files(tmp_path))
    assert Model.read(tmp_path / "model.json") == evolved.model
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


def test_the_formula_from_the_file_makes_the_same_choices(tmp_path: Path) -> None:
    formula = evolve(TRACE, TASK, files=files(tmp_path)).model.formula
    replayed = contender(str(tmp_path / "model.json"), TRACE, 5)
    assert choices(TRACE, replayed, 12) == choices(TRACE, make(Ranking(formula), seed=5), 12)


def test_figures_of_a_search_are_those_of_crawls_of_its_pages() -> None:
    evolved = evolve(TRACE, replace(TASK, measure="changerate"))
    shares = shared_out(len(TRACE.pages), 0, seed=TASK.seed)
    assert (evolved.training, evolved.validation, evolved.test) == (48, 48, 24)
    for found in evolved.searches:
        policy = Ranking(found.formula)
        for places, figure in (
            (shares.training, found.training),
            (shares.validation, found.validation),
            (shares.test, found.test),
        ):
            pages = TRACE.only(places)
            k = visits_per_cycle(TASK.budget, len(pages.pages))
            cycles = crawl(pages, make(policy, seed=TASK.seed), k)
            assert score(cycles, pages.pages.importance, k).changerate == pytest.approx(figure)


def test_a_learned_formula_beats_chance_on_pages_it_never_saw() -> None:
    task = Task(seeds=1, ways=Ways(population=60, generations=5, kept=20))
    evolved = evolve(in_groups(by_chance(1500, 30, seed=3)), task)
    ndcg = {place.policy: place.ndcg for place in evolved.places}
    assert ndcg[LEARNED] > 1.2 * ndcg["rand"]
    assert ndcg["oracle-change"] == pytest.approx(1.0)
    assert list(ndcg.values()) == sorted(ndcg.values(), reverse=True)


def test_each_fold_has_its_choice_and_the_model_is_that_of_the_best_validation() -> None:
    evolved = evolve(TRACE, replace(TASK, folds=3))
    assert [(each.fold, each.seed) for each in evolved.searches] == [
        (1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2),
    ]  # fmt: skip
    assert evolved.model.validation == max(each.validation for each in evolved.searches)
    assert all(place.ndcg_ci >= 0 for place in evolved.places)


def test_without_a_test_every_page_is_learnt_from() -> None:
    evolved = evolve(TRACE, replace(TASK, folds=0))
    assert (evolved.training, evolved.validation, evolved.test) == (60, 60, 0)
    assert {each.test for each in evolved.searches} == {None}


def test_basic_formulas_know_only_basic_names() -> None:
    evolved = evolve(TRACE, replace(TASK, terminals="basic"))
    assert all(found.formula.names <= set(BASIC) for found in evolved.searches)


def test_estimates_bred_as_chances_are_written_out_as_rates() -> None:
    task = replace(TASK, estimates="chances", seeds=1)
    evolved = evolve(TRACE, task)
    shares = shared_out(len(TRACE.pages), 0, seed=TASK.seed)
    trial = Trial(TRACE.only(shares.validation), 0.1, "ndcg", seed=TASK.seed)
    found = evolved.searches[0]
    assert found.validation == trial.fitness(found.formula)
    assert str(task.written_out(parse("GAD", ALL))) == "1 - exp(0 - GAD * t)"
    assert TASK.written_out(parse("GAD", ALL)) == parse("GAD", ALL)


def test_extended_formulas_begin_with_every_name_and_may_use_it() -> None:
    task = replace(TASK, terminals="extended", seeds=1, ways=replace(WAYS, generations=2))
    evolved = evolve(TRACE, task, workers=2)
    assert [str(each) for each in task.first] == list(NAMES["extended"])
    assert evolve(TRACE, task, workers=1) == evolved
    shares = shared_out(len(TRACE.pages), 0, seed=TASK.seed)
    trial = Trial(TRACE.only(shares.training), 0.1, "ndcg", seed=TASK.seed)
    found = evolved.searches[0]
    assert found.training == trial.fitness(found.formula)
    assert found.validation > 0


def test_a_device_that_tries_many_at_once_finds_what_one_after_the_other_finds() -> None:
    formulas = [parse(text, ALL) for text in ("t", "X * t", "AAD * t + CG", "log(n) - GAD")]
    with ThreadPoolExecutor(2) as pool:
        one = Trial(TRACE, 0.1, "ndcg", seed=3).all(pool, formulas)
        other = Trial(TRACE, 0.1, "ndcg", seed=3, device=open_device("cpu")).all(pool, formulas)
    # A device rounds gains to parts of a size, so that sums do not depend on their order.
    assert other == pytest.approx(one, abs=1e-9)


@pytest.mark.parametrize(
    ("device", "terminals", "said"),
    [("tpu", "all", "'tpu' is unknown"), ("cuda", "extended", "no extended names")],
)
def test_a_device_that_cannot_be_used_is_refused(device: str, terminals: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        evolve(TRACE, replace(TASK, terminals=terminals), device=device)


def test_a_formula_that_cannot_reach_the_floor_has_a_bound_below_it() -> None:
    trial = Trial(TRACE, 0.1, "ndcg", clock="visit", seed=1)
    for text in ("t", "0 - X", "X * t"):
        formula = parse(text, ALL)
        whole = trial.fitness(formula)
        assert trial.fitness(formula, whole) == whole
        assert whole <= trial.fitness(formula, whole + 0.2) < whole + 0.2


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"budget": 0.2}, "budget 0.1, not 0.2"),
        ({"measure": "changerate"}, "measure 'ndcg', not 'changerate'"),
        ({"terminals": "basic"}, "terminals 'all', not 'basic'"),
        ({"seed": 2}, "seed 1, not 2"),
        ({"ways": replace(WAYS, population=30)}, "ways"),
    ],
)
def test_a_checkpoint_of_other_options_is_refused(
    tmp_path: Path, other: dict[str, Any], said: str
) -> None:
    stopped(tmp_path, after=2)
    with pytest.raises(BadInput, match="other options") as refused:
        evolve(TRACE, replace(TASK, **other), files=files(tmp_path, resume=True))
    assert said in str(refused.value)


def test_a_checkpoint_of_another_trace_is_refused(tmp_path: Path) -> None:
    stopped(tmp_path, after=2)
    another = in_groups(by_chance(120, 20, seed=4))
    with pytest.raises(BadInput, match="another trace"):
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


@pytest.mark.parametrize("damage", [cut, without_stand, with_nonsense, with_no_number])
def test_a_damaged_checkpoint_is_refused(
    tmp_path: Path, damage: Callable[[dict[str, Any]], str]
) -> None:
    path = stopped(tmp_path, after=2)
    path.write_text(damage(json.loads(path.read_text("utf-8"))), "utf-8")
    with pytest.raises(BadInput, match=r"model\.checkpoint: the checkpoint is damaged"):
        evolve(TRACE, TASK, files=files(tmp_path, resume=True))


@pytest.mark.parametrize("content", ["[]", '{"format": "else"}', "null"])
def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path, content: str) -> None:
    files(tmp_path).checkpoint.write_text(content, "utf-8")
    with pytest.raises(BadInput, match="is no checkpoint"):
        evolve(TRACE, TASK, files=files(tmp_path, resume=True))


def test_there_must_be_a_checkpoint_to_go_on_with(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="begin without --resume"):
        evolve(TRACE, TASK, files=files(tmp_path, resume=True))


def test_unfinished_work_is_not_overwritten(tmp_path: Path) -> None:
    kept = stopped(tmp_path, after=2).read_bytes()
    with pytest.raises(UsageError, match="go on with --resume, or delete it"):
        evolve(TRACE, TASK, files=files(tmp_path))
    assert files(tmp_path).checkpoint.read_bytes() == kept


def test_a_model_that_could_not_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    for path in (tmp_path / "missing" / "model.json", tmp_path / "folder.json"):
        with pytest.raises(NoSpace, match="cannot be written"):
            evolve(TRACE, TASK, files=Files(path, tmp_path / "kept"), watch=stopping_after(0))
    with pytest.raises(UsageError, match=r"ends in \.json"):
        evolve(TRACE, TASK, files=Files(tmp_path / "model", tmp_path / "kept"))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"budget": 0.0}, "budget 0: it must be above 0 and at most 1"),
        ({"budget": 1.01}, "budget 1.01"),
        ({"budget": float("nan")}, "budget nan"),
        ({"seeds": 0}, "0 seeds"),
        ({"folds": 6}, "6 folds: it must be from 0 to 5"),
        ({"terminals": "most"}, "terminals 'most'"),
        ({"estimates": "odds"}, "estimates 'odds'"),
        ({"measure": "age"}, "fitness 'age'"),
        ({"selection": "worst"}, "selection 'worst'"),
        ({"ways": replace(WAYS, population=1)}, "population 1: it must be at least 2"),
        ({"ways": replace(WAYS, generations=0)}, "0 generations"),
        ({"ways": replace(WAYS, kept=0)}, "0 kept formulas"),
    ],
)
def test_what_cannot_be_learnt_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        evolve(TRACE, replace(TASK, **wrong))
    assert said in str(refused.value)


def test_a_trace_too_small_to_share_out_is_refused() -> None:
    with pytest.raises(BadInput, match="1 of 5 pages for test leave nothing to choose"):
        evolve(drawn(*["x.x.x.x"] * 5), TASK)


def test_a_share_without_a_change_is_refused() -> None:
    with pytest.raises(BadInput, match="have no change after the warm-up"):
        evolve(drawn("xxxxxxx", *["x......"] * 29), TASK)


def test_one_generation_of_few_formulas_is_enough() -> None:
    ways = Ways(population=2, generations=1, kept=50)
    evolved: Evolved = evolve(TRACE, replace(TASK, seeds=1, ways=ways))
    assert len(evolved.searches) == 1
