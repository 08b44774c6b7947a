"""Unknown cells are imputed from earlier runs."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.backtest.imputation import impute_unknown
from freshet.backtest.trace import Trace
from tests.backtest.traces import drawn

LINES = st.integers(1, 30).flatmap(
    lambda cycles: st.lists(
        st.text("x.?", min_size=cycles, max_size=cycles), min_size=1, max_size=20
    )
)


def line(trace: Trace, page: int) -> str:
    """Return a page's cells, drawn as a line."""
    return "".join(".x"[int(trace.changed(cycle)[page])] for cycle in range(trace.cycles))


def guessed(cells: str) -> str:
    """Guess the unknown cells of one page, one after the other, as the definition says it."""
    done = ""
    for cell in cells:
        runs = [len(run) for run in done.split("x")]
        earlier, current = Counter(runs[1:-1]), runs[-1]
        usual = min(earlier, key=lambda run: (-earlier[run], run), default=None)
        likely = usual is not None and current >= usual
        done += cell if cell != "?" else ".x"[likely]
    return done


@pytest.mark.parametrize(
    ("cells", "filled"),
    [
        ("xxx?", "xxxx"),
        ("x..x..?", "x..x..x"),
        ("x..x.?", "x..x.."),
        ("x.x..x?", "x.x..x."),
        ("x.x..x.?", "x.x..x.x"),
        ("x..x..x.x..?", "x..x..x.x..x"),
        ("x.x??????", "x.x.x.x.x"),
        ("???", "..."),
        ("x???", "x..."),
        ("...x...?", "...x...."),
    ],
)
def test_an_unknown_cell_is_a_change_after_the_usual_run(cells: str, filled: str) -> None:
    assert guessed(cells) == filled
    assert line(impute_unknown(drawn(cells)), 0) == filled


@given(LINES)
def test_the_compiled_imputation_equals_the_definition(lines: list[str]) -> None:
    trace = impute_unknown(drawn(*lines))
    assert [line(trace, page) for page in range(len(lines))] == [guessed(each) for each in lines]


@given(LINES, st.data())
def test_imputation_uses_earlier_cells_only(lines: list[str], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(lines[0])))
    others = [each[:cut] + each[cut:][::-1] for each in lines]
    before, after = impute_unknown(drawn(*lines)), impute_unknown(drawn(*others))
    assert np.array_equal(before.changed_bits[:cut], after.changed_bits[:cut])


def test_imputed_cells_stay_marked_as_unknown_and_padding_stays_clear() -> None:
    trace = drawn("xx?", "x.?", "?..")
    filled = impute_unknown(trace)
    assert np.array_equal(filled.unknown_bits, trace.unknown_bits)
    assert filled.known_share == trace.known_share
    assert filled.change_counts().tolist() == [3, 1, 0]
    assert np.bitwise_count(filled.changed_bits).sum() == 4


def test_many_pages_are_imputed_in_blocks() -> None:
    lines = ["xx?", "x.?"] * 20_000
    assert impute_unknown(drawn(*lines)).change_counts().tolist() == [3, 1] * 20_000


def test_a_trace_without_gaps_is_left_as_it_is() -> None:
    trace = drawn("x.x", "..x")
    assert impute_unknown(trace) is trace
