"""The rankings by past new links that are compared with models of new links.

Each ranks pages by one figure of their past intervals, whatever the time since the last look: the
number of new links in the last interval (NNL-Pr), their mean number (NNL-Av), the share of
intervals with a new link (LCR), and the share with a content change (CCR).
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from freshet.core.tables import VisitTable
from freshet.core.types import FloatArray
from freshet.schedule.columns import ColumnSpec
from freshet.schedule.links.link_looks import LinkLooks, add_link_visits
from freshet.schedule.rules.ranking_rule import RankingRule, RowArray


class LinkHistoryRule(RankingRule):
    """A rule that ranks by the new links of past looks."""

    weighs_importance = True
    columns: ClassVar[Mapping[str, ColumnSpec]] = {
        "last_links": ColumnSpec(np.float32),
        "link_total": ColumnSpec(np.float32),
        "link_intervals": ColumnSpec(np.int32),
        "linked_intervals": ColumnSpec(np.int32),
    }

    def learn(self, visits: VisitTable) -> None:
        """Learn from visits."""
        for batch in add_link_visits(self.page_states, visits).split_repeated_pages():
            self._add_intervals(batch[~np.isnan(batch.new_links)])

    def _add_intervals(self, link_looks: LinkLooks) -> None:
        rows, counts = link_looks.looks.rows, link_looks.new_links
        self.page_states.column("last_links")[rows] = counts
        self.page_states.column("link_total")[rows] += counts
        self.page_states.column("link_intervals")[rows] += 1
        self.page_states.column("linked_intervals")[rows] += counts > 0

    def per_interval(self, column: str, rows: RowArray) -> FloatArray:
        """Return a sum over intervals divided by their number, 0 without intervals."""
        intervals = np.maximum(self.page_states.column("link_intervals")[rows], 1)
        means: FloatArray = self.page_states.column(column)[rows] / intervals
        return means


class LastLinksRule(LinkHistoryRule):
    """NNL-Pr: ranks by the number of new links in the previous interval."""

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the new links of the last look."""
        return self.page_states.column("last_links")[rows].astype(np.float64)


class MeanLinksRule(LinkHistoryRule):
    """NNL-Av: ranks by the mean number of new links per interval."""

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the mean number of new links."""
        return self.per_interval("link_total", rows)


class LinkChangeRateRule(LinkHistoryRule):
    """LCR: ranks by the share of intervals with at least one new link."""

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the link change rate."""
        return self.per_interval("linked_intervals", rows)


class ContentChangeRateRule(RankingRule):
    """CCR: ranks by the share of intervals in which the content changed."""

    weighs_importance = True

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the content change rate."""
        looks = np.maximum(self.page_states.measured_looks[rows], 1)
        shares: FloatArray = self.page_states.changes[rows] / looks
        return shares
