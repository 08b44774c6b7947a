"""Evolution: generation after generation, the formulas that rank best have the most children.

Santos et al. 2015, sections 4 and 5.2. Their rates of crossover, reproduction and mutation add up
to more than 1; here each child is made by one of them, with probabilities in their proportion.
Every generation draws from a chance of its own, so that a search goes on as if never interrupted.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from random import Random
from typing import Any

from freshet.formula.expression import Formula, parse_formula
from freshet.learning.evolve.genetic_operators import (
    MAX_PARENT_DEPTH,
    PrimitiveSet,
    cross_over,
    initial_population,
    replace_subtree,
    swap_subtrees,
)
from freshet.learning.evolve.simplify import simplify

FitnessFunction = Callable[[Sequence[Formula], float], list[float]]
"""How well formulas do; those that cannot reach a floor may be given up early, below it."""

NO_FITNESS_FLOOR = float("-inf")
MAX_KNOWN_FITNESSES = 100_000


@dataclass(frozen=True, slots=True)
class GPConfig:
    """How a search goes: its sizes, and how often children are made in which way."""

    population: int = 300
    generations: int = 50
    kept: int = 50
    tournament: int = 2
    parents: float = 0.1
    crossover: float = 0.9
    reproduction: float = 0.15
    replacement: float = 0.05
    swap: float = 0.05


@dataclass(frozen=True, slots=True)
class ScoredFormula:
    """A formula and how well it did."""

    formula: Formula
    fitness: float


@dataclass(frozen=True, slots=True)
class Generation:
    """Where a search stands: the generation that is scored, best first, and the best of all.

    ``fitness_by_text`` is how well formulas did, by their text, so that none is tried twice; one that was
    given up early keeps the bound it had then, also after a stop.
    """

    number: int
    population: tuple[ScoredFormula, ...]
    best: tuple[ScoredFormula, ...]
    fitness_by_text: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the stand as plain values."""
        return {
            "generation": self.number,
            "population": [[str(each.formula), each.fitness] for each in self.population],
            "best": [[str(each.formula), each.fitness] for each in self.best],
            "known": dict(self.fitness_by_text),
        }


def generation_from_json(plain: Mapping[str, Any], names: Sequence[str]) -> Generation:
    """Read a stand from plain values."""
    population, best = (
        tuple(
            ScoredFormula(parse_formula(text, names), float(fitness))
            for text, fitness in plain[part]
        )
        for part in ("population", "best")
    )
    known = {str(text): float(fitness) for text, fitness in plain["known"].items()}
    return Generation(int(plain["generation"]), population, best, known)


@dataclass(frozen=True, slots=True)
class GeneticSearch:
    """A search for formulas of a language that do well; those of ``initial_formulas`` it begins with."""

    primitives: PrimitiveSet
    fitness: FitnessFunction
    seed: int
    config: GPConfig = GPConfig()
    initial_formulas: tuple[Formula, ...] = ()

    def first_generation(self) -> Generation:
        """Make and score the first generation."""
        made = initial_population(self._chance(0), self.primitives, self.config.population)
        return self._scored(
            Generation(0, (), ()), [*self.initial_formulas, *made][: self.config.population]
        )

    def next_generation(self, stand: Generation) -> Generation:
        """Breed and score the next generation."""
        rng = self._chance(stand.number + 1)
        parents = self._parents(stand.population)
        children = [
            self._child(rng, stand.population, parents) for _ in range(self.config.population)
        ]
        return self._scored(replace(stand, number=stand.number + 1), children)

    def _chance(self, generation: int) -> Random:
        return Random(f"{self.seed}/{generation}")

    def _scored(self, stand: Generation, formulas: Sequence[Formula]) -> Generation:
        """Score a generation, equal formulas once, and keep the best of all so far."""
        shortest = [simplify(formula) for formula in formulas]
        texts = [str(formula) for formula in shortest]
        by_text = dict(zip(texts, shortest, strict=True))
        new = [text for text in by_text if text not in stand.fitness_by_text]
        floor = stand.best[-1].fitness if len(stand.best) >= self.config.kept else NO_FITNESS_FLOOR
        found = self.fitness([by_text[text] for text in new], floor)
        known = {**stand.fitness_by_text, **dict(zip(new, found, strict=True))}
        scored = {text: ScoredFormula(formula, known[text]) for text, formula in by_text.items()}
        population = _ranked(scored[text] for text in texts)
        distinct = {str(each.formula): each for each in stand.best} | scored
        best = _ranked(distinct.values())[: self.config.kept]
        return Generation(stand.number, tuple(population), tuple(best), _latest(known))

    def _child(
        self, rng: Random, population: Sequence[ScoredFormula], parents: Sequence[Formula]
    ) -> Formula:
        ways = self.config
        weights = (ways.crossover, ways.reproduction, ways.replacement, ways.swap)
        way = rng.choices(range(len(weights)), weights)[0]
        if way == 0:
            return cross_over(rng, rng.choice(parents), rng.choice(parents))
        chosen = self._winner(rng, population)
        if way == 1:
            return chosen
        return (
            replace_subtree(rng, chosen, self.primitives)
            if way == 2
            else swap_subtrees(rng, chosen)
        )

    def _parents(self, population: Sequence[ScoredFormula]) -> list[Formula]:
        """Return the best that are not too deep for a crossing, one of each fitness.

        Copies of one formula, and others that rank alike, would soon be all there is to cross.
        """
        count = max(2, round(self.config.parents * len(population)))
        fit = _different(each for each in population if each.formula.depth <= MAX_PARENT_DEPTH)
        return [each.formula for each in fit[:count] or population[:count]]

    def _winner(self, rng: Random, population: Sequence[ScoredFormula]) -> Formula:
        """Draw a few and return the best of them; the population is in order."""
        drawn = (rng.randrange(len(population)) for _ in range(self.config.tournament))
        return population[min(drawn)].formula


def _ranked(scored: Iterable[ScoredFormula]) -> list[ScoredFormula]:
    """Put the fittest first; of equals the shorter, then by their text."""
    return sorted(scored, key=lambda each: (-each.fitness, len(each.formula), str(each.formula)))


def _different(ranked: Iterable[ScoredFormula]) -> list[ScoredFormula]:
    """Return the first of those of equal fitness: nearly always they rank pages alike."""
    found: dict[float, ScoredFormula] = {}
    for each in ranked:
        found.setdefault(each.fitness, each)
    return [*found.values()]


def _latest(known: Mapping[str, float]) -> Mapping[str, float]:
    """Forget what was learnt first where there is too much."""
    return dict(islice(known.items(), max(0, len(known) - MAX_KNOWN_FITNESSES), None))
