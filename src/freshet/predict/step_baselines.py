"""Forecasts from the labels alone: how often the page changed in the window before a step."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray
from freshet.predict.kernels.sliding_svm import LabelArray


class BaselineRule(StrEnum):
    """How a class follows from past labels."""

    COIN = "coin"
    MAJORITY = "majority"
    PREVIOUS = "previous"


@dataclass(frozen=True, slots=True)
class WindowCounts:
    """Known labels in the window before each step, and the ones among them."""

    known: FloatArray
    positive: FloatArray

    @property
    def smoothed(self) -> FloatArray:
        """Return the frequency of 1 with one label of each kind added."""
        return (self.positive + 1.0) / (self.known + 2.0)

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Say where all known labels are equal, or none is known."""
        is_constant: NDArray[np.bool_] = (self.positive == 0) | (self.positive == self.known)
        return is_constant


def count_labels(
    labels: LabelArray, window: int, horizon: int, among: FloatArray | None = None
) -> WindowCounts:
    """Count the known labels in the window before each step; ``among`` may restrict the steps.

    >>> count_labels(np.array([1, 0, 1, -1], np.int8), window=2, horizon=1).positive
    array([0., 1., 1., 1.])
    """
    selected = (labels >= 0) * (1.0 if among is None else among)
    ends = np.maximum(np.arange(len(labels)) - horizon + 1, 0)
    starts = np.maximum(ends - window, 0)
    known, positive = (
        np.concatenate([[0.0], np.cumsum(values)])
        for values in (selected, selected * (labels == 1))
    )
    return WindowCounts(known[ends] - known[starts], positive[ends] - positive[starts])


def previous_labels(labels: LabelArray, horizon: int) -> LabelArray:
    """Return the latest label known at each step, or 0 if none is."""
    steps = np.arange(len(labels))
    latest = np.maximum.accumulate(np.where(labels >= 0, steps, -1))
    available = steps - horizon
    rows = np.where(available >= 0, latest[available], -1) if len(labels) else latest
    return np.where(rows >= 0, labels[rows], 0).astype(np.int8)


def majority_classes(counts: WindowCounts, previous: LabelArray) -> LabelArray:
    """Return the more frequent label of the window, the previous label if it is a tie."""
    surplus = 2.0 * counts.positive - counts.known
    return np.where(surplus == 0, previous, surplus > 0).astype(np.int8)
