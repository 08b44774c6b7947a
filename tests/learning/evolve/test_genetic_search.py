"""Genetic search: reproducible, resumable, and improving."""

import json
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from freshet.formula.expression import Formula, parse_formula
from freshet.formula.variables import PAPER_VARIABLES
from freshet.learning.evolve.genetic_operators import PrimitiveSet
from freshet.learning.evolve.genetic_search import (
    Generation,
    GeneticSearch,
    GPConfig,
    ScoredFormula,
    generation_from_json,
    run_generations,
)

CONFIG = GPConfig(population=40, generations=6, kept=10)
RNG = np.random.default_rng(1)
VARIABLE_VALUES = {name: RNG.uniform(0.1, 3.0, 60) for name in PAPER_VARIABLES}
TARGET = parse_formula("t * X + CG", PAPER_VARIABLES).evaluate(VARIABLE_VALUES, 60)


FormulaGroups = Sequence[tuple[Sequence[Formula], float]]


def similarities(groups: FormulaGroups) -> list[list[float]]:
    """Return the similarity of formulas to the target, at most 0."""
    return [[similarity(formula) for formula in formulas] for formulas, _ in groups]


def similarity(formula: Formula) -> float:
    error = formula.evaluate(VARIABLE_VALUES, 60) - TARGET
    return -float(np.log1p(np.abs(error)).mean())


def search(seed: int = 1, config: GPConfig = CONFIG) -> GeneticSearch:
    return GeneticSearch(PrimitiveSet(PAPER_VARIABLES), seed, config)


def run_alone(seed: int = 1, last: Generation | None = None) -> list[Generation]:
    lasts = () if last is None else (last,)
    groups = run_generations([search(seed)], similarities, lasts)
    return [generation for (generation,) in groups]


def restored(generation: Generation) -> Generation:
    return generation_from_json(json.loads(json.dumps(generation.as_json())), PAPER_VARIABLES)


def test_a_search_depends_on_its_seed_alone() -> None:
    first, repeated, different = (run_alone(seed) for seed in (1, 1, 2))
    assert len(first) == CONFIG.generations
    assert first == repeated
    assert first[-1] != different[-1]


def test_a_resumed_search_equals_an_uninterrupted_one() -> None:
    generations = run_alone()
    assert run_alone(last=restored(generations[2])) == generations[3:]


def test_searches_side_by_side_find_what_they_find_alone() -> None:
    seeds = (1, 2, 3)
    *_, last = run_generations([search(seed) for seed in seeds], similarities)
    assert list(last) == [run_alone(seed)[-1] for seed in seeds]


def test_searches_side_by_side_are_evaluated_in_one_call() -> None:
    group_counts: list[int] = []

    def recording_fitness(groups: FormulaGroups) -> list[list[float]]:
        group_counts.append(len(groups))
        return similarities(groups)

    list(run_generations([search(1), search(2)], recording_fitness))
    assert group_counts == [2] * CONFIG.generations


def test_the_best_never_get_worse_and_are_kept_in_order() -> None:
    generations = run_alone()
    for before, generation in pairwise(generations):
        assert generation.best[0].fitness >= before.best[0].fitness
        fitness = [scored.fitness for scored in generation.best]
        assert fitness == sorted(fitness, reverse=True)
        assert (
            len({scored.formula for scored in generation.best})
            == len(generation.best)
            == CONFIG.kept
        )
    assert generations[-1].best[0].fitness > generations[0].best[0].fitness


def test_no_formula_is_scored_twice_in_a_whole_search() -> None:
    scored_texts: list[str] = []

    def recording_fitness(groups: FormulaGroups) -> list[list[float]]:
        scored_texts.extend(str(formula) for formulas, _ in groups for formula in formulas)
        return similarities(groups)

    *_, (last,) = run_generations([search()], recording_fitness)
    assert len(last.population) == CONFIG.population
    assert len(scored_texts) == len(set(scored_texts)) == len(last.fitness_by_text)
    assert len(scored_texts) < CONFIG.population * CONFIG.generations


def test_the_floor_is_the_fitness_of_the_last_of_the_best() -> None:
    floors: list[float] = []

    def recording_fitness(groups: FormulaGroups) -> list[list[float]]:
        floors.extend(floor for _, floor in groups)
        return similarities(groups)

    generations = [first for (first,) in run_generations([search()], recording_fitness)]
    assert floors == [
        float("-inf"), *(generation.best[-1].fitness for generation in generations[:-1]),
    ]  # fmt: skip


def test_the_number_of_remembered_fitnesses_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("freshet.learning.evolve.genetic_search.MAX_KNOWN_FITNESSES", 50)
    generations = run_alone()
    assert len(generations[3].fitness_by_text) == 50
    assert run_alone(last=restored(generations[3])) == generations[4:]


def test_a_search_begins_with_its_initial_formulas() -> None:
    target = parse_formula("X * t + CG", PAPER_VARIABLES)
    planted = GeneticSearch(PrimitiveSet(PAPER_VARIABLES), 1, CONFIG, initial_formulas=(target,))
    ((first,), *_) = run_generations([planted], similarities)
    assert len(first.population) == CONFIG.population
    assert first.best[0].fitness == 0.0


def parents(*population: tuple[str, float]) -> list[str]:
    scored = [
        ScoredFormula(parse_formula(text, PAPER_VARIABLES), fitness) for text, fitness in population
    ]
    parent_formulas = search(config=GPConfig(parents=0.5))._parents(scored)
    return [str(formula) for formula in parent_formulas]


def test_parents_are_the_best_that_are_not_too_deep() -> None:
    deep = "log(" * 9 + "t" + ")" * 9
    assert parents((deep, 1.0), ("n", 0.9), ("X", 0.8), ("t", 0.7)) == ["n", "X"]


def test_formulas_of_equal_fitness_are_one_parent() -> None:
    alike = (("X", 1.0), ("X", 1.0), ("exp(X)", 1.0))
    assert parents(*alike, ("n", 0.5), ("t", 0.4), ("CG", 0.3)) == ["X", "n", "t"]
