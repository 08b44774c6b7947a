"""Lines are drawn where something is known, with a band where it is known how well."""

import re

import numpy as np
import pytest
from experiments.gp4c.line_chart import ChartSeries, line_chart

from freshet.draw.theme import Chart, EmptyChartError
from tests.draw.chart_reading import rows_of, svg_of

AT = np.array([1.0, 2.0, 3.0])
KNOWN = ChartSeries("known", AT, np.array([0.2, np.nan, 0.4]), np.array([0.1, 0.1, np.nan]))
PLAIN = ChartSeries("plain", AT, np.array([0.5, 0.6, 0.7]))


def drawn(*series: ChartSeries) -> Chart:
    return line_chart(
        series, title="A title", subtitles=("some pages",), x_title="cycle", y_title="NDCG"
    )


def test_a_point_that_is_not_known_is_left_out_and_bands_end_at_margins() -> None:
    assert rows_of(drawn(KNOWN), "at", "low", "high") == [
        (1.0, pytest.approx(0.1), pytest.approx(0.3)),
        (3.0, 0.4, 0.4),
    ]


def test_every_line_is_named_in_the_picture() -> None:
    svg = svg_of(drawn(KNOWN, PLAIN))
    assert ">known<" in svg
    assert ">plain<" in svg
    assert ">A title<" in svg


def test_nothing_known_is_nothing_to_draw() -> None:
    unknown = ChartSeries("unknown", AT, np.full(3, np.nan))
    with pytest.raises(EmptyChartError, match="NDCG"):
        drawn(unknown)


def test_lines_upon_each_other_are_all_seen() -> None:
    twins = [ChartSeries(name, AT, np.array([0.2, 0.3, 0.4])) for name in ("one", "two", "three")]
    dashes = set(re.findall(r'stroke-dasharray="([^"]*)"', svg_of(drawn(*twins))))
    assert dashes == {"1,0", "7,7", "2,9"}


def test_of_many_lines_none_is_dashed() -> None:
    many = [ChartSeries(name, AT, np.array([0.2, 0.3, 0.4])) for name in "abcd"]
    assert set(re.findall(r'stroke-dasharray="([^"]*)"', svg_of(drawn(*many)))) == {"1,0"}


def test_few_places_are_marked_and_nothing_between_them() -> None:
    svg = svg_of(drawn(PLAIN))
    assert all(f">{mark}<" in svg for mark in ("1", "2", "3"))
    assert ">1.5<" not in svg
