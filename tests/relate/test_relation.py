"""Laws of all relations, on ordinary and on bad input."""

import numpy as np
import pytest

from freshet.core.content.content_grid import ContentGrid
from freshet.relate.co_change import CoChange
from freshet.relate.content_neighbours import ContentNeighbours
from freshet.relate.graph_distance import GraphDistance
from freshet.relate.random_experts import RandomExperts
from freshet.relate.relation import PageRelation
from freshet.relate.same_host import SameHost
from freshet.relate.temporal_similarity import CrossCorrelation, TimeWarping
from tests.relate.grids import random_grid, text_grid

RELATIONS: list[PageRelation] = [
    GraphDistance(),
    ContentNeighbours(),
    ContentNeighbours(exact_limit=0),
    CrossCorrelation(),
    CrossCorrelation(candidates=3),
    TimeWarping(),
    TimeWarping(standardised=True),
    RandomExperts(),
    SameHost(),
    CoChange(evidence=0.0),
    CoChange(first_lag=0, positive_only=False),
]
TEXT_RELATIONS = [
    relation
    for relation in RELATIONS
    if not isinstance(relation, GraphDistance | CoChange | SameHost)
]
GRIDS = {
    "random": random_grid(7, 12),
    "one page": text_grid(["ab", "abb"]),
    "no page": text_grid(),
    "one step": text_grid(["ab"], ["b"], ["c"]),
    "identical pages": text_grid(*[["ab", "abb", "ab"]] * 4, links={0: [0, 1, 2]}),
    "pages without text": text_grid(["", "", ""], ["", "a", ""], ["ab", "", "ab"]),
    "unknown pages": text_grid([None, None], ["a", "ab"], ["a", "ab"], links={1: [0, 2]}),
    "constant pages": text_grid(["ab", "ab"], ["ab", "ab"]),
}


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("relation", RELATIONS, ids=str)
@pytest.mark.parametrize("count", [0, 1, 3])
def test_every_relation_gives_other_known_pages_the_closest_first(
    relation: PageRelation, name: str, count: int
) -> None:
    grid = GRIDS[name]
    related = relation.related(grid, count)
    unknown = set(np.flatnonzero(grid.last_versions() < 0).tolist())
    assert len(related) == grid.page_count
    for page in range(grid.page_count):
        pages, weights, lags = related.of(page)
        assert len(pages) == len(set(pages.tolist())) == len(weights) == len(lags) <= count
        assert not {page, *unknown} & set(pages.tolist())
        assert page not in unknown or not len(pages)
        assert (np.diff(weights) <= 0).all()
        assert ((weights > 0) & (weights <= 1 + 1e-12)).all()
        assert ((lags >= 0) & (lags < max(grid.step_count, 1))).all()


@pytest.mark.parametrize("relation", TEXT_RELATIONS, ids=str)
def test_identical_pages_are_all_related(relation: PageRelation) -> None:
    related = relation.related(GRIDS["identical pages"], 3)
    assert [sorted(related.of(page)[0].tolist()) for page in range(4)] == [
        [1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]
    ]  # fmt: skip
    assert np.ptp(related.weights) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("relation", RELATIONS, ids=str)
def test_steps_after_the_training_steps_alter_nothing(relation: PageRelation) -> None:
    grid: ContentGrid = GRIDS["random"]
    versions = grid.versions.copy()
    versions[:, 8:] = versions[::-1, 8:]
    other = ContentGrid(
        grid.page_names, grid.hosts, grid.times, versions, grid.terms, grid.vocabulary,
        grid.text_hashes, grid.links,
    )  # fmt: skip
    first, second = (relation.related(each.between(2, 7), 3) for each in (grid, other))
    assert first.pages.tolist() == second.pages.tolist()
    assert first.weights.tolist() == second.weights.tolist()
