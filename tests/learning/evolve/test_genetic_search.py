"""Genetic search: reproducible, resumable, and improving."""

import json
from collections.abc import Sequence

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
    generations_side_by_side,
)

CONFIG = GPConfig(population=40, generations=6, kept=10)
RNG = np.random.default_rng(1)
VARIABLE_VALUES = {name: RNG.uniform(0.1, 3.0, 60) for name in PAPER_VARIABLES}
TARGET = parse_formula("t * X + CG", PAPER_VARIABLES).evaluate(VARIABLE_VALUES, 60)


def similarity(formulas: Sequence[Formula], floor: float) -> list[float]:
    """Return the similarity of formulas to the target, at most 0."""
    errors = (formula.evaluate(VARIABLE_VALUES, 60) - TARGET for formula in formulas)
    return [-float(np.log1p(np.abs(error)).mean()) for error in errors]


def search(seed: int = 1) -> GeneticSearch:
    return GeneticSearch(PrimitiveSet(PAPER_VARIABLES), similarity, seed, CONFIG)


def after(generation: Generation, generations: int, seed: int = 1) -> Generation:
    for _ in range(generations):
        generation = search(seed).next_generation(generation)
    return generation


def test_a_search_depends_on_its_seed_alone() -> None:
    first, repeated, different = (
        after(search(seed).first_generation(), 3, seed) for seed in (1, 1, 2)
    )
    assert first == repeated
    assert first != different


def test_a_resumed_search_equals_an_uninterrupted_one() -> None:
    halfway = after(search().first_generation(), 2)
    restored = generation_from_json(json.loads(json.dumps(halfway.as_json())), PAPER_VARIABLES)
    assert after(restored, 2) == after(search().first_generation(), 4)


def test_searches_side_by_side_find_what_they_find_alone() -> None:
    def joint(groups: Sequence[tuple[Sequence[Formula], float]]) -> list[list[float]]:
        return [similarity(formulas, floor) for formulas, floor in groups]

    searches = [search(seed) for seed in (1, 2, 3)]
    *_, last = generations_side_by_side(searches, joint, ())
    assert list(last) == [list(each.generations())[-1] for each in searches]


def test_the_best_never_get_worse_and_are_kept_in_order() -> None:
    generation = search().first_generation()
    first = generation.best[0].fitness
    for _ in range(CONFIG.generations):
        before, generation = generation, search().next_generation(generation)
        assert generation.best[0].fitness >= before.best[0].fitness
        fitness = [scored.fitness for scored in generation.best]
        assert fitness == sorted(fitness, reverse=True)
        assert (
            len({scored.formula for scored in generation.best})
            == len(generation.best)
            == CONFIG.kept
        )
    assert generation.best[0].fitness > first


def test_equal_formulas_are_scored_once() -> None:
    scored_formulas: list[Formula] = []

    def recording_fitness(formulas: Sequence[Formula], floor: float) -> list[float]:
        scored_formulas.extend(formulas)
        return similarity(formulas, floor)

    recording_search = GeneticSearch(PrimitiveSet(PAPER_VARIABLES), recording_fitness, 1, CONFIG)
    generation = recording_search.first_generation()
    assert len(scored_formulas) == len(set(scored_formulas)) <= CONFIG.population
    scored_formulas.clear()
    next_generation = recording_search.next_generation(generation)
    scored_before = {scored.formula for scored in (*generation.population, *generation.best)}
    assert scored_before.isdisjoint(scored_formulas)
    assert len(next_generation.population) == CONFIG.population


def test_the_floor_is_the_fitness_of_the_last_of_the_best() -> None:
    floors: list[float] = []

    def recording_fitness(formulas: Sequence[Formula], floor: float) -> list[float]:
        floors.append(floor)
        return similarity(formulas, floor)

    recording_search = GeneticSearch(PrimitiveSet(PAPER_VARIABLES), recording_fitness, 1, CONFIG)
    generation = recording_search.first_generation()
    recording_search.next_generation(generation)
    assert floors == [float("-inf"), generation.best[-1].fitness]


def test_no_formula_is_scored_twice_in_a_whole_search() -> None:
    scored_formulas: list[str] = []

    def recording_fitness(formulas: Sequence[Formula], floor: float) -> list[float]:
        scored_formulas.extend(str(formula) for formula in formulas)
        return similarity(formulas, floor)

    recording_search = GeneticSearch(PrimitiveSet(PAPER_VARIABLES), recording_fitness, 1, CONFIG)
    generation = recording_search.first_generation()
    for _ in range(CONFIG.generations):
        generation = recording_search.next_generation(generation)
    assert len(scored_formulas) == len(set(scored_formulas)) == len(generation.fitness_by_text)


def test_the_number_of_remembered_fitnesses_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("freshet.learning.evolve.genetic_search.MAX_KNOWN_FITNESSES", 50)
    generation = after(search().first_generation(), 3)
    assert len(generation.fitness_by_text) == 50
    restored = generation_from_json(json.loads(json.dumps(generation.as_json())), PAPER_VARIABLES)
    assert after(restored, 1) == after(generation, 1)


def test_a_search_begins_with_its_initial_formulas() -> None:
    target = parse_formula("X * t + CG", PAPER_VARIABLES)
    generation = GeneticSearch(
        PrimitiveSet(PAPER_VARIABLES), similarity, 1, CONFIG, initial_formulas=(target,)
    ).first_generation()
    assert len(generation.population) == CONFIG.population
    assert generation.best[0].fitness == 0.0


def parents(*population: tuple[str, float]) -> list[str]:
    scored = [
        ScoredFormula(parse_formula(text, PAPER_VARIABLES), fitness) for text, fitness in population
    ]
    parent_formulas = GeneticSearch(
        PrimitiveSet(PAPER_VARIABLES), similarity, 1, GPConfig(parents=0.5)
    )._parents(scored)
    return [str(formula) for formula in parent_formulas]


def test_parents_are_the_best_that_are_not_too_deep() -> None:
    deep = "log(" * 9 + "t" + ")" * 9
    assert parents((deep, 1.0), ("n", 0.9), ("X", 0.8), ("t", 0.7)) == ["n", "X"]


def test_formulas_of_equal_fitness_are_one_parent() -> None:
    alike = (("X", 1.0), ("X", 1.0), ("exp(X)", 1.0))
    assert parents(*alike, ("n", 0.5), ("t", 0.4), ("CG", 0.3)) == ["X", "n", "t"]
