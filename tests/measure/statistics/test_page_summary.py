from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.types import Change
from freshet.measure.statistics.page_summary import (
    PageChangeSummary,
    PageTraits,
    concatenate_figures,
    figures_from_columns,
    look_table,
    summaries_from_columns,
    summaries_to_columns,
    summarise_page,
    with_rate,
)

HOUR = 3600.0
SAME = Change(False, bytes=False, text=False, significant=False, structure=False, links=False)
OTHER = Change(True, bytes=True, text=True, significant=False, structure=True, links=False)

maybe = st.none() | st.floats(0, 1)
traits = st.builds(
    PageTraits,
    shape=st.none() | st.sampled_from(["flat", "sloped", "knotted"]),
    knot_hours=maybe,
    knot_dice=maybe,
    survival=st.tuples(*[maybe] * 6),
    unbroken_survival=st.tuples(*[maybe] * 6),
    stay=maybe,
    go=maybe,
)
counts = st.none() | st.integers(0, 10**6)
summaries = st.builds(
    PageChangeSummary,
    looks=st.integers(0, 10**6),
    compared=st.integers(0, 10**6),
    changes=st.integers(0, 10**6),
    by_bytes=counts,
    by_text=counts,
    significant=counts,
    by_structure=counts,
    by_links=counts,
    first=maybe,
    last=maybe,
    interval_hours=maybe,
    expected_hours=maybe,
    dice_mean=maybe,
    dice_median=maybe,
    traits=traits,
    why=st.lists(st.tuples(st.sampled_from(["dice_mean", "shape"]), st.just("too: few"))).map(
        tuple
    ),
)


def test_changes_are_counted_by_what_differed() -> None:
    looks = look_table([(0.0, None), (HOUR, replace(OTHER, dice=0.5)), (2 * HOUR, SAME),
                      (4 * HOUR, replace(OTHER, dice=0.9))])  # fmt: skip
    summary = summarise_page(looks, rate=12.0)
    assert (summary.looks, summary.compared, summary.changes) == (4, 3, 2)
    assert (summary.by_bytes, summary.by_text, summary.significant) == (2, 2, 0)
    assert (summary.by_structure, summary.by_links) == (2, 0)
    assert (summary.first, summary.last) == (0.0, 4 * HOUR)
    assert summary.interval_hours == 2.0
    assert summary.expected_hours == 2.0
    assert (summary.dice_mean, summary.dice_median) == (pytest.approx(0.7), pytest.approx(0.7))
    assert summary.why == ()


def test_what_no_look_tells_is_not_said() -> None:
    summary = summarise_page(look_table([(0.0, None), (1.0, Change(True)), (2.0, Change(True))]))
    assert (summary.by_bytes, summary.by_links, summary.dice_mean) == (None, None, None)
    assert dict(summary.why) == {
        "expected_hours": "changed at every look",
        "dice_mean": "no change has two versions to compare",
    }


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ([], "no two looks were compared"),
        ([None], "no two looks were compared"),
        ([None, SAME, SAME], "no change in 2 comparisons"),
        ([None, SAME], "no change in 1 comparison"),
    ],
)
def test_without_a_change_there_is_no_interval(changes: list[Change | None], why: str) -> None:
    summary = summarise_page(look_table((n * HOUR, change) for n, change in enumerate(changes)))
    assert summary.interval_hours is None
    assert dict(summary.why)["interval_hours"] == why


def test_one_change_has_the_interval_since_the_first_version() -> None:
    summary = summarise_page(
        look_table([(0.0, None), (HOUR, SAME), (3 * HOUR, OTHER), (9 * HOUR, SAME)])
    )
    assert summary.interval_hours == 3.0


def test_a_first_look_that_found_a_change_begins_the_first_version() -> None:
    summary = summarise_page(look_table([(0.0, OTHER), (HOUR, SAME), (3 * HOUR, OTHER)]))
    assert (summary.changes, summary.interval_hours) == (2, 3.0)


def test_a_page_that_changed_at_nearly_every_look_has_no_rate() -> None:
    looks = [(0.0, None), *((n * HOUR, OTHER) for n in range(1, 20)), (20 * HOUR, SAME)]
    summary = summarise_page(look_table(looks), rate=100.0)
    assert (summary.changes, summary.compared, summary.expected_hours) == (19, 20, None)
    assert dict(summary.why)["expected_hours"] == "changed at nearly every look"
    assert with_rate(summary, 100.0).expected_hours is None


def test_changes_of_one_moment_have_no_interval() -> None:
    summary = summarise_page(look_table([(5.0, OTHER), (5.0, OTHER)]))
    assert summary.interval_hours is None
    assert dict(summary.why)["interval_hours"] == "all versions have the same time"


@given(st.permutations([(0.0, None), (HOUR, OTHER), (2 * HOUR, SAME), (5 * HOUR, OTHER)]))
def test_the_order_of_storage_does_not_matter(summary: list[tuple[float, Change | None]]) -> None:
    ordered = sorted(summary, key=lambda item: item[0])
    assert summarise_page(look_table(summary)) == summarise_page(look_table(ordered))


@given(st.lists(summaries, max_size=4))
def test_summaries_come_back_from_their_columns(pages: list[PageChangeSummary]) -> None:
    columns = summaries_to_columns(pages)
    assert not any(column.dtype.hasobject for column in columns.values())
    assert summaries_from_columns(columns) == pages


@given(st.lists(summaries, max_size=4), st.lists(summaries, max_size=4))
def test_figures_of_parts_joined_are_those_of_the_whole(
    first: list[PageChangeSummary], second: list[PageChangeSummary]
) -> None:
    parts = [figures_from_columns(summaries_to_columns(pages)) for pages in (first, second)]
    figures = figures_from_columns(summaries_to_columns([*first, *second]))
    assert len(concatenate_figures(parts)) == len(figures)
    np.testing.assert_array_equal(concatenate_figures(parts).knot_hours, figures.knot_hours)
    np.testing.assert_array_equal(concatenate_figures(parts).shape, figures.shape)
    np.testing.assert_array_equal(concatenate_figures(parts).survival, figures.survival)
