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

from freshet.formula.expression import Formula, parse
from freshet.learning.evolve.genetic_operators import (
    DEEPEST_PARENT,
    Language,
    crossed,
    first_population,
    replaced,
    swapped,
)
from freshet.learning.evolve.simplify import simplified

Fitness = Callable[[Sequence[Formula], float], list[float]]
"""How well formulas do; those that cannot reach a floor may be given up early, below it."""

WORST = float("-inf")
REMEMBERED = 100_000


@dataclass(frozen=True, slots=True)
class Ways:
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
class Scored:
    """A formula and how well it did."""

    formula: Formula
    fitness: float


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a search stands: the generation that is scored, best first, and the best of all.

    ``known`` is how well formulas did, by their text, so that none is tried twice; one that was
    given up early keeps the bound it had then, also after a stop.
    """

    generation: int
    population: tuple[Scored, ...]
    best: tuple[Scored, ...]
    known: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the stand as plain values."""
        return {
            "generation": self.generation,
            "population": [[str(each.formula), each.fitness] for each in self.population],
            "best": [[str(each.formula), each.fitness] for each in self.best],
            "known": dict(self.known),
        }


def stand_from(plain: Mapping[str, Any], names: Sequence[str]) -> Stand:
    """Read a stand from plain values."""
    population, best = (
        tuple(Scored(parse(text, names), float(fitness)) for text, fitness in plain[part])
        for part in ("population", "best")
    )
    known = {str(text): float(fitness) for text, fitness in plain["known"].items()}
    return Stand(int(plain["generation"]), population, best, known)


@dataclass(frozen=True, slots=True)
class Search:
    """A search for formulas of a language that do well; those of ``first`` it begins with."""

    language: Language
    fitness: Fitness
    seed: int
    ways: Ways = Ways()
    first: tuple[Formula, ...] = ()

    def begin(self) -> Stand:
        """Make and score the first generation."""
        made = first_population(self._chance(0), self.language, self.ways.population)
        return self._scored(Stand(0, (), ()), [*self.first, *made][: self.ways.population])

    def step(self, stand: Stand) -> Stand:
        """Breed and score the next generation."""
        rng = self._chance(stand.generation + 1)
        parents = self._parents(stand.population)
        children = [
            self._child(rng, stand.population, parents) for _ in range(self.ways.population)
        ]
        return self._scored(replace(stand, generation=stand.generation + 1), children)

    def _chance(self, generation: int) -> Random:
        return Random(f"{self.seed}/{generation}")

    def _scored(self, stand: Stand, formulas: Sequence[Formula]) -> Stand:
        """Score a generation, equal formulas once, and keep the best of all so far."""
        shortest = [simplified(formula) for formula in formulas]
        texts = [str(formula) for formula in shortest]
        by_text = dict(zip(texts, shortest, strict=True))
        new = [text for text in by_text if text not in stand.known]
        floor = stand.best[-1].fitness if len(stand.best) >= self.ways.kept else WORST
        found = self.fitness([by_text[text] for text in new], floor)
        known = {**stand.known, **dict(zip(new, found, strict=True))}
        scored = {text: Scored(formula, known[text]) for text, formula in by_text.items()}
        population = _ranked(scored[text] for text in texts)
        distinct = {str(each.formula): each for each in stand.best} | scored
        best = _ranked(distinct.values())[: self.ways.kept]
        return Stand(stand.generation, tuple(population), tuple(best), _latest(known))

    def _child(
        self, rng: Random, population: Sequence[Scored], parents: Sequence[Formula]
    ) -> Formula:
        ways = self.ways
        weights = (ways.crossover, ways.reproduction, ways.replacement, ways.swap)
        way = rng.choices(range(len(weights)), weights)[0]
        if way == 0:
            return crossed(rng, rng.choice(parents), rng.choice(parents))
        chosen = self._winner(rng, population)
        if way == 1:
            return chosen
        return replaced(rng, chosen, self.language) if way == 2 else swapped(rng, chosen)

    def _parents(self, population: Sequence[Scored]) -> list[Formula]:
        """Return the best that are not too deep for a crossing, one of each fitness.

        Copies of one formula, and others that rank alike, would soon be all there is to cross.
        """
        count = max(2, round(self.ways.parents * len(population)))
        fit = _different(each for each in population if each.formula.depth <= DEEPEST_PARENT)
        return [each.formula for each in fit[:count] or population[:count]]

    def _winner(self, rng: Random, population: Sequence[Scored]) -> Formula:
        """Draw a few and return the best of them; the population is in order."""
        drawn = (rng.randrange(len(population)) for _ in range(self.ways.tournament))
        return population[min(drawn)].formula


def _ranked(scored: Iterable[Scored]) -> list[Scored]:
    """Put the fittest first; of equals the shorter, then by their text."""
    return sorted(scored, key=lambda each: (-each.fitness, len(each.formula), str(each.formula)))


def _different(ranked: Iterable[Scored]) -> list[Scored]:
    """Return the first of those of equal fitness: nearly always they rank pages alike."""
    found: dict[float, Scored] = {}
    for each in ranked:
        found.setdefault(each.fitness, each)
    return [*found.values()]


def _latest(known: Mapping[str, float]) -> Mapping[str, float]:
    """Forget what was learnt first where there is too much."""
    return dict(islice(known.items(), max(0, len(known) - REMEMBERED), None))
