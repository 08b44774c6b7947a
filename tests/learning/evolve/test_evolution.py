"""Learning a formula from a trace: reproducible results, progress, invalid input."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import current_thread
from typing import Any

import pytest

from freshet.backtest.cycle_crawl import crawl_in_cycles, visits_per_cycle
from freshet.backtest.devices import open_device
from freshet.backtest.folds import split_folds
from freshet.backtest.metrics import measure_crawl
from freshet.backtest.selectors import make_selector
from freshet.backtest.trace_formats.saved_trace import open_saved_trace, save_trace
from freshet.core.errors import BadInputError, NoSpaceError, UsageError
from freshet.formula.expression import parse_formula
from freshet.formula.variables import BASIC_VARIABLES, PAPER_VARIABLES
from freshet.learning.evolve.comparison import LEARNED_POLICY
from freshet.learning.evolve.evolution import EvolutionFiles, EvolutionProgress, evolve
from freshet.learning.evolve.fold_evaluator import run_searches
from freshet.learning.evolve.formula_trial import FormulaTrial
from freshet.learning.evolve.genetic_search import GPConfig
from freshet.learning.evolve.model_selection import select_formula
from freshet.learning.evolve.result import EvolutionResult
from freshet.learning.evolve.task import EvolutionTask
from freshet.schedule.formulas.extended_formula_policy import VARIABLES_BY_TERMINAL_SET
from freshet.schedule.model_file import FormulaModel
from freshet.schedule.policies import FormulaRanking, make_policy
from tests.backtest.traces import by_chance, choices, drawn, in_groups
from tests.learning.evolve.evolve_samples import (
    CONFIG,
    TASK,
    TRACE,
    files,
    stopping_after,
    uninterrupted,
)


def test_the_result_does_not_depend_on_the_number_of_workers() -> None:
    assert evolve(TRACE, TASK, workers=3) == uninterrupted()


def test_the_result_on_a_saved_trace_is_the_same(tmp_path: Path) -> None:
    save_trace(TRACE, tmp_path / "checkpoint")
    assert evolve(open_saved_trace(tmp_path / "checkpoint"), TASK) == uninterrupted()


def test_another_seed_gives_another_result() -> None:
    assert uninterrupted().searches != evolve(TRACE, replace(TASK, seed=7)).searches


def test_every_generation_is_reported_with_the_best_fitness() -> None:
    progress_log: list[EvolutionProgress] = []
    evolve(TRACE, replace(TASK, folds=2), on_progress=progress_log.append)
    assert [progress.steps_done for progress in progress_log] == list(range(1, 19))
    assert {progress.steps_total for progress in progress_log} == {18}
    assert [
        (progress.steps_done, progress.fold) for progress in progress_log if progress.is_test
    ] == [(17, 1), (18, 2)]
    positions = [(progress.fold, progress.seed, progress.generation) for progress in progress_log]
    assert positions[:5] == [
        (1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 1, 4), (1, 2, 1),
    ]  # fmt: skip
    first = [progress.best_fitness for progress in progress_log[:4]]
    assert first == sorted(first)


def test_the_model_is_read_back_and_the_checkpoint_is_deleted(tmp_path: Path) -> None:
    evolution = evolve(TRACE, TASK, files=files(tmp_path))
    assert FormulaModel.read(tmp_path / "model.json") == evolution.model
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


def test_the_formula_from_the_file_makes_the_same_choices(tmp_path: Path) -> None:
    formula = evolve(TRACE, TASK, files=files(tmp_path)).model.formula
    replayed = make_selector(str(tmp_path / "model.json"), TRACE, 5)
    assert choices(TRACE, replayed, 12) == choices(
        TRACE, make_policy(FormulaRanking(formula), seed=5), 12
    )


def test_the_fitness_of_a_search_is_that_of_crawls_of_its_pages() -> None:
    evolution = evolve(TRACE, replace(TASK, measure="changerate"))
    split = split_folds(len(TRACE.pages), 0, seed=TASK.seed)
    assert (evolution.training, evolution.validation, evolution.test) == (48, 48, 24)
    for result in evolution.searches:
        policy = FormulaRanking(result.formula)
        for rows, figure in (
            (split.training, result.training),
            (split.validation, result.validation),
            (split.test, result.test),
        ):
            pages = TRACE.select(rows)
            k = visits_per_cycle(TASK.budget, len(pages.pages))
            cycles = crawl_in_cycles(pages, make_policy(policy, seed=TASK.seed), k)
            assert measure_crawl(cycles, pages.pages.importance, k).changerate == pytest.approx(
                figure
            )


def test_a_learned_formula_beats_chance_on_test_pages() -> None:
    task = EvolutionTask(seeds=1, config=GPConfig(population=60, generations=5, kept=20))
    evolution = evolve(in_groups(by_chance(1500, 30, seed=3)), task)
    ndcg = {result.policy: result.ndcg for result in evolution.places}
    assert ndcg[LEARNED_POLICY] > 1.2 * ndcg["rand"]
    assert ndcg["oracle-change"] == pytest.approx(1.0)
    assert list(ndcg.values()) == sorted(ndcg.values(), reverse=True)


def baseline_fitness(fold: int) -> float:
    """Return the fitness of t * X on the validation pages of a fold."""
    split = split_folds(len(TRACE.pages), fold - 1, seed=TASK.seed)
    trial = FormulaTrial(TRACE.select(split.validation), TASK.budget, TASK.measure, seed=TASK.seed)
    return trial.fitness(parse_formula("t * X", PAPER_VARIABLES))


def test_the_model_is_the_choice_with_the_largest_lead_of_all_folds() -> None:
    evolution = evolve(TRACE, replace(TASK, folds=3))
    assert [(result.fold, result.seed) for result in evolution.searches] == [
        (1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2),
    ]  # fmt: skip
    best = max(
        evolution.searches, key=lambda result: result.validation - baseline_fitness(result.fold)
    )
    highest = max(evolution.searches, key=lambda result: result.validation)
    assert evolution.model.validation == best.validation
    assert best.fold != highest.fold
    assert all(result.ndcg_ci >= 0 for result in evolution.places)


def test_without_test_folds_every_page_is_used_for_learning() -> None:
    evolution = evolve(TRACE, replace(TASK, folds=0))
    assert (evolution.training, evolution.validation, evolution.test) == (60, 60, 0)
    assert {result.test for result in evolution.searches} == {None}


def test_basic_formulas_use_only_basic_variables() -> None:
    evolution = evolve(TRACE, replace(TASK, terminals="basic"))
    assert all(result.formula.variables <= set(BASIC_VARIABLES) for result in evolution.searches)


def test_estimates_used_as_chances_are_expanded_to_rates() -> None:
    task = replace(TASK, estimates="chances", seeds=1)
    evolution = evolve(TRACE, task)
    split = split_folds(len(TRACE.pages), 0, seed=TASK.seed)
    trial = FormulaTrial(TRACE.select(split.validation), 0.1, "ndcg", seed=TASK.seed)
    result = evolution.searches[0]
    assert result.validation == trial.fitness(result.formula)
    assert str(task.expand_chances(parse_formula("GAD", PAPER_VARIABLES))) == "1 - exp(0 - GAD * t)"
    assert TASK.expand_chances(parse_formula("GAD", PAPER_VARIABLES)) == parse_formula(
        "GAD", PAPER_VARIABLES
    )


def test_extended_searches_begin_with_every_variable() -> None:
    task = replace(TASK, terminals="extended", seeds=1, config=replace(CONFIG, generations=2))
    evolution = evolve(TRACE, task, workers=2)
    assert [str(result) for result in task.initial_formulas] == list(
        VARIABLES_BY_TERMINAL_SET["extended"]
    )
    assert evolve(TRACE, task, workers=1) == evolution
    split = split_folds(len(TRACE.pages), 0, seed=TASK.seed)
    trial = FormulaTrial(TRACE.select(split.training), 0.1, "ndcg", seed=TASK.seed)
    result = evolution.searches[0]
    assert result.training == trial.fitness(result.formula)
    assert result.validation > 0


def test_a_device_gives_the_fitnesses_of_single_crawls() -> None:
    formulas = [
        parse_formula(text, PAPER_VARIABLES)
        for text in ("t", "X * t", "AAD * t + CG", "log(n) - GAD")
    ]
    with ThreadPoolExecutor(2) as pool:
        first = FormulaTrial(TRACE, 0.1, "ndcg", seed=3).fitnesses(pool, formulas)
        second = FormulaTrial(TRACE, 0.1, "ndcg", seed=3, device=open_device("cpu")).fitnesses(
            pool, formulas
        )
    # A device bursts gains to parts of a size, so that sums do not depend on their order.
    assert second == pytest.approx(first, abs=1e-9)


@pytest.mark.parametrize("measure", ["ndcg", "changerate"])
def test_an_evolution_on_arrays_equals_one_by_classes(
    measure: str,
) -> None:
    task = replace(
        TASK, measure=measure, seeds=3, config=GPConfig(population=40, generations=6, kept=10)
    )
    first, second = evolve(TRACE, task, workers=2), evolve(TRACE, task, device="arrays")
    assert [result.formula for result in first.searches] == [
        result.formula for result in second.searches
    ]
    assert [result.training for result in first.searches] == pytest.approx(
        [result.training for result in second.searches], abs=1e-9
    )
    assert first.model.formula == second.model.formula
    assert first.places == second.places


def test_a_single_search_is_one_of_those_of_an_evolution() -> None:
    task = replace(TASK, folds=2, estimates="chances")
    with ThreadPoolExecutor(1) as pool:
        alone = run_searches(TRACE, task, 1, [2], pool)[0]
    among = [
        result for result in evolve(TRACE, task).searches if (result.fold, result.seed) == (2, 2)
    ]
    best = select_formula(alone.formulas, task.selection)
    assert (alone.fold, alone.seed) == (1, 2)
    assert [(result.formula, result.training, result.validation) for result in among] == [
        (best.formula, best.training, best.validation)
    ]


def test_a_formula_by_cycle_is_compared_with_the_rules_by_cycle() -> None:
    config = GPConfig(population=4, generations=1)
    policies_by_clock = {
        clock: {result.policy for result in evolve(TRACE, task).places}
        for clock in ("visit", "cycle")
        for task in [replace(TASK, seeds=1, clock=clock, config=config)]
    }
    assert policies_by_clock["cycle"] - policies_by_clock["visit"] == {
        "nad-cycle", "sad-cycle", "aad-cycle", "gad-cycle",
    }  # fmt: skip
    assert policies_by_clock["visit"] < policies_by_clock["cycle"]


def test_the_model_holds_both_the_seed_of_the_folds_and_that_of_its_search() -> None:
    evolution = evolve(TRACE, replace(TASK, seed=4))
    best = max(evolution.searches, key=lambda result: result.validation)
    assert evolution.model.seed == 4
    assert evolution.model.search == best.seed
    assert evolution.model.search in (4, 5)


def test_the_comparison_runs_on_the_worker_threads_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: list[str] = []

    def recording_crawl(*arguments: Any) -> Any:
        threads.append(current_thread().name)
        return crawl_in_cycles(*arguments)

    monkeypatch.setattr("freshet.learning.evolve.comparison.crawl_in_cycles", recording_crawl)
    evolve(TRACE, replace(TASK, seeds=1), workers=2)
    assert threads
    assert all(name.startswith("evolve") for name in threads)


@pytest.mark.parametrize(
    ("device", "terminals", "message"),
    [("tpu", "all", "'tpu' is unknown"), ("cuda", "extended", "does not support extended names")],
)
def test_a_device_that_cannot_be_used_is_refused(device: str, terminals: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        evolve(TRACE, replace(TASK, terminals=terminals), device=device)


def test_a_formula_that_cannot_reach_the_floor_has_a_bound_below_it() -> None:
    trial = FormulaTrial(TRACE, 0.1, "ndcg", clock="visit", seed=1)
    for text in ("t", "0 - X", "X * t"):
        formula = parse_formula(text, PAPER_VARIABLES)
        uninterrupted = trial.fitness(formula)
        assert trial.fitness(formula, uninterrupted) == uninterrupted
        assert uninterrupted <= trial.fitness(formula, uninterrupted + 0.2) < uninterrupted + 0.2


def test_a_model_that_could_not_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    for path in (tmp_path / "missing" / "model.json", tmp_path / "folder.json"):
        with pytest.raises(NoSpaceError, match="cannot be written"):
            evolve(
                TRACE,
                TASK,
                files=EvolutionFiles(path, tmp_path / "checkpoint"),
                on_progress=stopping_after(0),
            )
    with pytest.raises(UsageError, match=r"must end in \.json"):
        evolve(TRACE, TASK, files=EvolutionFiles(tmp_path / "model", tmp_path / "checkpoint"))


@pytest.mark.parametrize(
    ("wrong", "message"),
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
        ({"config": replace(CONFIG, population=1)}, "population 1: it must be at least 2"),
        ({"config": replace(CONFIG, generations=0)}, "0 generations"),
        ({"config": replace(CONFIG, kept=0)}, "0 kept formulas"),
    ],
)
def test_settings_outside_their_range_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        evolve(TRACE, replace(TASK, **wrong))
    assert message in str(refused.value)


def test_a_trace_too_small_to_split_is_refused() -> None:
    with pytest.raises(BadInputError, match="1 of 5 pages for test, which is too few"):
        evolve(drawn(*["x.x.x.x"] * 5), TASK)


def test_a_split_without_a_change_is_refused() -> None:
    with pytest.raises(BadInputError, match="none with a change after the warm-up"):
        evolve(drawn("xxxxxxx", *["x......"] * 29), TASK)


def test_one_generation_of_few_formulas_is_enough() -> None:
    config = GPConfig(population=2, generations=1, kept=50)
    evolution: EvolutionResult = evolve(TRACE, replace(TASK, seeds=1, config=config))
    assert len(evolution.searches) == 1
