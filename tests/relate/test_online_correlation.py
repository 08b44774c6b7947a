"""Correlations that are updated step by step, against those of the whole history."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.content.sparse_rows import SparseRows
from freshet.core.types import FloatArray
from freshet.relate.content_neighbours import ContentNeighbours
from freshet.relate.online_correlation import LaggedCorrelations, OnlineCrossCorrelation
from freshet.relate.temporal_similarity import CrossCorrelation
from freshet.relate.tfidf import inverse_document_frequencies, last_term_weights
from tests.relate.grids import random_grid

PAIRS = np.array([[0, 1], [1, 0], [2, 1], [2, 2]], np.int32)


def weighted_correlations(
    target: FloatArray, leader: FloatArray, lag_count: int, forgetting: float
) -> FloatArray:
    """Return the correlations of whole series whose steps weigh less the older they are."""
    size = len(target)
    weights = forgetting ** np.arange(size)[::-1]
    a = target - np.average(target, weights=weights)
    b = leader - np.average(leader, weights=weights)
    divisor = np.sqrt(np.dot(weights, a**2) * np.dot(weights, b**2))
    if np.ptp(target) == 0 or np.ptp(leader) == 0:
        return np.zeros(lag_count)
    return np.array([
        np.dot(weights[lag:] * a[lag:], b[: size - lag]) / divisor if lag < size else 0.0
        for lag in range(lag_count)
    ])


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    size=st.integers(2, 80),
    forgetting=st.sampled_from([1.0, 0.97, 0.8]),
    level=st.sampled_from([0.0, 1.0, 1000.0]),
)
def test_updated_correlations_are_those_of_the_whole_history(
    seed: int, size: int, forgetting: float, level: float
) -> None:
    values = np.random.default_rng(seed).normal(size=(size, 3)) + level
    online = LaggedCorrelations(3, PAIRS, 12, forgetting=forgetting)
    for row in values:
        online.update(row)
    for pair, correlations in zip(PAIRS, online.correlations(), strict=True):
        target, leader = values[:, pair[0]], values[:, pair[1]]
        expected = weighted_correlations(target, leader, 12, forgetting)
        assert correlations == pytest.approx(expected, abs=1e-9)


def test_constant_series_and_no_series_at_all_give_zero() -> None:
    online = LaggedCorrelations(3, PAIRS, 4)
    assert not online.correlations().any()
    assert online.largest()[0].tolist() == [0.0] * 4
    for value in range(6):
        online.update(np.array([0.1, 0.3, value]))
    assert not online.correlations()[:3].any()
    assert online.correlations()[3, 0] == pytest.approx(1.0)


def test_a_long_history_keeps_its_digits() -> None:
    rng = np.random.default_rng(0)
    values = 0.01 + 1e-4 * rng.normal(size=(5000, 3)).cumsum(axis=0) / 50
    online = LaggedCorrelations(3, PAIRS, 5)
    for row in values:
        online.update(row)
    expected = weighted_correlations(values[:, 0], values[:, 1], 5, 1.0)
    assert online.correlations()[0] == pytest.approx(expected, abs=1e-9)


def snapshot_weights(seed: int) -> tuple[list[SparseRows], OnlineCrossCorrelation]:
    grid = random_grid(8, 15, seed=seed)
    idf = inverse_document_frequencies(grid)
    snapshots = [last_term_weights(grid.until(step), idf) for step in range(15)]
    candidates = ContentNeighbours().related(grid, 5)
    return snapshots, OnlineCrossCorrelation(candidates, snapshots[-1], words=6, lag_count=15)


def test_pages_are_related_as_by_the_whole_history() -> None:
    snapshots, online = snapshot_weights(1)
    for snapshot in snapshots:
        online.update(snapshot)
    expected = CrossCorrelation(words=6, candidates=5).related(random_grid(8, 15, seed=1), 3)
    related = online.related(3)
    assert related.pages.tolist() == expected.pages.tolist()
    assert related.weights == pytest.approx(expected.weights, abs=1e-9)
    assert related.lags.tolist() == expected.lags.tolist()


def test_no_page_is_related_before_anything_varies() -> None:
    snapshots, online = snapshot_weights(1)
    assert online.related(3).pages.tolist() == []
    assert online.update(snapshots[0]).update(snapshots[0]).related(3).pages.tolist() == []
    empty = SparseRows(np.zeros(9, np.int32), np.empty(0, np.int32), np.empty(0), 20)
    assert len(online.update(empty).related(3)) == 8
