"""Blocks with similar lifespans (Adar et al. 2009, section 5.3).

When a post is added on top of a blog, all posts below it move, so their places have similar mean
lifespans although not all change at the same times. A group has lifespans within a factor of the
shortest one.
"""

from dataclasses import dataclass

import numpy as np

from freshet.measure.dynamics.structure.blocks import BlockOutline

MAX_RATIO = 1.5


@dataclass(frozen=True, slots=True)
class SimilarLifespans:
    """Blocks, by their index in an outline, whose lifespans (seconds) lie between two values."""

    blocks: tuple[int, ...]
    shortest: float
    longest: float


def similar_lifespans(
    outline: BlockOutline, max_ratio: float = MAX_RATIO
) -> tuple[SimilarLifespans, ...]:
    """Return groups of two blocks or more with similar lifespans, the shortest first.

    Blocks whose text never changed are left out. Lifespans are compared with half a step added, so
    that texts seen once do not differ from each other.
    """
    table, groups = outline.table, list[SimilarLifespans]()
    changing = np.flatnonzero(~table["is_constant"] & (table["changes"] > 0))
    order = changing[np.argsort(table["lifespan"][changing], kind="stable")]
    lifespans = table["lifespan"][order] + outline.structure.timeline.step / 2
    start = 0
    while start < len(order):
        end = int(np.searchsorted(lifespans, max_ratio * lifespans[start], side="right"))
        if end - start > 1:
            members = order[start:end]
            seconds = table["lifespan"][members]
            blocks = tuple(np.sort(members).tolist())
            groups.append(SimilarLifespans(blocks, float(seconds[0]), float(seconds[-1])))
        start = end
    return tuple(groups)
