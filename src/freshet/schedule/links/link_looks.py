"""The looks of a policy together with the number of new links that each has found."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import VisitTable
from freshet.core.types import FloatArray
from freshet.schedule.columns import NOT_FOUND
from freshet.schedule.page_states import LookBatch, PageStates, ranks_within_groups


@dataclass(frozen=True, slots=True)
class LinkLooks:
    """Looks and the new links that each found since the look before; NaN if that is not known."""

    looks: LookBatch
    new_links: FloatArray

    def __len__(self) -> int:
        return len(self.looks)

    def __getitem__(self, selection: NDArray[Any]) -> "LinkLooks":
        return LinkLooks(self.looks[selection], self.new_links[selection])

    def split_repeated_pages(self) -> Iterator["LinkLooks"]:
        """Yield batches in which no page occurs twice; each page's looks keep their order."""
        ranks = ranks_within_groups(self.looks.rows)
        for rank in range(int(ranks.max(initial=-1)) + 1):
            yield self[ranks == rank]


def add_link_visits(page_states: PageStates, visits: VisitTable) -> LinkLooks:
    """Add visits to page states; return the looks with their numbers of new links.

    The number is not known for a page's first look, which has nothing to compare with.
    """
    is_look = (page_states.find_rows(visits.pages) != NOT_FOUND) & visits.looks
    counts = visits.new_links[is_look].astype(np.float64)
    looks = page_states.add_visits(visits)
    return LinkLooks(looks, np.where((counts >= 0) & looks.measured, counts, np.nan))
