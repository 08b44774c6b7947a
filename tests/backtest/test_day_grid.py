"""The layout of observed days as cells."""

from dataclasses import replace

import numpy as np
import pytest

from freshet.backtest.day_grid import (
    cells_of_all_days,
    cells_of_named_trace,
    count_known_days,
    source_of,
)
from freshet.backtest.site_wide_days import SiteWideDay, SiteWideDays
from freshet.backtest.trace import PageGroupKeys, build_trace
from freshet.core.tables import PageDayTable
from tests.backtest.traces import lines_of


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


def test_a_site_wide_day_is_dropped_from_its_own_source_alone() -> None:
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


def test_forty_per_cent_are_not_yet_a_site_wide_day() -> None:
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
    monkeypatch.setattr("freshet.backtest.day_grid.ROW_BATCH", 7)
    parts = cells_of_all_days(table, min_known_share=0.2)
    assert in_one_batch.new_links is not None
    for name in ("pages", "changed", "unknown", "new_links"):
        assert np.array_equal(getattr(in_one_batch, name), getattr(parts, name))
    assert in_one_batch.new_links.sum() == np.maximum(table.new_links, 0).sum()


def test_the_raw_trace_keeps_site_wide_days_and_says_which_they_are() -> None:
    rows = [("p", str(page), day, day == 1 and page < 9) for page in range(21) for day in range(5)]
    table = days(*rows)
    raw, mixed = (cells_of_named_trace(table, name) for name in ("raw", "mixed"))
    assert raw.changed[0].tolist() == [False, True, False, False, False]
    for trace_cells, are_dropped in ((raw, False), (mixed, True)):
        assert trace_cells.site_wide_days == SiteWideDays(
            (SiteWideDay("p", 1, 21, 9),), are_dropped
        )
    kept = cells_of_named_trace(table, "mixed", drop=False)
    dropped = cells_of_named_trace(table, "raw", drop=True)
    assert np.array_equal(kept.changed, raw.changed)
    assert np.array_equal(dropped.changed, mixed.changed)


def test_a_dropped_day_is_cut_out_of_the_days_of_its_site() -> None:
    """Site p changes on days 12 and 13; page 0 also changes on days 11 and 14; q on day 11."""
    rows = [
        *(
            ("p", str(page), day, day in (12, 13) or (page == 0 and day in (11, 14)))
            for page in range(30)
            for day in range(10, 16)
        ),
        *(("q", "other", day, day == 11) for day in range(10, 16)),
    ]
    table = days(*rows)
    for drop, lines in (
        (False, {0: ".xxxx.", 1: "..xx..", 30: ".x...."}),
        (True, {0: "??.xx.", 1: "??....", 30: ".x...."}),
    ):
        trace_cells = cells_of_all_days(table, min_known_share=0.6, drop=drop)
        drawn_cells = np.where(trace_cells.unknown, "?", np.where(trace_cells.changed, "x", "."))
        assert {page: "".join(drawn_cells[page]) for page in lines} == lines
        assert trace_cells.site_wide_days is not None
        assert [day.day for day in trace_cells.site_wide_days.days] == [12, 13]


def test_pages_belong_to_the_given_sites() -> None:
    table = days(*(("p", str(page), 1, True) for page in range(21)), ("p", "0", 0, False))
    sites = ["a" if page < 20 else "b" for page in range(21)]
    found = [cells_of_all_days(table, sites=names).site_wide_days for names in (None, sites)]
    assert [len(days_found.days) for days_found in found if days_found] == [1, 0]


def test_site_wide_days_before_the_used_days_are_not_named() -> None:
    table = days(*(("p", str(page), day, day in (2, 7)) for page in range(21) for day in range(10)))
    for name, max_days, named_days in (("raw", 4, [7]), ("raw", 8, [2, 7]), ("mixed", 6, [7])):
        trace_cells = cells_of_named_trace(table, name, max_days=max_days)
        assert trace_cells.site_wide_days is not None
        assert [day.day for day in trace_cells.site_wide_days.days] == named_days
