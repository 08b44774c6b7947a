"""Pages of the same host."""

from dataclasses import replace

import numpy as np

from freshet.relate.same_host import SameHost
from tests.relate.grids import text_grid


def test_pages_of_the_same_host_are_related_by_their_words() -> None:
    grid = text_grid(["abc"], ["abd"], ["abc"], ["abc"], ["x"])
    grid = replace(grid, hosts=np.array([5, 5, 5, 9, 5], np.uint64))
    related = SameHost().related(grid, 3)
    assert related.of(0)[0].tolist() == [2, 1]
    assert related.of(3)[0].tolist() == []
    assert related.of(4)[0].tolist() == []
    assert SameHost().related(grid, 1).of(0)[0].tolist() == [2]
