"""Traces: packed cells, and the layout of observed days as cells."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from freshet.backtest.imputation import impute_unknown
from freshet.backtest.trace import (
    PageGroupKeys,
    Trace,
    build_trace,
    cells_of_all_days,
    cells_of_named_trace,
    count_known_days,
    source_of,
)
from freshet.core.tables import BoolArray, PageDayTable
from tests.backtest.traces import drawn, lines_of


def days(*rows: tuple[str, str, int, bool]) -> PageDayTable:
    """Return a table of rows of part, page, day and whether the page changed."""
    pages = sorted({(part, page) for part, page, _, _ in rows})
    return PageDayTable(
        pages=np.array([pages.index(row[:2]) for row in rows], np.int32),
        days=np.array([row[2] for row in rows], np.int32),
        changed=np.array([row[3] for row in rows], np.bool_),
        urls=tuple(page for _, page in pages),
        parts=tuple(part for part, _ in pages),
    )


def shown(table: PageDayTable, name: str = "mixed", longest: int = 180) -> dict[str, str]:
    """Return each page's cells, drawn as a line."""
    trace_cells = cells_of_named_trace(table, name, max_days=longest)
    lines = np.where(trace_cells.unknown, "?", np.where(trace_cells.changed, "x", "."))
    return {
        f"{table.parts[page]}/{table.urls[page]}": "".join(line)
        for page, line in zip(trace_cells.pages, lines, strict=True)
    }


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


def test_parts_with_a_suffix_are_one_source() -> None:
    assert [source_of(part) for part in ("a", "a_b", "a_c", "a_d", "a_e")] == [
        "a", "a", "a", "a", "a_e",
    ]  # fmt: skip


def test_days_become_cells_in_the_order_of_time() -> None:
    table = days(("p", "one", 7, True), ("p", "one", 3, False), ("p", "one", 5, False))
    assert shown(table) == {"p/one": "..x"}


def test_a_day_that_only_other_pages_were_seen_on_is_unknown() -> None:
    table = days(
        *(("p", "one", day, day == 4) for day in range(5)),
        *(("p_b", "two", day, False) for day in range(5) if day != 1),
    )
    assert shown(table) == {"p/one": "....x", "p_b/two": ".?..."}


def test_sources_end_together_whatever_their_dates() -> None:
    table = days(
        *(("p", "one", day, day == 9) for day in range(10)),
        *(("q", "two", 100 + 7 * day, day == 7) for day in range(8)),
    )
    assert shown(table) == {"p/one": ".........x", "q/two": "??.......x"}


def test_only_the_last_days_count() -> None:
    table = days(*(("p", "one", day, day == 0) for day in range(10)))
    assert shown(table, longest=4) == {"p/one": "...."}


def test_pages_that_are_hardly_known_are_left_out() -> None:
    table = days(
        *(("p", "one", day, False) for day in range(10)),
        *(("p", "two", day, False) for day in range(8)),
        *(("p", "three", day, False) for day in range(7)),
    )
    assert shown(table) == {"p/one": "..........", "p/two": "........??"}


def test_a_mass_day_is_dropped_from_its_own_source_alone() -> None:
    """On day 1, 9 of 21 pages of source p change; source q has as many changes but 20 pages."""
    rows = [
        (part, str(page), day, day == 1 and page < 9)
        for part, count in (("p", 21), ("q", 20))
        for page in range(count)
        for day in range(5)
    ]
    lines = shown(days(*rows))
    assert lines["p/0"] == "?...."
    assert lines["q/0"] == ".x..."


def test_forty_per_cent_are_not_yet_a_mass_day() -> None:
    rows = [("p", str(page), day, day == 1 and page < 10) for page in range(25) for day in range(3)]
    assert shown(days(*rows))["p/0"] == ".x."


def test_each_trace_has_its_own_sources() -> None:
    names = ("ota_snap", "ota_snap_b", "stalker", "news_de", "hn_front")
    table = days(*((name, "one", day, False) for name in names for day in range(3)))
    assert list(shown(table, "snap")) == ["ota_snap/one", "ota_snap_b/one"]
    assert list(shown(table, "mixed")) == ["ota_snap/one", "ota_snap_b/one", "stalker/one"]


def test_nothing_observed_gives_no_cells() -> None:
    assert cells_of_named_trace(days(), "mixed").changed.shape == (0, 0)
    assert cells_of_named_trace(days(("news_de", "one", 1, True)), "mixed").changed.shape == (0, 0)


def observed(*rows: tuple[str, int, bool, int]) -> PageDayTable:
    """Return a table of rows of page, day, whether it changed, and how many links are new."""
    table = days(*(("p", page, day, changed) for page, day, changed, _ in rows))
    return replace(table, new_links=np.array([row[3] for row in rows], np.int32))


def test_one_grid_reaches_from_the_first_day_of_any_page_to_the_last() -> None:
    table = days(
        *(("p", "one", day, day == 9) for day in range(6, 10)),
        *(("q", "two", day, day == 8) for day in (5, 7, 8)),
    )
    trace_cells = cells_of_all_days(table, min_known_share=0.5)
    trace = build_trace("any", _no_keys(2), trace_cells.changed, unknown=trace_cells.unknown)
    assert lines_of(trace) == ["?...x", ".?.x?"]
    assert count_known_days(table).tolist() == [4, 3]


def test_a_day_with_several_looks_changed_if_any_found_a_change() -> None:
    table = observed(("one", 1, True, 2), ("one", 1, False, 3), ("one", 0, False, -1))
    trace_cells = cells_of_all_days(table)
    assert trace_cells.changed.tolist() == [[False, True]]
    assert trace_cells.new_links is not None
    assert trace_cells.new_links.tolist() == [[0, 5]]
    assert count_known_days(table).tolist() == [2]


def test_on_one_grid_the_share_of_known_days_may_be_chosen() -> None:
    table = days(
        *(("p", "one", day, False) for day in range(10)),
        *(("p", "two", day, False) for day in range(3)),
    )
    assert cells_of_all_days(table).pages.tolist() == [0]
    assert cells_of_all_days(table, min_known_share=0.3).pages.tolist() == [0, 1]
    assert cells_of_all_days(table, min_known_share=0.31).pages.tolist() == [0]


def test_no_days_give_no_cells_on_one_grid_either() -> None:
    assert cells_of_all_days(days()).changed.shape == (0, 0)
    assert count_known_days(days()).tolist() == []


def test_more_new_links_than_a_cell_holds_are_as_many_as_it_holds() -> None:
    trace_cells = cells_of_all_days(observed(("one", 0, True, 70_000), ("one", 1, True, 4)))
    assert trace_cells.new_links is not None
    assert trace_cells.new_links.tolist() == [[65_535, 4]]


def test_unknown_link_counts_are_none() -> None:
    assert cells_of_all_days(observed(("one", 0, True, -1), ("one", 1, True, -1))).new_links is None


def test_links_stand_in_the_cells_of_a_named_trace() -> None:
    table = observed(("one", 3, True, 2), ("two", 3, False, 0), ("one", 5, True, 7))
    trace_cells = cells_of_named_trace(replace(table, parts=("p", "p")), "mixed", max_days=2)
    assert trace_cells.new_links is not None
    assert trace_cells.new_links.tolist() == [[2, 7]]


def _no_keys(count: int) -> PageGroupKeys:
    return PageGroupKeys(*(np.zeros(count, np.uint64),) * 3)


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


def test_the_row_batch_size_does_not_change_the_cells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    rows = zip(
        rng.choice(["a", "b", "c"], 60).tolist(), rng.integers(0, 12, 60).tolist(),
        (rng.random(60) < 0.3).tolist(), rng.integers(-1, 5, 60).tolist(), strict=True,
    )  # fmt: skip
    table = observed(*rows)
    in_one_batch = cells_of_all_days(table, min_known_share=0.2)
    monkeypatch.setattr("freshet.backtest.trace.ROW_BATCH", 7)
    parts = cells_of_all_days(table, min_known_share=0.2)
    assert in_one_batch.new_links is not None
    for name in ("pages", "changed", "unknown", "new_links"):
        assert np.array_equal(getattr(in_one_batch, name), getattr(parts, name))
    assert in_one_batch.new_links.sum() == np.maximum(table.new_links, 0).sum()
