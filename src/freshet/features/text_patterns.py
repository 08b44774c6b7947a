"""Features of a page's text and latest change, compared with those of its earlier steps.

Pages alternate between variants, take changes back, and publish new texts at some rhythm. What
followed earlier steps that were like the present one tells which of it comes next. A step's
features depend on versions up to that step and on labels known by then.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freshet.core.content.content_grid import NO_VERSION, ContentGrid
from freshet.core.types import FloatArray, IndexArray
from freshet.features.alike_steps import (
    alike_frequency,
    change_likeness,
    faded_weights,
    frequency,
    row_sums,
    step_ages,
)
from freshet.features.expert_features import NEARNESS_WEIGHT, nearness
from freshet.features.latest_changes import NO_CHANGE, LatestChanges, latest_changes
from freshet.features.version_products import VersionProducts

HALF_LIFE = 40.0
USUAL_HALF_LIVES = (4, 12, 40)
NARROW_TOLERANCE = 0.05
LONGEST_STAY = 4
MAX_DISTANCE_RATIO = 5.0

_ALIKE_FEATURES = {
    "alike_all": "frequency of a change at earlier steps",
    "alike_text": "frequency of a change after earlier steps with the same text",
    "alike_near": "frequency of a change after earlier steps with a near text",
    "alike_change": "frequency of a change after latest changes like the present one",
    "alike_change_narrow": "the same, with a smaller tolerance",
    "alike_growth": "frequency of a change after latest changes that added, or removed, words too",
    "alike_stay": "frequency of a change as many steps after the latest change",
    "alike_stay_change": "frequency of a change as many steps after changes like the latest one",
}
_USUAL_FEATURES = {
    name: text
    for half_life in USUAL_HALF_LIVES
    for name, text in {
        f"same_text_{half_life}": f"share of steps with this text, half-life {half_life} steps",
        f"near_text_{half_life}": f"mean nearness to earlier texts, half-life {half_life} steps",
    }.items()
}
_CHANGE_FEATURES = {
    "growth": "signed log of the words that the latest change added, less those removed",
    "taken_back": "squared distance to the text before the last two changes, by that of the last",
    "change_to_change": "cosine of the latest change and the one before",
}
TEXT_PATTERN_FEATURES = _ALIKE_FEATURES | _USUAL_FEATURES | _CHANGE_FEATURES
"""The name of each feature, and what it means."""

TEXT_PATTERN_NAMES = tuple(TEXT_PATTERN_FEATURES)


@dataclass(frozen=True, slots=True)
class TextSteps:
    """The steps of one page: how alike texts and latest changes are, sizes in words, and labels."""

    same_text: FloatArray
    near_text: FloatArray
    gram: FloatArray
    changes: LatestChanges
    sizes: FloatArray
    labels: IndexArray


def text_patterns(grid: ContentGrid, labels: IndexArray) -> NDArray[np.float32]:
    """Return the features of each page and step that has a label.

    ``labels`` are those of the horizon, -1 where unknown.
    """
    horizon = grid.step_count - labels.shape[1]
    products = VersionProducts(grid, cached_pages=1)
    sizes = np.append(grid.terms.row_sums(), np.nan)
    features = np.empty((*labels.shape, len(TEXT_PATTERN_NAMES)), np.float32)
    for page in range(grid.page_count):
        steps = _page_steps(grid, products, sizes, page, labels[page])
        columns = _alike_columns(steps, horizon) + _usual_columns(steps) + _change_columns(steps)
        features[page] = np.stack(columns, axis=1)
    return features


def _page_steps(
    grid: ContentGrid, products: VersionProducts, sizes: FloatArray, page: int, labels: IndexArray
) -> TextSteps:
    count = len(labels)
    versions = products.versions[page, :count]
    hashes = np.append(grid.text_hashes, np.uint64(0))[versions]
    gram = products.gram(page)[:count, :count]
    is_known = versions != NO_VERSION
    both_known = is_known[:, None] & is_known
    return TextSteps(
        (hashes[:, None] == hashes) * both_known * 1.0,
        nearness(gram) / NEARNESS_WEIGHT * both_known,
        gram,
        latest_changes(gram, hashes, versions),
        sizes[versions],
        labels,
    )


def _alike_columns(page: TextSteps, horizon: int) -> list[FloatArray]:
    """Return how often the page changed after steps that were alike in different ways."""
    weights = faded_weights(page.labels, horizon, HALF_LIFE)
    ages = np.minimum(page.changes.ages, LONGEST_STAY)
    has_change = ages != NO_CHANGE
    same_stay = ((ages[:, None] == ages) & has_change) * 1.0
    growth = np.sign(_growth(page))
    like_changes = change_likeness(page.changes)
    likeness = (
        page.same_text,
        page.near_text,
        like_changes,
        change_likeness(page.changes, NARROW_TOLERANCE),
        (growth[:, None] == growth) * 1.0,
        same_stay,
        same_stay * like_changes,
    )
    return [
        frequency(weights, page.labels),
        *(alike_frequency(weights, alike, page.labels) for alike in likeness),
    ]


def _usual_columns(page: TextSteps) -> list[FloatArray]:
    """Return how usual the present text is."""
    ages = step_ages(len(page.labels))
    columns = []
    for half_life in USUAL_HALF_LIVES:
        weights = np.where(ages >= 0, 0.5 ** (np.maximum(ages, 0) / half_life), 0.0)
        weights *= ~np.isnan(page.sizes)
        totals = np.maximum(row_sums(weights), 1e-9)
        columns += [
            row_sums(weights * likeness) / totals for likeness in (page.same_text, page.near_text)
        ]
    return columns


def _change_columns(page: TextSteps) -> list[FloatArray]:
    """Return the size of the latest change, and how it relates to the one before."""
    growth = _growth(page)
    latest = page.changes.steps
    steps, before = np.arange(len(latest), dtype=np.int32), np.maximum(latest - 1, 0)
    earlier = np.where(latest > 0, latest[before], NO_CHANGE)
    start = np.maximum(earlier - 1, 0)
    has_two = earlier != NO_CHANGE
    distances = _squared_distances(page.gram, steps, start)
    last_distances = _squared_distances(page.gram, steps, before)
    ratios = np.full(len(steps), np.nan)
    np.divide(distances, last_distances, out=ratios, where=has_two & (last_distances > 0))
    return [
        np.sign(growth) * np.log1p(np.abs(growth)),
        np.minimum(ratios, MAX_DISTANCE_RATIO),
        np.where(has_two, page.changes.cosines[steps, before], np.nan),
    ]


def _growth(page: TextSteps) -> FloatArray:
    """Return the words that the latest change added, less those removed; NaN without a change."""
    latest = page.changes.steps
    growth = page.sizes[np.maximum(latest, 0)] - page.sizes[np.maximum(latest - 1, 0)]
    return np.where(latest == NO_CHANGE, np.nan, growth)


def _squared_distances(gram: FloatArray, left: IndexArray, right: IndexArray) -> FloatArray:
    squares = gram[left, left] + gram[right, right] - 2 * gram[left, right]
    return np.asarray(np.where(squares > 1e-12 * gram[left, left], squares, 0.0), np.float64)
