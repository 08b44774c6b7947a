"""Cross-correlation and time warping of words, against plain references."""

import numpy as np
import pytest

from freshet.core.content.content_grid import ContentGrid
from freshet.core.content.related_pages import RelatedPages
from freshet.core.types import FloatArray
from freshet.relate.kernels.cross_correlation import correlate_pairs
from freshet.relate.kernels.time_warping import warp_with_rows
from freshet.relate.temporal_similarity import CrossCorrelation, TimeWarping, _BlockComparison
from freshet.relate.word_series import build_word_series, filled_versions
from tests.relate.grids import random_grid, text_grid, tfidf_series

STEPS = 20


def plain_correlations(target: FloatArray, leader: FloatArray) -> FloatArray:
    """Return the normalised cross-correlation at every lag; 0 for constant series."""
    size = len(target)
    divisor = size * np.std(target) * np.std(leader)
    if np.ptp(target) < 1e-12 or np.ptp(leader) < 1e-12:
        return np.zeros(size)
    a, b = target - target.mean(), leader - leader.mean()
    return np.array([np.dot(a[lag:], b[: size - lag]) / divisor for lag in range(size)])


def plain_warping(first: FloatArray, second: FloatArray) -> float:
    table = np.full((len(first) + 1, len(second) + 1), np.inf)
    table[0, 0] = 0.0
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            table[i + 1, j + 1] = abs(a - b) + min(table[i, j], table[i, j + 1], table[i + 1, j])
    return float(table[-1, -1])


def plain_similarity(
    grid: ContentGrid, target: int, other: int, *, words: int, lags: bool
) -> float:
    """Return the temporal content similarity as the paper defines it, word by word."""
    a, b = tfidf_series(grid, target), tfidf_series(grid, other)
    top = np.lexsort((np.arange(len(a)), -a[:, -1]))[:words]
    total = 0.0
    for word in top:
        if np.ptp(a[word]) < 1e-12 or np.ptp(b[word]) < 1e-12:
            continue
        similarity = 1 / (1 + plain_warping(a[word], b[word]))
        if lags:
            similarity = plain_correlations(a[word], b[word]).max()
        total += a[word, -1] * similarity
    return float(total / a[top, -1].sum())


@pytest.mark.parametrize("lags", [True, False])
def test_weights_are_those_of_the_plain_reference(lags: bool) -> None:
    grid = random_grid(8, STEPS)
    relation = CrossCorrelation(words=6) if lags else TimeWarping(words=6)
    related = relation.related(grid, 20)
    for page in range(grid.page_count):
        others, weights, _ = related.of(page)
        assert sorted([*others.tolist(), page]) == list(range(grid.page_count))
        expected = [plain_similarity(grid, page, other, words=6, lags=lags) for other in others]
        assert weights == pytest.approx(expected, abs=1e-12)
        assert (np.diff(weights) <= 0).all()


def test_blocks_do_not_alter_the_result() -> None:
    grid = random_grid(9, STEPS)
    whole = CrossCorrelation(words=6).related(grid, 3)
    blocks = _BlockComparison(grid, 6, STEPS, standardised=True, target_block=4, expert_block=2)
    assert_equal(blocks.related(3, None), whole)


def assert_equal(first: RelatedPages, second: RelatedPages) -> None:
    assert first.pages.tolist() == second.pages.tolist()
    assert first.weights == pytest.approx(second.weights)
    assert first.lags.tolist() == second.lags.tolist()


def test_a_page_that_is_ahead_is_found_with_its_lag() -> None:
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 6, STEPS + 4)
    texts = ["ab" + "c" * count for count in counts]
    noise = ["ab" + "c" * count for count in rng.integers(0, 6, STEPS)]
    grid = text_grid(texts[:STEPS], texts[4:], noise)
    pages, weights, lags = CrossCorrelation().related(grid, 1).of(0)
    assert (pages.tolist(), lags.tolist()) == ([1], [4])
    assert weights[0] > 0.5


def test_fewer_lags_than_steps_may_be_allowed() -> None:
    grid = random_grid(6, STEPS)
    assert CrossCorrelation(lags=3).related(grid, 5).lags.max() <= 2
    assert CrossCorrelation(lags=1).related(grid, 5).lags.max() == 0


def test_candidates_limit_the_pages_that_are_compared() -> None:
    grid = random_grid(12, STEPS)
    related = CrossCorrelation(candidates=2).related(grid, 5)
    assert np.diff(related.starts).max() <= 2


def test_compiled_correlations_are_those_of_numpy() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 30, 50))
    first -= first.mean(axis=1, keepdims=True)
    second -= second.mean(axis=1, keepdims=True)
    divisors = 50 * first.std(axis=1) * second.std(axis=1)
    best, lags = correlate_pairs(first, second, 50)
    expected = [plain_correlations(a, b) for a, b in zip(first, second, strict=True)]
    assert best / divisors == pytest.approx([row.max() for row in expected])
    assert lags.tolist() == [int(row.argmax()) for row in expected]


def test_compiled_warping_is_that_of_the_plain_loop() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(19, 12))
    series = rng.normal(size=15)
    distances = warp_with_rows(series, table, np.arange(19, dtype=np.int32))
    assert distances == pytest.approx([plain_warping(series, row) for row in table])
    assert warp_with_rows(table[4], table, np.array([4], np.int32))[0] == 0.0


def test_warping_is_symmetric() -> None:
    first, second = np.random.default_rng(0).normal(size=(2, 1, 20))
    index = np.zeros(1, np.int32)
    forth = warp_with_rows(first[0], second, index)
    assert forth == pytest.approx(warp_with_rows(second[0], first, index))


def test_words_with_constant_counts_share_a_series() -> None:
    grid = text_grid(["abc", "abcc", "abc"])
    series = build_word_series(grid.terms, filled_versions(grid), np.ones(3), standardised=True)
    assert series.columns.tolist() == [0, 1, 2]
    assert series.series[0] == series.series[1] != series.series[2]
    assert (series.values**2).sum(axis=1) == pytest.approx(1.0)


def test_unknown_steps_take_the_version_before_or_the_first_one() -> None:
    gaps = text_grid([None, "ab", None, "abb", "ab"], ["ab", "ab", "ab", "abb", "ab"])
    whole = text_grid(["ab", "ab", "ab", "abb", "ab"], ["ab", "ab", "ab", "abb", "ab"])
    assert_equal(CrossCorrelation().related(gaps, 1), CrossCorrelation().related(whole, 1))
