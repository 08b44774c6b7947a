"""Formulas evolved for other measures."""

import numpy as np
from experiments.gp4c.other_fitness import fitness_rows, table_lines, weighted_world

from freshet.learning.evolve.genetic_search import GPConfig


def test_a_row_has_all_measures_of_the_formulas_evolved_for_a_fitness() -> None:
    trace = weighted_world(600)
    assert np.ptp(trace.pages.importance) > 1
    rows = list(
        fitness_rows(trace, ("changerate", "weighted_freshness"), GPConfig(8, 2, 4), folds=1)
    )
    assert [row.fitness for row in rows] == ["changerate", "weighted_freshness"]
    assert all(0 < value < 1 for row in rows for value in row.measures[:4])
    assert np.isnan(rows[0].measures[4])
    heading, *lines = table_lines(rows)
    assert all(len(line) == len(heading) for line in lines)
