"""Split pages into folds for training, validation and test.

Santos et al. 2015, section 5.2: of five folds, two are for training, two for validation and one for
the test; each fold is the test fold once.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]

FOLDS = 5


@dataclass(frozen=True, slots=True)
class PageFolds:
    """Indices of the pages for each use, ascending."""

    training: Places
    validation: Places
    test: Places


def split_folds(pages: int, fold: int, *, seed: int) -> PageFolds:
    """Split pages into folds at random; the fold with the given number, from 0, is the test fold.

    >>> shares = split_folds(10, 0, seed=1)
    >>> len(shares.training), len(shares.validation), len(shares.test)
    (4, 4, 2)
    """
    folds = np.array_split(_shuffled(pages, seed), FOLDS)
    test, *others = folds[fold:] + folds[:fold]
    half = len(others) // 2
    return PageFolds(_joined(others[:half]), _joined(others[half:]), np.sort(test))


def split_in_half(pages: int, *, seed: int) -> PageFolds:
    """Split all pages in half, for training and validation; no page is left for the test.

    >>> len(split_in_half(10, seed=1).training), len(split_in_half(10, seed=1).test)
    (5, 0)
    """
    training, validation = np.array_split(_shuffled(pages, seed), 2)
    return PageFolds(np.sort(training), np.sort(validation), np.empty(0, np.int64))


def _shuffled(pages: int, seed: int) -> Places:
    return np.random.default_rng(seed).permutation(pages).astype(np.int64)


def _joined(folds: list[Places]) -> Places:
    return np.sort(np.concatenate(folds))
