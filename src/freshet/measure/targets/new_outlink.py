"""The target of new links: the later version links to a page that the earlier did not link to."""

from dataclasses import dataclass

import numpy as np

from freshet.core.content.content_grid import ContentGrid
from freshet.measure.targets.target import VersionTarget


@dataclass(frozen=True, slots=True)
class NewOutlink(VersionTarget):
    """A link of the later version is not in the earlier one."""

    name = "new_outlink"

    def is_met(self, grid: ContentGrid, before: int, after: int) -> bool:
        """Return whether the later version has a link that the earlier one does not have."""
        old_links, _ = grid.links.row(before)
        new_links, _ = grid.links.row(after)
        return bool(len(np.setdiff1d(new_links, old_links, assume_unique=True)))
