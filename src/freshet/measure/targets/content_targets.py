"""Targets about the words of a page: any change, large changes and significant ones.

The significant change is that of Radinsky & Bennett 2013, section 3.1. On real pages most changes
are small, so there are graded targets beside it.
"""

from dataclasses import dataclass
from enum import StrEnum

from freshet.core.content.content_grid import ContentGrid, changed_steps
from freshet.core.types import IndexArray
from freshet.measure.change.significance import (
    SIGNIFICANCE_LEVEL,
    goodness_of_fit_p_value,
    homogeneity_p_value,
)
from freshet.measure.change.similarity import AlignedCounts, align_counts
from freshet.measure.targets.target import VersionTarget, check_horizon, row_counts

MIN_WORDS = 10
MIN_L1_DISTANCE = 0.005


class SignificanceTest(StrEnum):
    """The reading of the paper's chi-squared test."""

    GOODNESS_OF_FIT = "goodness-of-fit"
    TWO_SAMPLE = "two-sample"


@dataclass(frozen=True, slots=True)
class AnyTextChange(VersionTarget):
    """The visible text differs."""

    name = "any_text"

    def is_met(self, grid: ContentGrid, before: int, after: int) -> bool:
        """Return whether the texts of two versions differ."""
        return bool(grid.text_hashes[before] != grid.text_hashes[after])

    def labels(self, grid: ContentGrid, horizon: int = 1) -> IndexArray:
        """Return the labels of all pages and steps, by the hashes of the texts."""
        check_horizon(horizon)
        return changed_steps(grid, horizon)


@dataclass(frozen=True, slots=True)
class WordsChanged(VersionTarget):
    """At least ``min_words`` words were added or removed, with repetitions."""

    min_words: int = MIN_WORDS

    @property
    def name(self) -> str:
        """Return the name in tables, for example words10."""
        return f"words{self.min_words}"

    def is_met(self, grid: ContentGrid, before: int, after: int) -> bool:
        """Return whether enough words of two versions differ."""
        return aligned_versions(grid, before, after).words_changed >= self.min_words


@dataclass(frozen=True, slots=True)
class DistributionShift(VersionTarget):
    """The L1 distance of the word distributions is at least ``min_distance``."""

    min_distance: float = MIN_L1_DISTANCE
    name = "l1"

    def is_met(self, grid: ContentGrid, before: int, after: int) -> bool:
        """Return whether the distributions of two versions are far enough apart."""
        return aligned_versions(grid, before, after).l1_distance >= self.min_distance


@dataclass(frozen=True, slots=True)
class SignificantChange(VersionTarget):
    """The words differ by more than chance, by a chi-squared test."""

    level: float = SIGNIFICANCE_LEVEL
    test: SignificanceTest = SignificanceTest.GOODNESS_OF_FIT
    name = "significant"

    def is_met(self, grid: ContentGrid, before: int, after: int) -> bool:
        """Return whether the test rejects that the two versions are alike."""
        words = aligned_versions(grid, before, after)
        is_two_sample = self.test == SignificanceTest.TWO_SAMPLE
        p_value = homogeneity_p_value if is_two_sample else goodness_of_fit_p_value
        return p_value(words) < self.level


def aligned_versions(grid: ContentGrid, before: int, after: int) -> AlignedCounts:
    """Return the word counts of two versions over the words of both."""
    return align_counts(row_counts(grid.terms, before), row_counts(grid.terms, after))
