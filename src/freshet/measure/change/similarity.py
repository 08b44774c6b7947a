"""Similarity of two versions by their words (Adar et al. 2009, section 4.1)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import TermCounts
from freshet.measure.kernels.similarity import CountArray, merge_counts


@dataclass(frozen=True, slots=True)
class AlignedCounts:
    """The word counts of two versions, aligned over the words of both."""

    old: CountArray
    new: CountArray

    def __len__(self) -> int:
        return len(self.old)

    @property
    def dice(self) -> float:
        """Return twice the number of shared words over the sum of both vocabulary sizes."""
        sizes = np.count_nonzero(self.old) + np.count_nonzero(self.new)
        if sizes == 0:
            return 1.0
        return float(2 * np.count_nonzero((self.old > 0) & (self.new > 0)) / sizes)

    @property
    def words_changed(self) -> int:
        """Return the sum of the absolute differences of the counts."""
        return int(np.abs(self.old - self.new).sum())

    @property
    def l1_distance(self) -> float:
        """Return the L1 distance of the two word distributions."""
        return float(np.abs(self._share_differences()).sum())

    @property
    def l2_distance(self) -> float:
        """Return the L2 distance of the two word distributions."""
        return float(np.linalg.norm(self._share_differences()))

    def _share_differences(self) -> NDArray[np.float64]:
        return _shares(self.new) - _shares(self.old)


def align_counts(a: TermCounts, b: TermCounts) -> AlignedCounts:
    """Align the word counts of two versions, in the order of the word ids."""
    return AlignedCounts(*merge_counts(a.hashes, a.counts, b.hashes, b.counts))


def dice(a: TermCounts, b: TermCounts) -> float:
    """Return 2|A∩B| / (|A|+|B|) over both sets of words; 1 for two empty versions."""
    return align_counts(a, b).dice


def words_changed(a: TermCounts, b: TermCounts) -> int:
    """Return the number of added and removed words, with repetitions."""
    return align_counts(a, b).words_changed


def l1_distance(a: TermCounts, b: TermCounts) -> float:
    """Return the L1 distance of the word distributions, 0 to 2; no words have zero shares."""
    return align_counts(a, b).l1_distance


def l2_distance(a: TermCounts, b: TermCounts) -> float:
    """Return the L2 distance of the word distributions; no words have zero shares."""
    return align_counts(a, b).l2_distance


def _shares(counts: CountArray) -> NDArray[np.float64]:
    return counts / max(int(counts.sum()), 1)
