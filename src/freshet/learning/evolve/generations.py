"""A search from one generation to the next, until it has had all of them."""

from collections.abc import Iterator

from freshet.learning.evolve.genetic_search import Search, Stand


def stands(search: Search, begun: Stand | None = None) -> Iterator[Stand]:
    """Yield where a search stands after each generation that is still to come."""
    stand = begun
    if stand is None:
        stand = search.begin()
        yield stand
    while stand.generation + 1 < search.ways.generations:
        stand = search.step(stand)
        yield stand
