"""Labels by name, queries from the first window, and experts snapshot by snapshot."""

import numpy as np
from experiments.content_change.generated_world import GeneratedWorld, generate_world
from experiments.content_change.query_load import RELEVANT, draw_queries, target_of_label
from experiments.content_change.snapshot_correlation import SnapshotCorrelation

from freshet.core.content.content_grid import changed_steps
from freshet.relate.temporal_similarity import CrossCorrelation

GRID = generate_world(GeneratedWorld(groups=2, followers=2, steps=40)).grid


def test_queries_come_from_the_first_window() -> None:
    queries = draw_queries(GRID.until(20), 30)
    assert 0 < len(queries) <= 30
    assert all(len(query.terms) == 2 for query in queries)
    later = target_of_label(RELEVANT, GRID, 20).labels(GRID)
    known = GRID.until(30)
    np.testing.assert_array_equal(target_of_label(RELEVANT, known, 20).labels(known), later[:, :30])
    assert set(np.unique(later).tolist()) == {0, 1}


def test_other_labels_are_those_of_the_targets() -> None:
    labels = target_of_label("any_text", GRID, 20).labels(GRID)
    np.testing.assert_array_equal(labels, changed_steps(GRID))


def test_a_collection_without_pages_has_no_queries() -> None:
    assert draw_queries(GRID.select(np.empty(0, np.int32))) == []


def test_snapshots_one_by_one_give_the_same_experts_as_all_at_once() -> None:
    online = SnapshotCorrelation(candidates=5).related(GRID, 3)
    whole = CrossCorrelation(candidates=5).related(GRID, 3)
    assert online.pages.tolist() == whole.pages.tolist()
    np.testing.assert_allclose(online.weights, whole.weights, atol=1e-9)
