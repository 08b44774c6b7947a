"""Features of how often a page changed after earlier looks at which it was like now.

They tell apart the variants that a page alternates between, and the edits that are soon followed by
others, from sizes and hashes alone: a change is told by the words that it added, removed and
replaced. ``text_patterns`` has the like from the words themselves. They are computed look by look,
as those of ``visit_features``, from the page's own latest looks.
"""

import numpy as np
from numpy.typing import NDArray

from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.types import IndexArray
from freshet.features.kernels import alike_looks as kernels
from freshet.features.state_rows import append_rows, reset_row

ALIKE_FEATURES: dict[str, str] = {
    "after_change": "share of changes after looks whose latest change was of a similar size",
    "after_same_change": "the same, with a smaller tolerance",
    "after_growth": "share of changes after looks whose latest change added, or removed, words too",
    "after_stay": "share of changes as many looks after the latest change",
    "after_stay_change": "share of changes as many looks after changes of a similar size",
    "after_text": "share of changes after looks at the present text",
    **{
        f"text_share_{looks}": f"share of looks at the present text, half-life {looks} looks"
        for looks in kernels.TEXT_HALF_LIVES
    },
    "recent_share": "share of changes of the latest looks, faded",
    "last_growth": "signed log of the words that the latest change added, less those removed",
    "reversal": "how alike the latest change and the opposite of the one before are",
    "is_restored": "whether the present text is that before the latest two changes",
    "earlier_words": "log of the words that the change before the latest one changed",
}
"""The name of each feature, and what it means."""

ALIKE_NAMES = tuple(ALIKE_FEATURES)


class AlikeLooks:
    """The states of pages before their latest looks, and what these looks found."""

    def __init__(self, page_count: int) -> None:
        self._states = _new_states(page_count)

    def add_pages(self, count: int) -> None:
        """Add pages without looks."""
        states, texts, looks, look_texts = append_rows(self._states, _new_states(count))
        self._states = states, texts, looks, look_texts

    def add_looks(self, looks: MeasuredLooks) -> NDArray[np.float32]:
        """Return the features before each look, and learn the looks; they are in time order."""
        features = np.empty((len(looks), len(ALIKE_NAMES)), np.float32)
        pages = looks.pages.astype(np.int32)
        content = np.stack([looks.words, looks.total_words], axis=1)
        columns = pages, looks.measured, looks.changed, looks.text_hashes, content
        kernels.add_looks(columns, self._states, features)
        return features

    def forget_page(self, page: int) -> None:
        """Forget all looks of a page."""
        reset_row(self._states, _new_states(1), page)

    def at(self, pages: IndexArray) -> NDArray[np.float32]:
        """Return the features of pages, by the looks learned so far."""
        features = np.empty((len(pages), len(ALIKE_NAMES)), np.float32)
        kernels.features_at(pages.astype(np.int32), self._states, features)
        return features


def _new_states(count: int) -> kernels.AlikeStates:
    """Return the states of pages without looks."""
    pages = np.zeros((count, kernels.PAGE_WIDTH), np.float32)
    pages[:, [kernels.STAY, kernels.SIZE, kernels.EARLIER_WORDS]] = np.nan
    return (
        pages,
        np.zeros((count, kernels.TEXTS), np.uint64),
        np.zeros((count, kernels.RECENT_LOOKS, kernels.LOOK_WIDTH), np.float32),
        np.zeros((count, kernels.RECENT_LOOKS), np.uint64),
    )
