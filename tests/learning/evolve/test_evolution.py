"""Learning a formula from a trace: the same for a seed, going on after a stop, bad input."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import current_thread
from typing import Any

import pytest

from freshet.backtest.cycle_crawl import crawl_in_cycles, visits_per_cycle
from freshet.backtest.folds import split_folds
from freshet.backtest.gpu.device import open_device
from freshet.backtest.metrics import measure_crawl
from freshet.backtest.selectors import make_selector
from freshet.backtest.trace_formats.saved_trace import open_saved_trace, save_trace
from freshet.core.errors import BadInputError, NoSpaceError, UsageError
from freshet.formula.expression import parse_formula
from freshet.formula.variables import BASIC_VARIABLES, PAPER_VARIABLES, FitnessMeasure
from freshet.learning.evolve.comparison import LEARNED_POLICY
from freshet.learning.evolve.evolution import (
    EvolutionFiles,
    EvolutionProgress,
    EvolutionResult,
    EvolutionTask,
    evolve,
    run_search,
)
from freshet.learning.evolve.formula_trial import FormulaTrial
from freshet.learning.evolve.genetic_search import GPConfig
from freshet.learning.evolve.model_selection import select_formula
from freshet.schedule.model_file import FormulaModel
from freshet.schedule.policies import FormulaRanking, make_policy
from freshet.schedule.ranked import VARIABLES_BY_TERMINAL_SET
from tests.backtest.traces import by_chance, choices, drawn, in_groups
from tests.learning.evolve.evolve_samples import TASK, TRACE, WAYS, files, stopping_after, whole


def test_what_is_found_does_not_depend_on_the_number_of_workers() -> None:
    assert evolve(TRACE, TASK, workers=3) == whole()


def test_what_is_found_on_a_saved_trace_is_what_was_found_before(tmp_path: Path) -> None:
    save_trace(TRACE, tmp_path / "kept")
    assert evolve(open_saved_trace(tmp_path / "kept"), TASK) == whole()


def test_another_seed_finds_something_else() -> None:
    assert whole().searches != evolve(TRACE, replace(TASK, seed=7)).searches


def test_every_generation_is_told_with_the_best_so_far() -> None:
    steps: list[EvolutionProgress] = []
    evolve(TRACE, replace(TASK, folds=2), watch=steps.append)
    assert [step.steps_done for step in steps] == list(range(1, 19))
    assert {step.steps_total for step in steps} == {18}
    assert [(step.steps_done, step.fold) for step in steps if step.is_test] == [(17, 1), (18, 2)]
    assert [(step.fold, step.seed, step.generation) for step in steps[:5]] == [
        (1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 1, 4), (1, 2, 1),
    ]  # fmt: skip
    first = [step.best_fitness for step in steps[:4]]
    assert first == sorted(first)


def test_the_model_is_read_back_and_the_checkpoint_goes(tmp_path: Path) -> None:
    evolved = evolve(TRACE, TASK, files=files(tmp_path))
    assert FormulaModel.read(tmp_path / "model.json") == evolved.model
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


def test_the_formula_from_the_file_makes_the_same_choices(tmp_path: Path) -> None:
    formula = evolve(TRACE, TASK, files=files(tmp_path)).model.formula
    replayed = make_selector(str(tmp_path / "model.json"), TRACE, 5)
    assert choices(TRACE, replayed, 12) == choices(
        TRACE, make_policy(FormulaRanking(formula), seed=5), 12
    )


def test_figures_of_a_search_are_those_of_crawls_of_its_pages() -> None:
    evolved = evolve(TRACE, replace(TASK, measure="changerate"))
    shares = split_folds(len(TRACE.pages), 0, seed=TASK.seed)
    assert (evolved.training, evolved.validation, evolved.test) == (48, 48, 24)
    for found in evolved.searches:
        policy = FormulaRanking(found.formula)
        for places, figure in (
            (shares.training, found.training),
            (shares.validation, found.validation),
            (shares.test, found.test),
        ):
            pages = TRACE.select(places)
            k = visits_per_cycle(TASK.budget, len(pages.pages))
            cycles = crawl_in_cycles(pages, make_policy(policy, seed=TASK.seed), k)
            assert measure_crawl(cycles, pages.pages.importance, k).changerate == pytest.approx(
                figure
            )


def test_a_learned_formula_beats_chance_on_pages_it_never_saw() -> None:
    task = EvolutionTask(seeds=1, ways=GPConfig(population=60, generations=5, kept=20))
    evolved = evolve(in_groups(by_chance(1500, 30, seed=3)), task)
    ndcg = {place.policy: place.ndcg for place in evolved.places}
    assert ndcg[LEARNED_POLICY] > 1.2 * ndcg["rand"]
    assert ndcg["oracle-change"] == pytest.approx(1.0)
    assert list(ndcg.values()) == sorted(ndcg.values(), reverse=True)


def simplest(fold: int) -> float:
    """Return how well t * X does on the pages for validation of a fold."""
    shares = split_folds(len(TRACE.pages), fold - 1, seed=TASK.seed)
    trial = FormulaTrial(TRACE.select(shares.validation), TASK.budget, TASK.measure, seed=TASK.seed)
    return trial.fitness(parse_formula("t * X", PAPER_VARIABLES))


def test_each_fold_has_its_choice_and_the_model_is_that_of_the_largest_lead() -> None:
    evolved = evolve(TRACE, replace(TASK, folds=3))
    assert [(each.fold, each.seed) for each in evolved.searches] == [
        (1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2),
    ]  # fmt: skip
    best = max(evolved.searches, key=lambda found: found.validation - simplest(found.fold))
    highest = max(evolved.searches, key=lambda found: found.validation)
    assert evolved.model.validation == best.validation
    assert best.fold != highest.fold
    assert all(place.ndcg_ci >= 0 for place in evolved.places)


def test_without_a_test_every_page_is_learnt_from() -> None:
    evolved = evolve(TRACE, replace(TASK, folds=0))
    assert (evolved.training, evolved.validation, evolved.test) == (60, 60, 0)
    assert {each.test for each in evolved.searches} == {None}


def test_basic_formulas_know_only_basic_names() -> None:
    evolved = evolve(TRACE, replace(TASK, terminals="basic"))
    assert all(found.formula.variables <= set(BASIC_VARIABLES) for found in evolved.searches)


def test_estimates_bred_as_chances_are_written_out_as_rates() -> None:
    task = replace(TASK, estimates="chances", seeds=1)
    evolved = evolve(TRACE, task)
    shares = split_folds(len(TRACE.pages), 0, seed=TASK.seed)
    trial = FormulaTrial(TRACE.select(shares.validation), 0.1, "ndcg", seed=TASK.seed)
    found = evolved.searches[0]
    assert found.validation == trial.fitness(found.formula)
    assert str(task.expand_chances(parse_formula("GAD", PAPER_VARIABLES))) == "1 - exp(0 - GAD * t)"
    assert TASK.expand_chances(parse_formula("GAD", PAPER_VARIABLES)) == parse_formula(
        "GAD", PAPER_VARIABLES
    )


def test_extended_formulas_begin_with_every_name_and_may_use_it() -> None:
    task = replace(TASK, terminals="extended", seeds=1, ways=replace(WAYS, generations=2))
    evolved = evolve(TRACE, task, workers=2)
    assert [str(each) for each in task.initial_formulas] == list(
        VARIABLES_BY_TERMINAL_SET["extended"]
    )
    assert evolve(TRACE, task, workers=1) == evolved
    shares = split_folds(len(TRACE.pages), 0, seed=TASK.seed)
    trial = FormulaTrial(TRACE.select(shares.training), 0.1, "ndcg", seed=TASK.seed)
    found = evolved.searches[0]
    assert found.training == trial.fitness(found.formula)
    assert found.validation > 0


def test_a_device_that_tries_many_at_once_finds_what_one_after_the_other_finds() -> None:
    formulas = [
        parse_formula(text, PAPER_VARIABLES)
        for text in ("t", "X * t", "AAD * t + CG", "log(n) - GAD")
    ]
    with ThreadPoolExecutor(2) as pool:
        one = FormulaTrial(TRACE, 0.1, "ndcg", seed=3).fitnesses(pool, formulas)
        other = FormulaTrial(TRACE, 0.1, "ndcg", seed=3, device=open_device("cpu")).fitnesses(
            pool, formulas
        )
    # A device rounds gains to parts of a size, so that sums do not depend on their order.
    assert other == pytest.approx(one, abs=1e-9)


@pytest.mark.parametrize("measure", ["ndcg", "changerate"])
def test_an_evolution_over_arrays_finds_the_formulas_of_one_by_classes(
    measure: FitnessMeasure,
) -> None:
    task = replace(
        TASK, measure=measure, seeds=3, ways=GPConfig(population=40, generations=6, kept=10)
    )
    one, other = evolve(TRACE, task, workers=2), evolve(TRACE, task, device="arrays")
    assert [each.formula for each in one.searches] == [each.formula for each in other.searches]
    assert [each.training for each in one.searches] == pytest.approx(
        [each.training for each in other.searches], abs=1e-9
    )
    assert one.model.formula == other.model.formula
    assert one.places == other.places


def test_a_single_search_is_one_of_those_of_an_evolution() -> None:
    task = replace(TASK, folds=2, estimates="chances")
    with ThreadPoolExecutor(1) as pool:
        alone = run_search(TRACE, task, 1, 2, pool)
    among = [each for each in evolve(TRACE, task).searches if (each.fold, each.seed) == (2, 2)]
    best = select_formula(alone.formulas, task.selection)
    assert (alone.fold, alone.seed) == (1, 2)
    assert [(each.formula, each.training, each.validation) for each in among] == [
        (best.formula, best.training, best.validation)
    ]


def test_a_formula_by_cycle_is_placed_beside_the_rules_by_cycle() -> None:
    ways = GPConfig(population=4, generations=1)
    placed = {
        clock: {place.policy for place in evolve(TRACE, task).places}
        for clock in ("visit", "cycle")
        for task in [replace(TASK, seeds=1, clock=clock, ways=ways)]
    }
    assert placed["cycle"] - placed["visit"] == {
        "nad-cycle", "sad-cycle", "aad-cycle", "gad-cycle",
    }  # fmt: skip
    assert placed["visit"] < placed["cycle"]


def test_the_model_holds_both_the_seed_of_the_folds_and_that_of_its_search() -> None:
    evolved = evolve(TRACE, replace(TASK, seed=4))
    best = max(evolved.searches, key=lambda found: found.validation)
    assert evolved.model.seed == 4
    assert evolved.model.search == best.seed
    assert evolved.model.search in (4, 5)


def test_other_work_than_breeding_is_done_by_the_workers_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: list[str] = []

    def noted(*words: Any) -> Any:
        threads.append(current_thread().name)
        return crawl_in_cycles(*words)

    monkeypatch.setattr("freshet.learning.evolve.comparison.crawl_in_cycles", noted)
    evolve(TRACE, replace(TASK, seeds=1), workers=2)
    assert threads
    assert all(name.startswith("evolve") for name in threads)


@pytest.mark.parametrize(
    ("device", "terminals", "said"),
    [("tpu", "all", "'tpu' is unknown"), ("cuda", "extended", "no extended names")],
)
def test_a_device_that_cannot_be_used_is_refused(device: str, terminals: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        evolve(TRACE, replace(TASK, terminals=terminals), device=device)


def test_a_formula_that_cannot_reach_the_floor_has_a_bound_below_it() -> None:
    trial = FormulaTrial(TRACE, 0.1, "ndcg", clock="visit", seed=1)
    for text in ("t", "0 - X", "X * t"):
        formula = parse_formula(text, PAPER_VARIABLES)
        whole = trial.fitness(formula)
        assert trial.fitness(formula, whole) == whole
        assert whole <= trial.fitness(formula, whole + 0.2) < whole + 0.2


def test_a_model_that_could_not_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    for path in (tmp_path / "missing" / "model.json", tmp_path / "folder.json"):
        with pytest.raises(NoSpaceError, match="cannot be written"):
            evolve(
                TRACE, TASK, files=EvolutionFiles(path, tmp_path / "kept"), watch=stopping_after(0)
            )
    with pytest.raises(UsageError, match=r"ends in \.json"):
        evolve(TRACE, TASK, files=EvolutionFiles(tmp_path / "model", tmp_path / "kept"))


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
    with pytest.raises(BadInputError, match="1 of 5 pages for test leave nothing to choose"):
        evolve(drawn(*["x.x.x.x"] * 5), TASK)


def test_a_share_without_a_change_is_refused() -> None:
    with pytest.raises(BadInputError, match="have no change after the warm-up"):
        evolve(drawn("xxxxxxx", *["x......"] * 29), TASK)


def test_one_generation_of_few_formulas_is_enough() -> None:
    ways = GPConfig(population=2, generations=1, kept=50)
    evolved: EvolutionResult = evolve(TRACE, replace(TASK, seeds=1, ways=ways))
    assert len(evolved.searches) == 1
