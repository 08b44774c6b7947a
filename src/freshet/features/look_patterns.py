"""Features of the pattern in which a page changes: its rhythm, and texts that come back.

They are computed look by look, as those of ``visit_features``, from the page's own looks only.
"""

import numpy as np
from numpy.typing import NDArray

from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.types import IndexArray
from freshet.features.kernels import look_patterns as kernels
from freshet.features.state_rows import append_rows, reset_row

PATTERN_FEATURES: dict[str, str] = {
    "context_chance": "chance of a change after the latest outcomes, by context tree weighting",
    "gap_hazard": "share of intervals between changes that ended now, of those as long as this",
    "text_visits": "how often the present text appeared",
    "text_stay": "looks in a row that found the present text",
    "text_last_stay": "looks that found the present text when it was there last",
    "text_stay_difference": "text_stay less text_last_stay",
    "text_change_share": "share of changes among looks that followed the present text, smoothed",
    "distinct_texts": "number of texts that were new, divided by the number of looks",
    **{
        f"repeat_{lag}": f"share of outcomes that were equal to that of {lag} looks before, faded"
        for lag in kernels.REPEAT_LAGS
    },
}
"""The name of each feature, and what it means."""

PATTERN_NAMES = tuple(PATTERN_FEATURES)


class LookPatterns:
    """What the looks at pages showed of their patterns.

    The context tree is that of Willems, Shtarkov & Tjalkens 1995, over the outcomes of the latest
    looks: predictions from the latest 0, 1, … outcomes, each weighted by how well it predicted.
    """

    def __init__(self, page_count: int) -> None:
        self._states = _new_states(page_count)

    def add_pages(self, count: int) -> None:
        """Add pages without looks."""
        pages, hashes, texts, gaps, counts, ratios = append_rows(self._states, _new_states(count))
        self._states = pages, hashes, texts, gaps, counts, ratios

    def add_looks(self, looks: MeasuredLooks) -> NDArray[np.float32]:
        """Return the features before each look, and learn the looks; they are in time order."""
        features = np.empty((len(looks), len(PATTERN_NAMES)), np.float32)
        pages = looks.pages.astype(np.int32)
        columns = pages, looks.measured, looks.changed, looks.text_hashes
        kernels.add_looks(columns, self._states, features)
        return features

    def forget_page(self, page: int) -> None:
        """Forget all looks of a page."""
        reset_row(self._states, _new_states(1), page)

    def at(self, pages: IndexArray) -> NDArray[np.float32]:
        """Return the features of pages, by the looks learned so far."""
        features = np.empty((len(pages), len(PATTERN_NAMES)), np.float32)
        kernels.features_at(pages.astype(np.int32), self._states, features)
        return features


def _new_states(count: int) -> kernels.PatternStates:
    """Return the states of pages without looks."""
    nodes = 2 << kernels.CONTEXT_LOOKS
    pages = np.zeros((count, kernels.PAGE_WIDTH), np.float32)
    pages[:, [kernels.TEXT, kernels.AGE]] = -1.0
    texts = np.zeros((count, kernels.KNOWN_TEXTS, kernels.TEXT_WIDTH), np.float32)
    texts[:, :, kernels.LAST_USE] = -1.0
    return (
        pages,
        np.zeros((count, kernels.KNOWN_TEXTS), np.uint64),
        texts,
        np.zeros((count, kernels.LONGEST_GAP + 2), np.float32),
        np.zeros((count, nodes, 2), np.float32),
        np.ones((count, nodes), np.float32),
    )
