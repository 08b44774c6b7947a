"""Traces: packed cells, digests, and selections of pages."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from freshet.backtest.imputation import impute_unknown
from freshet.backtest.trace import PageGroupKeys, Trace, build_trace
from freshet.core.tables import BoolArray
from tests.backtest.traces import drawn, lines_of


@given(arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, max_side=20)))
def test_packed_cells_are_unpacked_unchanged(changed: BoolArray) -> None:
    keys = PageGroupKeys(*(np.zeros(len(changed), np.uint64),) * 3)
    unknown = np.roll(changed, 1, axis=1)
    trace = build_trace("any", keys, changed, unknown=unknown)
    out = np.column_stack([trace.changed(cycle) for cycle in range(trace.cycles)])
    assert np.array_equal(out, changed & ~unknown)
    gaps = np.column_stack([trace.unknown(cycle) for cycle in range(trace.cycles)])
    assert np.array_equal(gaps, unknown)
    assert trace.known_share == pytest.approx(1 - unknown.mean())
    assert trace.change_counts().tolist() == (changed & ~unknown).sum(axis=1).tolist()


def test_the_bits_of_a_cycle_lie_side_by_side() -> None:
    """A crawl reads one cycle after the other, and of a mapped trace no more than it asks for."""
    trace = drawn(*["x.?x..x"] * 40)
    for bits in (trace.changed_bits, trace.unknown_bits, impute_unknown(trace).changed_bits):
        assert bits.shape == (7, 5)
        assert bits.flags.c_contiguous


def test_an_unknown_cell_counts_as_unchanged() -> None:
    trace = drawn("x?x", "???")
    assert trace.change_counts().tolist() == [2, 0]
    assert trace.known_share == pytest.approx(2 / 6)


def _many(lines: list[str]) -> Trace:
    """Return a trace of lines whose pages all differ in keys, importance and links."""
    trace = drawn(*lines)
    count = np.arange(len(lines), dtype=np.uint64)
    table = replace(
        trace.pages,
        hosts=count + 1,
        sites=count + 2,
        directories=count + 3,
        importance=count + 0.5,
    )
    links = np.arange(trace.cycles * len(lines)).reshape(trace.cycles, -1).astype(np.uint16)
    return replace(trace, pages=table, new_links=links)


@given(st.lists(st.text("x.?", min_size=4, max_size=4), min_size=1, max_size=20), st.data())
def test_some_pages_of_a_trace_are_those_pages(lines: list[str], data: st.DataObject) -> None:
    trace = _many(lines)
    some = data.draw(st.lists(st.integers(0, len(lines) - 1), min_size=1, unique=True))
    places = np.array(some, np.int32)
    part = trace.select(places)
    assert lines_of(part) == [lines[index] for index in some]
    assert part.pages.ids.tolist() == list(range(len(some)))
    assert part.pages.known_since.tolist() == trace.pages.known_since[places].tolist()
    for column in ("hosts", "sites", "directories", "importance"):
        assert np.array_equal(getattr(part.pages, column), getattr(trace.pages, column)[places])
    assert part.new_links is not None
    assert trace.new_links is not None
    assert np.array_equal(part.new_links, trace.new_links[:, places])


def test_all_pages_in_their_order_are_the_same_trace() -> None:
    trace = _many(["x.?", "..x", "?x."])
    assert trace.select(np.arange(3)).digest == trace.digest
    assert trace.select(np.array([1, 0, 2])).digest != trace.digest


def test_the_digest_differs_with_every_part_but_the_name() -> None:
    trace = _many(["x.?", "..x", "?x."])
    assert trace.new_links is not None
    others = [
        drawn("x.?", "..x", "?x."),
        replace(trace, changed_bits=trace.changed_bits ^ np.uint8(32)),
        replace(trace, unknown_bits=trace.unknown_bits ^ np.uint8(32)),
        replace(trace, new_links=trace.new_links + np.uint16(1)),
        replace(trace, new_links=None),
        *(
            replace(trace, pages=replace(trace.pages, **{name: getattr(trace.pages, name)[::-1]}))
            for name in ("hosts", "sites", "directories", "importance")
        ),
    ]
    digests = {trace.digest, *(other.digest for other in others)}
    assert len(digests) == 1 + len(others)
    assert replace(trace, name="another").digest == trace.digest


def test_a_digest_stays_the_same_from_one_run_to_the_next() -> None:
    assert drawn("x.?", "..x").digest == "219ca9b300a027fde9b005e1f62ce001"
