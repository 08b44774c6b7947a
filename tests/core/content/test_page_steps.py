"""Pages by steps, link graphs, and the counts of new links."""

import numpy as np

from freshet.core.content.link_graph import build_link_graph
from freshet.core.content.new_links import NewLinkCounter, PageLinks
from freshet.core.content.page_steps import NO_STEP
from tests.core.content.page_step_samples import generated_steps


def page_links(*links: tuple[int, int, bool]) -> PageLinks:
    pages, targets, internal = zip(*links, strict=True) if links else ((), (), ())
    return PageLinks(
        np.array(pages, np.int32), np.array(targets, np.uint64), np.array(internal, np.bool_)
    )


def test_inlinks_are_internal_if_both_pages_are_of_one_site() -> None:
    graph = build_link_graph(np.array([0, 1, 2, 2, 2]), np.array([1, 0, 1, 1, 2]), 3)
    internal, external = graph.count_inlinks(np.array([5, 5, 6], np.uint64))
    assert (internal.tolist(), external.tolist()) == ([1, 1, 0], [0, 1, 0])
    assert graph.sources().tolist() == [0, 1, 2]


def test_a_graph_may_be_empty() -> None:
    graph = build_link_graph(np.empty(0, np.int32), np.empty(0, np.int32), 2)
    assert (len(graph), graph.targets.tolist()) == (2, [])


def test_a_link_that_comes_back_is_new_but_was_seen() -> None:
    counter = NewLinkCounter(2)
    known = np.array([True, True])
    counter.add_step(page_links((0, 7, True), (1, 7, False)), known)
    counter.add_step(page_links((0, 8, True), (0, 8, True), (1, 7, False)), known)
    counter.add_step(page_links((0, 7, True), (0, 9, False), (1, 8, False)), known)
    counts = counter.counts()
    np.testing.assert_equal(counts.internal, [[np.nan, 1, 1], [np.nan, 0, 0]])
    np.testing.assert_equal(counts.never_seen_internal, [[np.nan, 1, 0], [np.nan, 0, 0]])
    np.testing.assert_equal(counts.external, [[np.nan, 0, 1], [np.nan, 0, 1]])
    np.testing.assert_equal(counts.never_seen_external, [[np.nan, 0, 1], [np.nan, 0, 1]])


def test_new_links_are_unknown_after_a_missing_step() -> None:
    counter = NewLinkCounter(1)
    for links, known in (
        (page_links((0, 7, True)), True),
        (page_links(), False),
        (page_links((0, 8, True)), True),
        (page_links((0, 7, True)), True),
    ):
        counter.add_step(links, np.array([known]))
    np.testing.assert_equal(counter.counts().internal, [[np.nan, np.nan, np.nan, 1]])
    np.testing.assert_equal(counter.counts().never_seen_internal, [[np.nan, np.nan, np.nan, 0]])


def test_counts_without_steps_are_empty() -> None:
    assert NewLinkCounter(3).counts().external.shape == (3, 0)


def test_until_hides_later_steps_and_vectors_of_later_contents() -> None:
    steps = generated_steps(20, 6)
    cut = steps.until(2)
    assert (cut.page_count, cut.step_count, len(cut.link_graphs)) == (20, 3, 3)
    np.testing.assert_equal(cut.measures.text_size, steps.measures.text_size[:, :3])
    np.testing.assert_equal(cut.new_links.external, steps.new_links.external[:, :3])
    assert cut.vector_step == 0
    later = steps.with_vectors(steps.vectors, 4)
    assert (later.until(3).vector_step, later.until(3).vectors.size) == (NO_STEP, 0)
    assert later.until(4).vectors.shape == (20, 8)


def test_ranks_are_added_to_the_measures() -> None:
    steps = generated_steps(4, 3)
    ranks = np.full((4, 3), 0.25, np.float32)
    ranked = steps.with_ranks(ranks, 2 * ranks)
    assert ranked.measures.page_rank[0, 0] == 0.25
    assert ranked.until(0).measures.trust_rank.shape == (4, 1)
