"""The interface of all measures of relatedness, and what they see of a grid."""

from typing import Protocol

from freshet.core.content.content_grid import ContentGrid
from freshet.core.content.related_pages import RelatedPages


class PageRelation(Protocol):
    """A measure of relatedness: chooses the pages whose content may predict another page's.

    A relation uses every step of the grid that it is given, and nothing else; its caller cuts the
    grid to the training steps with ``ContentGrid.between``. A page is never related to itself, and
    a page of which no version is known is related to none.
    """

    def related(self, grid: ContentGrid, count: int) -> RelatedPages:
        """Return at most ``count`` related pages of each page, the closest first."""
