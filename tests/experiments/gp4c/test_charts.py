"""The figures say what they show: bands, running means, and the measures by their names."""

import numpy as np
from experiments.gp4c.charts import charts
from experiments.gp4c.evaluation import FigurePoint

from tests.draw.chart_reading import rows_of, svg_of


def points(figure: str, method: str, cycles: int) -> list[FigurePoint]:
    high = {cycle: float(cycle % 7 == 0) for cycle in range(1, cycles + 1)}
    return [
        FigurePoint(figure, "snap", method, "ndcg", cycle, value, 0.1)
        for cycle, value in high.items()
    ]


def test_many_cycles_are_drawn_as_running_means_and_the_picture_says_so() -> None:
    ((name, picture),) = charts(points("fig4", "cg", 140))
    assert name == "fig4-snap-ndcg"
    shares = np.array(rows_of(picture, "share")).ravel()
    assert np.allclose(shares[3:-3], 1 / 7)
    assert "each point is the mean of 7 cycles around it" in svg_of(picture)


def test_few_cycles_are_drawn_as_they_are() -> None:
    ((_, picture),) = charts(points("fig4", "cg", 14))
    assert np.array(rows_of(picture, "share")).max() == 1
    assert "each point is the mean" not in svg_of(picture)


def test_the_chart_describes_its_bands() -> None:
    ((_, picture),) = charts(points("fig3", "best", 5))
    assert "95 % confidence" in svg_of(picture)


def test_a_measure_is_named_as_in_the_tables() -> None:
    ((_, picture),) = charts(points("fig5", "evolved for changerate", 5))
    assert ">evolved for ChangeRate<" in svg_of(picture)
