"""Evolution: the same for a seed, going on after a stop, and getting better."""

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
)

WAYS = GPConfig(population=40, generations=6, kept=10)
RNG = np.random.default_rng(1)
KNOWN = {name: RNG.uniform(0.1, 3.0, 60) for name in PAPER_VARIABLES}
TARGET = parse_formula("t * X + CG", PAPER_VARIABLES).evaluate(KNOWN, 60)


def likeness(formulas: Sequence[Formula], floor: float) -> list[float]:
    """Return how near formulas come to the target, the best 0."""
    errors = (formula.evaluate(KNOWN, 60) - TARGET for formula in formulas)
    return [-float(np.log1p(np.abs(error)).mean()) for error in errors]


def search(seed: int = 1) -> GeneticSearch:
    return GeneticSearch(PrimitiveSet(PAPER_VARIABLES), likeness, seed, WAYS)


def after(stand: Generation, generations: int, seed: int = 1) -> Generation:
    for _ in range(generations):
        stand = search(seed).next_generation(stand)
    return stand


def test_a_search_is_the_same_for_a_seed_and_another_for_another() -> None:
    one, again, other = (after(search(seed).first_generation(), 3, seed) for seed in (1, 1, 2))
    assert one == again
    assert one != other


def test_a_search_that_was_stopped_goes_on_as_if_it_never_was() -> None:
    halfway = after(search().first_generation(), 2)
    kept = generation_from_json(json.loads(json.dumps(halfway.as_json())), PAPER_VARIABLES)
    assert after(kept, 2) == after(search().first_generation(), 4)


def test_the_best_never_get_worse_and_are_kept_in_order() -> None:
    stand = search().first_generation()
    first = stand.best[0].fitness
    for _ in range(WAYS.generations):
        before, stand = stand, search().next_generation(stand)
        assert stand.best[0].fitness >= before.best[0].fitness
        fitness = [each.fitness for each in stand.best]
        assert fitness == sorted(fitness, reverse=True)
        assert len({each.formula for each in stand.best}) == len(stand.best) == WAYS.kept
    assert stand.best[0].fitness > first


def test_equal_formulas_are_scored_once() -> None:
    asked: list[Formula] = []

    def noted(formulas: Sequence[Formula], floor: float) -> list[float]:
        asked.extend(formulas)
        return likeness(formulas, floor)

    searching = GeneticSearch(PrimitiveSet(PAPER_VARIABLES), noted, 1, WAYS)
    stand = searching.first_generation()
    assert len(asked) == len(set(asked)) <= WAYS.population
    asked.clear()
    following = searching.next_generation(stand)
    known = {each.formula for each in (*stand.population, *stand.best)}
    assert known.isdisjoint(asked)
    assert len(following.population) == WAYS.population


def test_the_floor_is_what_the_last_of_the_best_reached() -> None:
    floors: list[float] = []

    def noted(formulas: Sequence[Formula], floor: float) -> list[float]:
        floors.append(floor)
        return likeness(formulas, floor)

    searching = GeneticSearch(PrimitiveSet(PAPER_VARIABLES), noted, 1, WAYS)
    stand = searching.first_generation()
    searching.next_generation(stand)
    assert floors == [float("-inf"), stand.best[-1].fitness]


def test_no_formula_is_scored_twice_in_a_whole_search() -> None:
    asked: list[str] = []

    def noted(formulas: Sequence[Formula], floor: float) -> list[float]:
        asked.extend(str(formula) for formula in formulas)
        return likeness(formulas, floor)

    searching = GeneticSearch(PrimitiveSet(PAPER_VARIABLES), noted, 1, WAYS)
    stand = searching.first_generation()
    for _ in range(WAYS.generations):
        stand = searching.next_generation(stand)
    assert len(asked) == len(set(asked)) == len(stand.fitness_by_text)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("freshet.learning.evolve.genetic_search.MAX_KNOWN_FITNESSES", 50)
    stand = after(search().first_generation(), 3)
    assert len(stand.fitness_by_text) == 50
    kept = generation_from_json(json.loads(json.dumps(stand.as_json())), PAPER_VARIABLES)
    assert after(kept, 1) == after(stand, 1)


def test_a_search_begins_with_what_it_is_given() -> None:
    target = parse_formula("X * t + CG", PAPER_VARIABLES)
    stand = GeneticSearch(
        PrimitiveSet(PAPER_VARIABLES), likeness, 1, WAYS, initial_formulas=(target,)
    ).first_generation()
    assert len(stand.population) == WAYS.population
    assert stand.best[0].fitness == 0.0


def parents(*population: tuple[str, float]) -> list[str]:
    scored = [
        ScoredFormula(parse_formula(text, PAPER_VARIABLES), fitness) for text, fitness in population
    ]
    found = GeneticSearch(
        PrimitiveSet(PAPER_VARIABLES), likeness, 1, GPConfig(parents=0.5)
    )._parents(scored)
    return [str(formula) for formula in found]


def test_parents_are_the_best_that_are_not_too_deep() -> None:
    deep = "log(" * 9 + "t" + ")" * 9
    assert parents((deep, 1.0), ("n", 0.9), ("X", 0.8), ("t", 0.7)) == ["n", "X"]


def test_formulas_that_do_equally_well_are_one_parent() -> None:
    alike = (("X", 1.0), ("X", 1.0), ("exp(X)", 1.0))
    assert parents(*alike, ("n", 0.5), ("t", 0.4), ("CG", 0.3)) == ["X", "n", "t"]
