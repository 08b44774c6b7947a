"""Pages that are near each other in the graph of links."""

from dataclasses import dataclass

import numpy as np

from freshet.core.content.content_grid import NO_PAGE, NO_VERSION, ContentGrid
from freshet.core.content.related_pages import RelatedPages, collect_related
from freshet.core.types import FloatArray, IndexArray


@dataclass(frozen=True, slots=True)
class GraphDistance:
    """Relates pages one link apart, then pages two links apart, in either direction, with weight 1.

    Radinsky and Bennett (2013), section 6.1. The links are those of the last known versions. Among
    the pages two links apart, those that are reached in more ways come first.
    """

    def related(self, grid: ContentGrid, count: int) -> RelatedPages:
        """Return the nearest pages of each page."""
        neighbours = _neighbours(grid)
        return collect_related(
            (_nearest(page, neighbours, count) for page in range(grid.page_count)), is_sorted=True
        )


def _neighbours(grid: ContentGrid) -> list[IndexArray]:
    """Return the pages one link apart from each page, ascending."""
    versions = grid.last_versions()
    sources, targets = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    if len(grid.link_targets):
        for page in np.flatnonzero(versions != NO_VERSION).tolist():
            linked = grid.link_targets[grid.links.row(versions[page])[0]]
            linked = linked[(linked != NO_PAGE) & (linked != page)]
            linked = linked[versions[linked] != NO_VERSION]
            sources.append(np.full(len(linked), page))
            targets.append(linked.astype(np.int64))
    source, target = np.concatenate(sources), np.concatenate(targets)
    edges = np.concatenate([source, target]) * grid.page_count + np.concatenate([target, source])
    edges = np.unique(edges)
    ends = np.searchsorted(edges, np.arange(1, grid.page_count) * grid.page_count)
    return [part.astype(np.int32) for part in np.split(edges % max(grid.page_count, 1), ends)]


def _nearest(
    page: int, neighbours: list[IndexArray], count: int
) -> tuple[IndexArray, FloatArray, IndexArray]:
    direct = neighbours[page]
    experts = direct
    if len(direct) < count:
        reached = np.concatenate([direct[:0], *(neighbours[other] for other in direct)])
        second, path_counts = np.unique(reached, return_counts=True)
        is_new = ~np.isin(second, direct) & (second != page)
        order = np.argsort(-path_counts[is_new], kind="stable")
        experts = np.concatenate([direct, second[is_new][order]])
    experts = experts[:count]
    return experts, np.ones(len(experts)), np.zeros(len(experts), np.int32)
