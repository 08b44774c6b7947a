"""Ranks of pages, against a dense solution of the equations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.content.link_graph import LinkGraph, build_link_graph
from freshet.core.errors import UsageError
from freshet.core.types import FloatArray
from freshet.relate.ranking.link_ranks import (
    RandomWalk,
    page_rank,
    rank_steps,
    trust_rank,
)


def graph_of(*links: tuple[int, int], page_count: int) -> LinkGraph:
    pairs = np.array(links, np.int32).reshape(-1, 2)
    return build_link_graph(pairs[:, 0], pairs[:, 1], page_count)


def random_graph(rng: np.random.Generator, page_count: int, link_count: int) -> LinkGraph:
    pairs = rng.integers(0, page_count, (link_count, 2)).astype(np.int32)
    return build_link_graph(pairs[:, 0], pairs[:, 1], page_count)


def dense_ranks(graph: LinkGraph, restart: FloatArray, damping: float) -> FloatArray:
    """Solve the equations of the walk for all pages at once."""
    page_count = len(graph)
    steps = np.tile(restart, (page_count, 1))
    for page in range(page_count):
        targets = graph.targets[graph.starts[page] : graph.starts[page + 1]]
        if len(targets):
            steps[page] = 0
            steps[page, targets] = 1 / len(targets)
    return np.linalg.solve(np.eye(page_count) - damping * steps.T, (1 - damping) * restart)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(0, 40),
    st.sampled_from([0, 0.5, 0.85]),
)
def test_ranks_solve_the_equations_of_the_walk(
    seed: int, page_count: int, link_count: int, damping: float
) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, page_count, link_count)
    walk = RandomWalk(damping)
    restart = np.full(page_count, 1 / page_count)
    ranks = page_rank(graph, walk)
    assert ranks.is_converged
    assert ranks.shares == pytest.approx(dense_ranks(graph, restart, damping), abs=1e-7)
    assert ranks.shares.sum() == pytest.approx(1)
    trusted = rng.choice(page_count, rng.integers(1, page_count + 1)).astype(np.int32)
    restart = np.zeros(page_count)
    restart[trusted] = 1 / len(set(trusted.tolist()))
    shares = trust_rank(graph, trusted, walk).shares
    assert shares == pytest.approx(dense_ranks(graph, restart, damping), abs=1e-7)


def test_pages_that_trusted_pages_do_not_reach_have_no_trust() -> None:
    graph = graph_of((0, 1), (1, 2), (3, 2), (3, 4), page_count=5)
    shares = trust_rank(graph, np.array([0], np.int32)).shares
    assert (shares > 0).tolist() == [True, True, True, False, False]


def test_a_start_from_the_last_ranks_needs_fewer_iterations() -> None:
    rng = np.random.default_rng(3)
    pairs = rng.integers(0, 300, (2000, 2)).astype(np.int32)
    before = page_rank(build_link_graph(pairs[:1990, 0], pairs[:1990, 1], 300))
    graph = build_link_graph(pairs[:, 0], pairs[:, 1], 310)
    cold, warm = page_rank(graph), page_rank(graph, start=before.shares)
    assert warm.iterations < cold.iterations
    assert warm.shares == pytest.approx(cold.shares, abs=1e-8)
    assert page_rank(graph, start=cold.shares).iterations == 1


def test_an_iteration_that_ends_too_early_says_so() -> None:
    graph = graph_of((0, 1), (1, 0), (1, 2), page_count=3)
    assert not page_rank(graph, RandomWalk(max_iterations=2)).is_converged


def test_ranks_of_steps_are_those_of_their_graphs() -> None:
    rng = np.random.default_rng(5)
    graphs = [random_graph(rng, 20, 60) for _ in range(3)]
    trusted = np.array([4, 7], np.int32)
    page_ranks, trust_ranks = rank_steps(graphs, trusted)
    for step, graph in enumerate(graphs):
        assert page_ranks[:, step] == pytest.approx(page_rank(graph).shares, abs=1e-6)
        assert trust_ranks[:, step] == pytest.approx(trust_rank(graph, trusted).shares, abs=1e-6)
    assert np.isnan(rank_steps(graphs, trusted[:0])[1]).all()
    assert rank_steps([], trusted)[0].shape == (0, 0)


def test_graphs_without_pages_or_links_have_ranks() -> None:
    assert len(page_rank(graph_of(page_count=0)).shares) == 0
    assert page_rank(graph_of(page_count=1)).shares.tolist() == [1.0]
    assert page_rank(graph_of(page_count=4)).shares == pytest.approx(0.25)


def test_bad_input_is_refused() -> None:
    graph = graph_of((0, 1), page_count=2)
    for trusted in ([], [2], [-1]):
        with pytest.raises(UsageError, match="from 0 to 1"):
            trust_rank(graph, np.array(trusted, np.int32))
    with pytest.raises(UsageError, match="at least 0 and below 1"):
        RandomWalk(damping=1.0)
    for start in ([np.nan, 1.0], [-1.0, 2.0], [0.0, 0.0]):
        with pytest.raises(UsageError, match="finite, not negative"):
            page_rank(graph, start=np.array(start))
    with pytest.raises(UsageError, match="ranks of 3 pages"):
        page_rank(graph, start=np.ones(3))
