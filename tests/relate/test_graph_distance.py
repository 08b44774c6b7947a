"""Pages near each other in the graph of links."""

from freshet.relate.graph_distance import GraphDistance
from tests.relate.grids import text_grid

TEXT: list[str | None] = ["a"]


def test_pages_one_link_apart_come_before_pages_two_links_apart() -> None:
    grid = text_grid(TEXT, TEXT, TEXT, TEXT, TEXT, links={3: [0, 1], 1: [2]})
    related = GraphDistance().related(grid, 10)
    assert related.of(0)[0].tolist() == [3, 1]
    assert related.of(1)[0].tolist() == [2, 3, 0]
    assert related.of(2)[0].tolist() == [1, 3]
    assert related.of(4)[0].tolist() == []
    assert set(related.weights.tolist()) == {1.0}


def test_pages_reached_in_more_ways_come_first() -> None:
    grid = text_grid(TEXT, TEXT, TEXT, TEXT, TEXT, links={0: [1, 2], 1: [3, 4], 2: [4]})
    assert GraphDistance().related(grid, 10).of(0)[0].tolist() == [1, 2, 4, 3]
    assert GraphDistance().related(grid, 3).of(0)[0].tolist() == [1, 2, 4]


def test_links_are_those_of_the_last_known_version_and_links_outside_are_left_out() -> None:
    grid = text_grid(TEXT, TEXT, links={0: [0]})
    assert GraphDistance().related(grid, 10).pages.tolist() == []
