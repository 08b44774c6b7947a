"""Lines are drawn where something is known, with a band where it is known how well."""

import numpy as np
import pytest

from freshet.draw.lines import Line, lines
from freshet.draw.theme import NothingToDraw, Picture
from tests.draw.pictures import rows_of, svg_of

AT = np.array([1.0, 2.0, 3.0])
KNOWN = Line("known", AT, np.array([0.2, np.nan, 0.4]), np.array([0.1, 0.1, np.nan]))
PLAIN = Line("plain", AT, np.array([0.5, 0.6, 0.7]))


def drawn(*series: Line) -> Picture:
    return lines(series, title="A title", of="some pages", across="cycle", measure="NDCG")


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
    unknown = Line("unknown", AT, np.full(3, np.nan))
    with pytest.raises(NothingToDraw, match="NDCG"):
        drawn(unknown)
