"""What was known before each look at a page, as features; they are updated look by look.

Models of change learn from them whether a look finds a change. The same builder serves a recorded
history, a grid of daily steps and a running crawl, because a look may come at any time.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.content.related_pages import RelatedPages
from freshet.core.types import FloatArray, HashArray, IndexArray
from freshet.features.kernels import visit_features as kernels
from freshet.features.measured_looks import days

FeatureArray = NDArray[np.float32]

_HALF_LIFE_NAMES = tuple(f"{half_life:g}d" for half_life in kernels.HALF_LIVES)
_OTHERS_HALF_LIFE_NAMES = _HALF_LIFE_NAMES[: kernels.OTHERS_HALF_LIVES]


def _others_features(key: str, group: str) -> dict[str, str]:
    features = {}
    for name in _OTHERS_HALF_LIFE_NAMES:
        features[f"{key}_rate_{name}"] = (
            f"changes a day of the other pages of the {group}, faded with half-life {name}"
        )
        features[f"{key}_changes_{name}"] = (
            f"log of the changes of the other pages of the {group}, faded with half-life {name}"
        )
    features[f"{key}_weekday"] = (
        f"share of looks that found a change in the {group} on this weekday, less that of all days"
    )
    return features


_RATE_FEATURES = {
    name: text
    for half_life in _HALF_LIFE_NAMES
    for name, text in {
        f"rate_{half_life}": f"log of the changes a day, faded with half-life {half_life}",
        f"chance_{half_life}": f"chance of a change since the last look by rate_{half_life}",
    }.items()
}

RELATED_FEATURES = {
    "related_changed": "share of the related pages that changed after the last look",
    "related_rate": "recent changes a day of related pages, faded with half-life 3d",
    "related_weight": "weight of the related pages that changed after the last look",
}
"""The features that need related pages."""

FEATURES: dict[str, str] = {
    "log_gap": "log of the days since the last look",
    "looks": "log of the number of looks",
    "changes": "log of the number of changes",
    "change_share": "share of looks that found a change, smoothed",
    "known_days": "log of the days since the first look",
    "since_change": "log of the days since the last change",
    "mean_interval": "log of the geometric mean of the days between changes",
    "interval_spread": "standard deviation of the log of the days between changes",
    "since_change_by_interval": "days since the last change, divided by the mean interval",
    "streak": "looks in a row with a change, or (negative) without one",
    "return_share": "share of changes that brought a recent text back",
    "share_2_looks": "share of looks with a change, weight halved at each look",
    "share_5_looks": "share of looks with a change, weight times .8 at each look",
    "share_20_looks": "share of looks with a change, weight times .95 at each look",
    "last_words": "log of the words that the last change changed",
    "mean_words": "mean log of the words that a change changes",
    "last_dice": "Dice similarity at the last change",
    "last_new_links": "log of the new links of the last change",
    "mean_new_links": "log of the mean number of new links of a change",
    "size": "log of the number of words of the page",
    "last_words_by_size": "words that the last change changed, divided by the words of the page",
    "weekday": "weekday, Monday being 0",
    "last_look_weekday": "weekday of the last look",
    "hour": "hour of the day in UTC",
    "weekday_share": "share of looks that found a change on this weekday, less that of all days",
    "recent_days": f"days between recent looks, faded with half-life {_HALF_LIFE_NAMES[-1]}",
    "was_changed": "whether the last look found a change",
    "last_change_age": "days from the first look to the last change",
    "gap": "days since the last look",
    "returns": "number of changes that brought a recent text back",
    **_RATE_FEATURES,
    **_others_features("host", "host"),
    **_others_features("collection", "collection"),
    **RELATED_FEATURES,
}
"""The name of each feature, and what it means."""

FEATURE_NAMES = tuple(FEATURES)

COLLECTION_FEATURES = {name: FEATURES[name] for name in FEATURES if name not in RELATED_FEATURES}
"""The features of a collection, whose related pages are not given; they are the first columns."""

COLLECTION_FEATURE_NAMES = tuple(COLLECTION_FEATURES)


class VisitFeatures:
    """The states of pages, hosts and the collection that features are computed from.

    ``hosts`` has the host of each page as a number from 0. ``related`` has the related pages of
    each page; without it their features are NaN.
    """

    def __init__(self, hosts: IndexArray, related: RelatedPages | None = None) -> None:
        self._hosts: IndexArray = np.empty(0, np.int32)
        self._pages = np.zeros((0, kernels.PAGE_STATE_WIDTH))
        self._groups = np.zeros((1, kernels.LOOK_STATE_WIDTH))
        self._recent_hashes: HashArray = np.zeros((0, kernels.RECENT_HASHES), np.uint64)
        self._related = _related_arrays(related, 0)
        self.add_pages(hosts)

    def __len__(self) -> int:
        return len(self._hosts)

    def add_pages(self, hosts: IndexArray) -> None:
        """Add pages without looks; they have no related pages."""
        self._pages = np.concatenate((self._pages, _new_states(len(hosts))))
        self._hosts = np.concatenate((self._hosts, hosts)).astype(np.int32)
        new_hosts = int(self._hosts.max(initial=-1)) + 2 - len(self._groups)
        self._groups = np.pad(self._groups, ((0, max(0, new_hosts)), (0, 0)))
        self._recent_hashes = np.pad(self._recent_hashes, ((0, len(hosts)), (0, 0)))
        starts, pages, weights = self._related
        missing = max(0, len(self) + 1 - len(starts))
        self._related = np.pad(starts, (0, missing), mode="edge"), pages, weights

    def add_looks(self, looks: MeasuredLooks) -> FeatureArray:
        """Return the features before each look, and learn the looks; they are in time order."""
        features = np.empty((len(looks), len(FEATURE_NAMES)), np.float32)
        columns = looks.pages, *_look_columns(looks)
        kernels.add_looks(columns, self._states, self._recent_hashes, self._related, features)
        return features

    def relearn_page(self, page: int, looks: MeasuredLooks) -> None:
        """Replace all looks of a page, such as by those that were measured again; in time order."""
        state, recent_hashes = self._pages[page], self._recent_hashes[page]
        before = state[kernels.LOOK_STATE :].copy()
        state[:], recent_hashes[:] = _new_states(1)[0], 0
        kernels.add_page_looks(state, recent_hashes, _look_columns(looks))
        for group in (0, self._hosts[page] + 1):
            kernels.replace_looks(self._groups[group], before, state[kernels.LOOK_STATE :])

    def at(self, pages: IndexArray, times: FloatArray) -> FeatureArray:
        """Return the features of pages at given times, by the looks learned so far."""
        features = np.empty((len(pages), len(FEATURE_NAMES)), np.float32)
        kernels.features_at(pages, days(times), self._states, self._related, features)
        return features

    @property
    def _states(self) -> tuple[FloatArray, FloatArray, IndexArray]:
        return self._pages, self._groups, self._hosts


def _new_states(count: int) -> FloatArray:
    """Return the states of pages without looks."""
    states = np.zeros((count, kernels.PAGE_STATE_WIDTH))
    states[:, kernels.FIRST_LOOK] = np.inf
    states[:, [kernels.LAST_LOOK, kernels.LAST_CHANGE]] = -np.inf
    states[:, kernels.LAST_WORDS : kernels.SIZE + 1] = np.nan
    return states


def _look_columns(looks: MeasuredLooks) -> tuple[NDArray[Any], ...]:
    """Return the columns of looks as the compiled loops take them, without the pages."""
    content = np.stack([looks.words, looks.dice, looks.new_links, looks.total_words], axis=1)
    return (
        days(looks.times),
        looks.measured,
        looks.changed,
        looks.text_hashes,
        np.ascontiguousarray(content),
    )


def _related_arrays(
    related: RelatedPages | None, count: int
) -> tuple[IndexArray, IndexArray, FloatArray]:
    if related is None:
        return np.zeros(count + 1, np.int32), np.empty(0, np.int32), np.empty(0)
    return related.starts, related.pages, related.weights
