"""Randomly chosen experts: the control that every other relation is compared with."""

from dataclasses import dataclass

import numpy as np

from freshet.core.content.content_grid import NO_VERSION, ContentGrid
from freshet.core.content.related_pages import RelatedPages, collect_related
from freshet.core.types import FloatArray, IndexArray


@dataclass(frozen=True, slots=True)
class RandomExperts:
    """Relates each page to pages drawn at random, with weight 1; a seed gives the same pages."""

    seed: int = 0

    def related(self, grid: ContentGrid, count: int) -> RelatedPages:
        """Return ``count`` random pages of each page, or all other pages if there are fewer."""
        is_known = grid.last_versions() != NO_VERSION
        known_pages = np.flatnonzero(is_known).astype(np.int32)
        return collect_related(
            (self._draw(page, known_pages, count if is_known[page] else 0)
             for page in range(grid.page_count)),
            is_sorted=True,
        )  # fmt: skip

    def _draw(
        self, page: int, known_pages: IndexArray, count: int
    ) -> tuple[IndexArray, FloatArray, IndexArray]:
        """Return the experts of one page, which do not depend on the number of experts."""
        rng = np.random.default_rng([self.seed, page])
        experts = rng.permutation(known_pages[known_pages != page])[:count]
        return experts, np.ones(len(experts)), np.zeros(len(experts), np.int32)
