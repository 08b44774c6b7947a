"""How alike two versions are, by the words they hold (Adar et al. 2009, section 4.1)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import TermCounts
from freshet.measure.change.kernels.similarity import CountArray, merge_counts


@dataclass(frozen=True, slots=True)
class AlignedCounts:
    """The counts of two versions, side by side over the words of either."""

    old: CountArray
    new: CountArray

    def __len__(self) -> int:
        return len(self.old)

    @property
    def dice(self) -> float:
        """Return twice the number of shared words over the sum of both vocabularies."""
        sizes = np.count_nonzero(self.old) + np.count_nonzero(self.new)
        if sizes == 0:
            return 1.0
        return float(2 * np.count_nonzero((self.old > 0) & (self.new > 0)) / sizes)

    @property
    def words_changed(self) -> int:
        """Return the sum of the differences between the two counts of each word."""
        return int(np.abs(self.old - self.new).sum())

    @property
    def l1_distance(self) -> float:
        """Return the sum of the differences between the two shares of each word."""
        return float(np.abs(self._shares_apart()).sum())

    @property
    def l2_distance(self) -> float:
        """Return the length of the difference between the two distributions."""
        return float(np.linalg.norm(self._shares_apart()))

    def _shares_apart(self) -> NDArray[np.float64]:
        return _shares(self.new) - _shares(self.old)


def align_counts(a: TermCounts, b: TermCounts) -> AlignedCounts:
    """Lay the counts of two versions beside each other, in the order of the words' ids."""
    return AlignedCounts(*merge_counts(a.hashes, a.counts, b.hashes, b.counts))


def dice(a: TermCounts, b: TermCounts) -> float:
    """Return 2|A∩B| / (|A|+|B|) over the two sets of words; two empty versions are alike: 1."""
    return align_counts(a, b).dice


def words_changed(a: TermCounts, b: TermCounts) -> int:
    """Return how many words came or went, each counted as often as it did."""
    return align_counts(a, b).words_changed


def l1_distance(a: TermCounts, b: TermCounts) -> float:
    """Return the L1 distance of the two word distributions, 0 to 2; no words make no shares."""
    return align_counts(a, b).l1_distance


def l2_distance(a: TermCounts, b: TermCounts) -> float:
    """Return the L2 distance of the two word distributions; no words make no shares."""
    return align_counts(a, b).l2_distance


def _shares(counts: CountArray) -> NDArray[np.float64]:
    return counts / max(int(counts.sum()), 1)
