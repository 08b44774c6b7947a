from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, kruskal, mannwhitneyu

from freshet.core.types import FloatArray
from freshet.measure.statistics.groups import (
    compare_groups,
    group_table,
    group_tests,
    make_histogram,
    mean_survival,
    path_depth,
    summarise_group,
    top_level_domain,
)
from freshet.measure.statistics.page_summary import (
    PageChangeSummary,
    PageTraits,
    figures_from_columns,
    summaries_to_columns,
)
from freshet.measure.statistics.rank_tests import holm_correction, kruskal_wallis, mann_whitney

values = st.lists(st.integers(0, 9).map(float), min_size=5, max_size=30)


def page(
    interval: float | None = None, dice: float | None = None, changes: int = 1, **drift: object
) -> PageChangeSummary:
    return PageChangeSummary(
        10, 9, changes, None, None, None, None, None, 0.0, 1.0, interval, None, dice, dice,
        PageTraits(**drift),  # type: ignore[arg-type]
    )  # fmt: skip


def numbers(*result: float) -> FloatArray:
    return np.array(result, np.float64)


@given(st.lists(values, min_size=2, max_size=4))
def test_ranks_over_groups_are_tested_as_scipy_does(groups: list[list[float]]) -> None:
    columns = [np.array(group_values) for group_values in groups]
    if len(np.unique(np.concatenate(columns))) < 2:
        return
    ours, theirs = kruskal_wallis(columns), kruskal(*columns)
    assert ours.statistic == pytest.approx(theirs.statistic, abs=1e-9)
    assert ours.p == pytest.approx(theirs.pvalue, abs=1e-9)


@given(values, values)
def test_two_groups_are_tested_as_scipy_does(a: list[float], b: list[float]) -> None:
    if len({*a, *b}) < 2:
        return
    ours = mann_whitney(np.array(a), np.array(b))
    theirs = mannwhitneyu(a, b, method="asymptotic")
    assert ours.statistic == theirs.statistic
    assert ours.p == pytest.approx(theirs.pvalue, abs=1e-9)


shares = st.lists(st.none() | st.floats(0, 1), min_size=6, max_size=6)


def falling(result: list[float | None]) -> list[float]:
    """Return shares of one page: they never rise, whatever is not known of them."""
    shares = iter(sorted((share for share in result if share is not None), reverse=True))
    return [np.nan if share is None else next(shares) for share in result]


@given(st.lists(shares.map(falling), min_size=1, max_size=8))
def test_survival_over_pages_never_rises(pages: list[list[float]]) -> None:
    result = mean_survival(np.array(pages))
    means = [estimate.mean for estimate in result if estimate.mean is not None]
    assert all(0 <= share <= 1 for share in means)
    assert all(later <= before + 1e-12 for before, later in pairwise(means))
    assert [estimate.pages for estimate in result] == np.isfinite(pages).sum(axis=0).tolist()


@given(st.lists(st.lists(st.floats(0.01, 1), min_size=6, max_size=6).map(falling), min_size=1))
def test_survival_of_pages_known_throughout_is_their_mean(pages: list[list[float]]) -> None:
    result = [estimate.mean for estimate in mean_survival(np.array(pages))]
    assert result == pytest.approx(np.mean(pages, axis=0).tolist())


def test_groups_of_equal_values_do_not_differ() -> None:
    same = np.ones(6)
    assert kruskal_wallis([same, same]).p == 1.0
    assert mann_whitney(same, same).p == 1.0
    assert compare_groups("dice", {"a": same, "b": same}).why == "all pages have the same figure"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_corrected_chances_lie_between_the_plain_and_the_most_cautious_ones(p: list[float]) -> None:
    plain = np.array(p)
    corrected = holm_correction(plain)
    assert (corrected >= plain).all()
    assert (corrected <= np.minimum(1.0, plain * len(p)) + 1e-12).all()
    assert (corrected >= false_discovery_control(plain) - 1e-12).all()


def test_groups_that_differ_are_reported_and_small_ones_are_not_tested() -> None:
    low, high = np.arange(20.0), np.arange(100.0, 120.0)
    result = compare_groups(
        "interval_hours", {"com": low, "gov": high, "org": low + 0.5, "io": low[:4]}
    )
    assert result.tested == ("com", "gov", "org")
    assert result.untested == ("io",)
    assert result.p is not None
    assert result.p < 1e-6
    chances = {pair.groups: pair.corrected for pair in result.pairs}
    assert chances["com", "gov"] < 1e-6
    assert chances["com", "org"] > 0.5


def test_one_group_alone_is_not_tested() -> None:
    result = compare_groups("dice", {"a": np.arange(9.0), "b": np.arange(2.0)})
    assert (result.p, result.pairs) == (None, ())
    assert result.why == "fewer than two groups have 5 pages with a figure"


def test_only_the_largest_of_many_groups_are_compared_pair_by_pair() -> None:
    rng = np.random.default_rng(1)
    values = {f"host{n}": rng.random(5 + n) for n in range(40)}
    result = compare_groups("dice", values)
    assert len(result.tested) == 40
    assert len(result.pairs) == 12 * 11 // 2
    assert "host39" not in result.unpaired
    assert "host0" in result.unpaired


def test_a_group_counts_what_can_be_said_of_each_figure() -> None:
    pages = [page(10.0, 0.9, shape="knotted", knot_hours=4.0), page(30.0, 0.7, shape="flat"),
             page(changes=0)]  # fmt: skip
    result = summarise_group("org", figures_from_columns(summaries_to_columns(pages)))
    assert (result.pages, result.compared, result.never_changed) == (3, 3, pytest.approx(1 / 3))
    assert (result.interval_hours.mean, result.interval_hours.pages) == (20.0, 2)
    assert result.dice.mean == pytest.approx(0.8)
    assert (result.curves, result.shapes) == (2, (0.5, 0.0, 0.5))
    assert (result.knot_hours.mean, result.knot_hours.pages) == (4.0, 1)
    assert result.survival[0].mean is None


def test_a_group_without_pages_says_nothing() -> None:
    result = summarise_group("none", figures_from_columns(summaries_to_columns([])))
    assert (result.pages, result.never_changed, result.dice.mean, result.shapes) == (
        0,
        None,
        None,
        (),
    )


def test_pages_are_parted_by_their_group_and_empty_groups_are_left_out() -> None:
    figures = figures_from_columns(summaries_to_columns([page(1.0), page(2.0), page(4.0)]))
    table = group_table(["a", "b", "c"], np.array([2, 0, 2], np.int32), figures)
    assert [(row.name, row.pages, row.interval_hours.mean) for row in table] == [
        ("a", 1, 2.0),
        ("c", 2, 2.5),
    ]
    assert [test.figure for test in group_tests(["a", "b", "c"], np.array([2, 0, 2]), figures)] == [
        "interval_hours",
        "dice_mean",
        "knot_hours",
        "knot_dice",
    ]


def test_a_histogram_counts_everything_once() -> None:
    result = make_histogram(numbers(-1, 0.5, 1.5, 9, np.nan), numbers(0, 1, 2))
    assert (result.counts.tolist(), result.lacking) == ([2, 2], 1)


@pytest.mark.parametrize(
    ("url", "domain", "steps"),
    [
        ("https://example.org/", "org", "0"),
        ("https://example.org/a", "org", "1"),
        ("https://example.org/a/", "org", "1"),
        ("http://user@example.museum:8080/a/b/c/d/e/f?x=/y/", "museum", "5+"),
        ("http://127.0.0.1:8000/a/b", "none", "2"),
        ("http://[::1]/a", "none", "1"),
        ("http://localhost/", "none", "0"),
        ("ota:Facebook/Terms of Service.md", "none", "none"),
    ],
)
def test_every_address_has_a_domain_and_a_depth_or_none(url: str, domain: str, steps: str) -> None:
    assert (top_level_domain(url), path_depth(url)) == (domain, steps)
