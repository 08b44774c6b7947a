"""Pages whose past changes came before those of another page, or together with them."""

from dataclasses import dataclass
from math import log

import numpy as np

from freshet.core.content.content_grid import ContentGrid, changed_steps
from freshet.core.content.related_pages import RelatedPages, collect_related
from freshet.core.types import FloatArray, IndexArray
from freshet.relate.content_neighbours import top_scores

BLOCK = 512


@dataclass(frozen=True, slots=True)
class CoChange:
    """Relates pages by the mutual information of their changes, at the best lag.

    Beyond the paper. The change of a page at a step is compared with that of another page ``lag``
    steps before, for the lags ``first_lag`` to ``last_lag``; with a lag of 1 or more, the change of
    the other page is known before the one to predict. ``evidence`` is subtracted from the
    information of each pair, in units of 1 / steps: independent pages have 1/2 on average. With
    ``above_chance`` it is at least the logarithm of the number of pages and lags compared, so that
    of all these comparisons hardly one is above 0 by chance. The weight is that of a correlation
    with the same information, between 0 and 1.
    """

    first_lag: int = 1
    last_lag: int = 7
    evidence: float = 2.0
    positive_only: bool = True
    above_chance: bool = False

    def related(self, grid: ContentGrid, count: int) -> RelatedPages:
        """Return the pages whose changes say most about those of each page, with their lags."""
        labels = changed_steps(grid)
        rows = []
        for start in range(0, grid.page_count, BLOCK):
            weights, lags = self._block_weights(labels, slice(start, start + BLOCK))
            for index, row_weights in enumerate(weights):
                row_weights[start + index] = 0.0
                pages, page_weights, _ = top_scores(row_weights, count)
                rows.append((pages, page_weights, lags[index, pages]))
        return collect_related(rows)

    def _block_weights(self, labels: IndexArray, block: slice) -> tuple[FloatArray, IndexArray]:
        """Return weight and lag of all pages for the targets of a block."""
        best = np.zeros((len(labels[block]), len(labels)))
        lags = np.full(best.shape, self.first_lag, np.int32)
        evidence = self._evidence(len(labels))
        for lag in range(self.first_lag, min(self.last_lag, labels.shape[1] - 1) + 1):
            targets, leaders = labels[block, lag:], labels[:, : labels.shape[1] - lag]
            information = self._information(targets, leaders, evidence)
            lags[information > best] = lag
            best = np.maximum(best, information)
        return np.sqrt(-np.expm1(-2 * best)), lags

    def _evidence(self, pages: int) -> float:
        """Return what is subtracted from the information, in units of 1 / steps."""
        if not self.above_chance:
            return self.evidence
        return max(self.evidence, log(pages * (self.last_lag - self.first_lag + 1)))

    def _information(self, targets: IndexArray, leaders: IndexArray, evidence: float) -> FloatArray:
        """Return the mutual information in nats of the changes of each target and leader."""
        counts = _joint_counts(targets, leaders)
        total = np.maximum(counts.sum(axis=(0, 1)), 1.0)
        shares = counts / total
        expected = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0, keepdims=True)
        ratios = np.divide(shares, expected, out=np.ones_like(shares), where=shares > 0)
        information: FloatArray = (shares * np.log(ratios)).sum(axis=(0, 1)) - evidence / total
        if self.positive_only:
            information[shares[1, 1] <= expected[1, 1]] = 0.0
        return np.maximum(information, 0.0)


def _joint_counts(targets: IndexArray, leaders: IndexArray) -> FloatArray:
    """Return how often each target and leader had each pair of labels, where both are known."""
    tables = [
        [
            (targets == target_label).astype(np.float64)
            @ (leaders == leader_label).astype(np.float64).T
            for leader_label in (0, 1)
        ]
        for target_label in (0, 1)
    ]
    return np.array(tables)
