"""Reduced semantic vectors, against scikit-learn."""

import numpy as np
import pytest
from sklearn.cluster import FeatureAgglomeration

from freshet.core.errors import UsageError
from freshet.relate.semantic.feature_groups import FeatureGroups, fit_feature_groups


def test_reduced_vectors_are_those_of_scikit_learn() -> None:
    vectors = np.random.default_rng(0).normal(size=(50, 30)).astype(np.float32)
    groups = fit_feature_groups(vectors, 6)
    expected = FeatureAgglomeration(6).fit_transform(vectors)
    assert groups.transform(vectors) == pytest.approx(expected, abs=1e-6)
    stored = FeatureGroups(groups.groups.copy(), groups.group_count)
    assert stored.transform(vectors[:2]) == pytest.approx(expected[:2], abs=1e-6)


def test_one_page_and_pages_without_words_can_be_reduced() -> None:
    assert fit_feature_groups(np.ones((1, 192))).transform(np.ones((1, 192))).shape == (1, 20)
    zeros = np.zeros((3, 192), np.float32)
    assert not fit_feature_groups(zeros).transform(zeros).any()


def test_few_dimensions_are_not_reduced() -> None:
    vectors = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert fit_feature_groups(vectors, 20).transform(vectors).tolist() == vectors.tolist()


def test_bad_vectors_are_refused() -> None:
    with pytest.raises(UsageError, match="at least one page"):
        fit_feature_groups(np.empty((0, 192)))
    with pytest.raises(UsageError, match="not finite"):
        fit_feature_groups(np.full((2, 192), np.nan))
    with pytest.raises(UsageError, match="fitted to 192 dimensions"):
        fit_feature_groups(np.ones((2, 192))).transform(np.ones((2, 5), np.float32))
