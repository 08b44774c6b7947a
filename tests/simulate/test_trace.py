"""Traces: packed cells, and the recipe by which observed days become cells."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import array_shapes, arrays

from freshet.core.tables import DayTable, Truths
from freshet.simulate.trace import Keys, cells, packed, source_of
from tests.simulate.traces import drawn


def days(*rows: tuple[str, str, int, bool]) -> DayTable:
    """Return a table of rows of part, page, day and whether the page changed."""
    pages = sorted({(part, page) for part, page, _, _ in rows})
    return DayTable(
        pages=np.array([pages.index(row[:2]) for row in rows], np.int32),
        days=np.array([row[2] for row in rows], np.int32),
        changed=np.array([row[3] for row in rows], np.bool_),
        urls=tuple(page for _, page in pages),
        parts=tuple(part for part, _ in pages),
    )


def shown(table: DayTable, name: str = "mixed", longest: int = 180) -> dict[str, str]:
    """Return each page's cells, drawn as a line."""
    found = cells(table, name, longest=longest)
    lines = np.where(found.unknown, "?", np.where(found.changed, "x", "."))
    return {
        f"{table.parts[page]}/{table.urls[page]}": "".join(line)
        for page, line in zip(found.pages, lines, strict=True)
    }


@given(arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, max_side=20)))
def test_what_is_packed_is_what_comes_out(changed: Truths) -> None:
    keys = Keys(*(np.zeros(len(changed), np.uint64),) * 3)
    unknown = np.roll(changed, 1, axis=1)
    trace = packed("any", keys, changed, unknown=unknown)
    out = np.column_stack([trace.changed(cycle) for cycle in range(trace.cycles)])
    assert np.array_equal(out, changed & ~unknown)
    gaps = np.column_stack([trace.unknown(cycle) for cycle in range(trace.cycles)])
    assert np.array_equal(gaps, unknown)
    assert trace.known_share == pytest.approx(1 - unknown.mean())
    assert trace.change_counts().tolist() == (changed & ~unknown).sum(axis=1).tolist()


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
    assert cells(days(), "mixed").changed.shape == (0, 0)
    assert cells(days(("news_de", "one", 1, True)), "mixed").changed.shape == (0, 0)
