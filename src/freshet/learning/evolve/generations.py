"""A search from one generation to the next, until it has had all of them."""

from collections.abc import Iterator

from freshet.learning.evolve.genetic_search import Generation, GeneticSearch


def run_generations(
    search: GeneticSearch, last_generation: Generation | None = None
) -> Iterator[Generation]:
    """Yield where a search stands after each generation that is still to come."""
    stand = last_generation
    if stand is None:
        stand = search.first_generation()
        yield stand
    while stand.number + 1 < search.config.generations:
        stand = search.next_generation(stand)
        yield stand
