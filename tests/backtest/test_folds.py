"""Pages split into training, validation and test."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from freshet.backtest.folds import FOLDS, PageFolds, split_folds, split_in_half

PAGES = st.integers(5, 200)
SEEDS = st.integers(0, 1000)


def all_of(shares: PageFolds) -> list[int]:
    return sorted(np.concatenate([shares.training, shares.validation, shares.test]).tolist())


@given(PAGES, SEEDS)
def test_every_page_has_one_use_in_every_fold(pages: int, seed: int) -> None:
    for fold in range(FOLDS):
        assert all_of(split_folds(pages, fold, seed=seed)) == list(range(pages))
    assert all_of(split_in_half(pages, seed=seed)) == list(range(pages))


@given(PAGES, SEEDS)
def test_every_page_is_in_the_test_once(pages: int, seed: int) -> None:
    tests = [split_folds(pages, fold, seed=seed).test for fold in range(FOLDS)]
    assert sorted(np.concatenate(tests).tolist()) == list(range(pages))


@given(PAGES, SEEDS)
def test_training_and_validation_are_alike_in_size(pages: int, seed: int) -> None:
    for fold in range(FOLDS):
        shares = split_folds(pages, fold, seed=seed)
        assert abs(len(shares.training) - len(shares.validation)) <= 2
        assert abs(len(shares.test) - pages / FOLDS) < 1


def test_the_seed_splits_the_pages() -> None:
    one, again, other = (split_folds(100, 0, seed=seed).test.tolist() for seed in (1, 1, 2))
    assert one == again != other
