"""Features of texts and latest changes compared with earlier ones."""

import numpy as np
import pytest

from freshet.core.content.content_grid import changed_steps
from freshet.core.types import IndexArray
from freshet.features.alike_steps import (
    alike_frequency,
    change_likeness,
    faded_weights,
    frequency,
    window_weights,
)
from freshet.features.latest_changes import latest_changes
from freshet.features.text_patterns import TEXT_PATTERN_NAMES, text_patterns
from tests.features.generated_grid import random_grid


def steps_of(*values: int) -> IndexArray:
    return np.array(values, np.int32)


def test_a_hidden_future_changes_no_feature() -> None:
    grid = random_grid(3, 24, seed=5)
    full = text_patterns(grid, changed_steps(grid))
    assert full.shape == (3, 23, len(TEXT_PATTERN_NAMES))
    for step in (2, 7, 20):
        known = grid.until(step)
        np.testing.assert_array_equal(
            text_patterns(known, changed_steps(known)), full[:, : known.step_count - 1]
        )


def test_a_variant_is_recognised_after_the_text_was_edited() -> None:
    # Variants without and with a word; at step 3 another word of both variants is replaced.
    counts = np.array([[8, 1, 0, 0], [8, 1, 0, 2], [8, 1, 0, 0], [8, 0, 1, 0], [8, 0, 1, 2]])
    shares = counts / counts.sum(axis=1, keepdims=True)
    changes = latest_changes(
        shares @ shares.T, np.array([1, 2, 1, 3, 4], np.uint64), steps_of(0, 1, 0, 2, 3)
    )
    assert changes.steps.tolist() == [-1, 1, 2, 3, 4]
    assert changes.ages.tolist() == [-1, 0, 0, 0, 0]
    assert changes.cosines[1, 2] == pytest.approx(-1)
    assert changes.cosines[4, 1] > 0.9
    likeness = change_likeness(changes)
    assert likeness[4, 1] > 0.7 > 0.01 > likeness[4, 2]
    assert not likeness[0].any()


def test_a_step_that_was_never_known_has_no_latest_change() -> None:
    changes = latest_changes(np.zeros((3, 3)), np.zeros(3, np.uint64), steps_of(-1, -1, 0))
    assert changes.steps.tolist() == [-1, -1, -1]
    assert not changes.cosines.any()


def test_frequencies_count_the_known_labels_of_the_window() -> None:
    labels = steps_of(1, 0, -1, 1, 0)
    weights = window_weights(labels, horizon=1, window=2)
    assert weights[4].tolist() == [0, 0, 0, 1, 0]
    assert weights[3].tolist() == [0, 1, 0, 0, 0]
    assert frequency(weights, labels)[[0, 3, 4]].tolist() == [0.5, 0.25, 0.75]
    assert faded_weights(labels, 2, 1.0)[3].tolist() == [0.125, 0.25, 0, 0, 0]


def test_only_alike_steps_count_beside_the_rate() -> None:
    labels = steps_of(1, 0, 1, 0, 1)
    is_even = np.arange(5) % 2 == 0
    likeness = (is_even[:, None] == is_even) * 1.0
    frequencies = alike_frequency(window_weights(labels, 1, 50), likeness, labels)
    assert frequencies[4] == pytest.approx((2 + 2 * 0.5) / 4)
    assert frequencies[3] == pytest.approx((0 + 2 * 2.5 / 4) / 3)


def test_pages_without_text_have_features() -> None:
    grid = random_grid(2, 8, seed=3)
    grid.versions[1] = -1
    features = text_patterns(grid, changed_steps(grid))
    names = list(TEXT_PATTERN_NAMES)
    assert np.isfinite(features[:, :, : names.index("growth")]).all()
    assert np.isnan(features[1, :, names.index("growth")]).all()
