"""Features of pages and of their experts: their values, and that they do not see the future."""

from dataclasses import replace

import numpy as np
import pytest

from freshet.core.content.content_grid import NO_VERSION, changed_steps
from freshet.core.content.related_pages import collect_related
from freshet.core.types import FloatArray
from freshet.features.expert_features import (
    NEARNESS_WEIGHT,
    ExpertFeatureBuilder,
    ExpertFeatures,
    FeatureSettings,
    UnigramKernel,
    nearness,
)
from freshet.features.version_products import VersionProducts, latest_versions
from tests.features.generated_grid import dense_shares, random_grid

PAPER = FeatureSettings(6, unigrams=UnigramKernel.DOT, with_usual_text=False)
NO_WEIGHTS = np.empty(0)
NO_PAGES = np.empty(0, np.int32)


def features_of_pages(
    settings: FeatureSettings, *, known_until: int | None = None, steps: int = 24
) -> ExpertFeatures:
    grid = random_grid(3, steps, seed=5)
    if known_until is not None:
        grid = grid.until(known_until)
    builder = ExpertFeatureBuilder(grid, changed_steps(grid, settings.horizon), settings)
    return builder.build(0, np.array([1, 2], np.int32), np.array([0.7, 0.2]))


def cosine(a: FloatArray, b: FloatArray) -> float:
    norms = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / norms if norms else 0.0


@pytest.mark.parametrize(
    "settings",
    [
        FeatureSettings(6),
        FeatureSettings(4, window=3, horizon=2),
        FeatureSettings(unigrams=UnigramKernel.NEARNESS),
        PAPER,
    ],
)
def test_a_hidden_future_changes_no_feature(settings: FeatureSettings) -> None:
    full = features_of_pages(settings)
    for step in (1, 4, 11, 22):
        cut = features_of_pages(settings, known_until=step)
        np.testing.assert_array_equal(cut.dense, full.dense[:, : step + 1])
        np.testing.assert_array_equal(cut.gram, full.gram[:, : step + 1, : step + 1])
        np.testing.assert_array_equal(cut.own_chances, full.own_chances[: step + 1])


def test_an_expert_without_a_version_abstains() -> None:
    grid = random_grid(3, 24, seed=5)
    versions = grid.versions.copy()
    versions[1, :16], versions[1, 16:] = NO_VERSION, versions[1].max()
    grid = replace(grid, versions=versions)
    builder = ExpertFeatureBuilder(grid, changed_steps(grid), FeatureSettings(6))
    features = builder.build(0, np.array([1], np.int32), np.array([0.7]))
    assert np.isnan(features.dense[1, :16]).all()
    assert np.isfinite(features.dense[1, 16:]).all()


def test_features_are_those_of_the_definitions() -> None:
    grid = random_grid(3, 24, seed=5)
    features = features_of_pages(PAPER)
    events = np.concatenate([[0], changed_steps(grid)[1]])
    versions = latest_versions(grid)
    step = 15
    now, before, earlier = (dense_shares(grid.terms, versions[1, step - lag]) for lag in range(3))
    own, own_before = (dense_shares(grid.terms, versions[0, step - lag]) for lag in range(2))
    labels = events[step - 5 : step + 1]
    expected = {
        "change_frequency": labels[labels >= 0].mean(),
        "distance_now_1": np.linalg.norm(now - before),
        "distance_then_1": np.linalg.norm(before - earlier),
        "changed_1": max(events[step], 0),
        "similarity_0": cosine(own, now),
        "similarity_1": cosine(own_before, before),
        "change_to_page_1": cosine(now - before, own),
        "change_to_change_1": cosine(now - before, own - own_before),
    }
    assert features.names == tuple(expected)
    assert features.dense[1, step] == pytest.approx(list(expected.values()), abs=1e-9)


def test_the_page_itself_is_the_first_expert_and_has_no_relation() -> None:
    features = features_of_pages(PAPER)
    assert (features.experts.tolist(), features.weights.tolist()) == ([0, 1, 2], [1.0, 0.7, 0.2])
    assert not features.dense[0, :, 4:].any()
    assert features.dense[0, :, :4].any()


def test_products_between_steps_are_those_of_the_distributions() -> None:
    grid = random_grid(2, 10, seed=2)
    products, versions = VersionProducts(grid, cached_pages=1), latest_versions(grid)
    for page in (0, 1, 0):
        shares = [dense_shares(grid.terms, row) if row >= 0 else 0 for row in versions[page]]
        expected = [[float(np.sum(a * b)) for a in shares] for b in shares]
        np.testing.assert_allclose(products.gram(page), expected, atol=1e-12)


def test_a_page_without_experts_and_one_never_known_have_features() -> None:
    grid = random_grid(2, 8, seed=3)
    grid.versions[1] = -1
    builder = ExpertFeatureBuilder(grid, changed_steps(grid), PAPER)
    rows = [
        (NO_PAGES, NO_WEIGHTS, NO_PAGES),
        (np.zeros(1, np.int32), np.ones(1), np.zeros(1, np.int32)),
    ]
    own, other = builder.build_all([0, 1], collect_related(rows))
    assert own.dense.shape == (1, 8, 8)
    assert np.isfinite(other.dense).all()
    assert not other.dense[0].any()


def test_nearness_tells_a_returning_text_from_a_slightly_different_one() -> None:
    shares = np.array([[0.5, 0.5, 0.0], [0.45, 0.45, 0.1], [0.5, 0.5, 0.0]])
    similarities = nearness(shares @ shares.T)
    assert similarities[0, 2] == pytest.approx(NEARNESS_WEIGHT)
    assert similarities[0, 1] < 0.01
    assert np.isfinite(nearness(np.zeros((2, 2)))).all()
