"""Genetic search for formulas: the fittest formulas of each generation have the most children.

Santos et al. 2015, sections 4 and 5.2. Their rates of crossover, reproduction and mutation add up
to more than 1; here each child is made by one operator, with probabilities in that proportion.
Every generation has its own random generator, so that a resumed search equals an uninterrupted one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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

FitnessFunction = Callable[[Sequence[tuple[Sequence[Formula], float]]], list[list[float]]]
"""Returns the fitness of the formulas of several searches, each with its floor.

Evaluation of formulas that cannot reach the floor may stop early.
"""

NO_FITNESS_FLOOR = float("-inf")
MAX_KNOWN_FITNESSES = 100_000


@dataclass(frozen=True, slots=True)
class GPConfig:
    """The parameters of a search: its sizes, and the rates of the genetic operators."""

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
    """A formula and its fitness."""

    formula: Formula
    fitness: float


@dataclass(frozen=True, slots=True)
class Generation:
    """A scored generation, best formula first, and the best formulas of the whole search.

    ``fitness_by_text`` has the fitness of earlier formulas, so that none is evaluated twice. A
    formula whose evaluation stopped early keeps the bound it had then.
    """

    number: int
    population: tuple[ScoredFormula, ...]
    best: tuple[ScoredFormula, ...]
    fitness_by_text: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the generation as values for JSON."""
        return {
            "generation": self.number,
            "population": [[str(scored.formula), scored.fitness] for scored in self.population],
            "best": [[str(scored.formula), scored.fitness] for scored in self.best],
            "known": dict(self.fitness_by_text),
        }


def generation_from_json(document: Mapping[str, Any], variables: Sequence[str]) -> Generation:
    """Return the generation that ``as_json`` described."""
    population, best = (
        tuple(
            ScoredFormula(parse_formula(text, variables), float(fitness))
            for text, fitness in document[key]
        )
        for key in ("population", "best")
    )
    fitness_by_text = {str(text): float(fitness) for text, fitness in document["known"].items()}
    return Generation(int(document["generation"]), population, best, fitness_by_text)


@dataclass(frozen=True, slots=True)
class UnscoredGeneration:
    """The texts of a new generation, its formulas by text, and those to be evaluated.

    ``last`` has the number of the new generation and the results of the earlier ones. Evaluation of
    a formula that cannot reach the ``floor`` may stop early.
    """

    last: Generation
    texts: tuple[str, ...]
    formulas_by_text: Mapping[str, Formula]
    new_formulas: tuple[Formula, ...]
    floor: float


@dataclass(frozen=True, slots=True)
class GeneticSearch:
    """Breeding and ranking of one search; the first generation begins with ``initial_formulas``."""

    primitives: PrimitiveSet
    seed: int
    config: GPConfig = GPConfig()
    initial_formulas: tuple[Formula, ...] = ()

    def breed(self, last: Generation | None) -> UnscoredGeneration:
        """Make the formulas of the first generation, or those after the last one."""
        count = self.config.population
        if last is None:
            random_formulas = initial_population(self._random(0), self.primitives, count)
            formulas = [*self.initial_formulas, *random_formulas][:count]
            return self._unscored(Generation(0, (), ()), formulas)
        rng, parents = self._random(last.number + 1), self._parents(last.population)
        children = [self._child(rng, last.population, parents) for _ in range(count)]
        return self._unscored(replace(last, number=last.number + 1), children)

    def _random(self, generation: int) -> Random:
        return Random(f"{self.seed}/{generation}")

    def _unscored(self, last: Generation, formulas: Sequence[Formula]) -> UnscoredGeneration:
        """Simplify formulas, and find those that were not evaluated before, equal ones once."""
        simplified = [simplify(formula) for formula in formulas]
        texts = [str(formula) for formula in simplified]
        by_text = dict(zip(texts, simplified, strict=True))
        new_formulas = [by_text[text] for text in by_text if text not in last.fitness_by_text]
        floor = last.best[-1].fitness if len(last.best) >= self.config.kept else NO_FITNESS_FLOOR
        return UnscoredGeneration(last, tuple(texts), by_text, tuple(new_formulas), floor)

    def score(self, unscored: UnscoredGeneration, new_fitnesses: Sequence[float]) -> Generation:
        """Return a generation with the fitness of its new formulas.

        The best formulas of the whole search are kept.
        """
        last = unscored.last
        new_texts = [str(formula) for formula in unscored.new_formulas]
        fitness_by_text = {
            **last.fitness_by_text,
            **dict(zip(new_texts, new_fitnesses, strict=True)),
        }
        scored_by_text = {
            text: ScoredFormula(formula, fitness_by_text[text])
            for text, formula in unscored.formulas_by_text.items()
        }
        population = _rank(scored_by_text[text] for text in unscored.texts)
        candidates = {str(scored.formula): scored for scored in last.best} | scored_by_text
        best = _rank(candidates.values())[: self.config.kept]
        return Generation(last.number, tuple(population), tuple(best), _latest(fitness_by_text))

    def _child(
        self, rng: Random, population: Sequence[ScoredFormula], parents: Sequence[Formula]
    ) -> Formula:
        """Make a child by one of the genetic operators, drawn at random."""
        config = self.config
        rates = (config.crossover, config.reproduction, config.replacement, config.swap)
        operator = rng.choices(range(len(rates)), rates)[0]
        if operator == 0:
            return cross_over(rng, rng.choice(parents), rng.choice(parents))
        winner = self._tournament_winner(rng, population)
        if operator == 1:
            return winner
        if operator == 2:
            return replace_subtree(rng, winner, self.primitives)
        return swap_subtrees(rng, winner)

    def _parents(self, population: Sequence[ScoredFormula]) -> list[Formula]:
        """Return the fittest formulas that are not too deep for crossover, one per fitness.

        Formulas of equal fitness nearly always rank pages alike. Without this filter, copies of one
        formula would soon be the only parents.
        """
        count = max(2, round(self.config.parents * len(population)))
        first_by_fitness: dict[float, ScoredFormula] = {}
        for scored in population:
            if scored.formula.depth <= MAX_PARENT_DEPTH:
                first_by_fitness.setdefault(scored.fitness, scored)
        parents = [*first_by_fitness.values()][:count] or population[:count]
        return [scored.formula for scored in parents]

    def _tournament_winner(self, rng: Random, population: Sequence[ScoredFormula]) -> Formula:
        """Draw some formulas and return the fittest of them; the population is in order."""
        positions = (rng.randrange(len(population)) for _ in range(self.config.tournament))
        return population[min(positions)].formula


def run_generations(
    searches: Sequence[GeneticSearch],
    evaluate: FitnessFunction,
    lasts: Sequence[Generation] = (),
) -> Iterator[tuple[Generation, ...]]:
    """Yield the generations of one or more searches, which are evaluated together.

    ``lasts`` are the last generations of stopped searches, empty for new ones. Every search finds
    what it would find alone.
    """
    current: Sequence[Generation | None] = [*lasts] or [None] * len(searches)
    while current[0] is None or current[0].number + 1 < searches[0].config.generations:
        bred = [search.breed(last) for search, last in zip(searches, current, strict=True)]
        fitnesses = evaluate([(unscored.new_formulas, unscored.floor) for unscored in bred])
        generations = [
            search.score(unscored, values)
            for search, unscored, values in zip(searches, bred, fitnesses, strict=True)
        ]
        current = generations
        yield tuple(generations)


def _rank(formulas: Iterable[ScoredFormula]) -> list[ScoredFormula]:
    """Sort formulas: the fittest first, then the shorter, then by text."""
    return sorted(
        formulas, key=lambda scored: (-scored.fitness, len(scored.formula), str(scored.formula))
    )


def _latest(fitness_by_text: Mapping[str, float]) -> Mapping[str, float]:
    """Return the latest entries, as many as are remembered."""
    first = max(0, len(fitness_by_text) - MAX_KNOWN_FITNESSES)
    return dict(islice(fitness_by_text.items(), first, None))
