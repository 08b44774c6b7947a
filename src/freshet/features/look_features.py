"""All features that the looks of a collection give, updated look by look.

A model of changes is trained on them, and a crawl keeps them current for the model that it applies.
"""

from dataclasses import replace

import numpy as np

from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.types import FloatArray, IndexArray
from freshet.features.alike_looks import ALIKE_FEATURES, AlikeLooks
from freshet.features.look_patterns import PATTERN_FEATURES, LookPatterns
from freshet.features.visit_features import COLLECTION_FEATURES, FeatureArray, VisitFeatures

LOOK_FEATURES = COLLECTION_FEATURES | PATTERN_FEATURES | ALIKE_FEATURES
"""The name of each feature, and what it means."""

LOOK_FEATURE_NAMES = tuple(LOOK_FEATURES)
_VISIT_FEATURES = len(COLLECTION_FEATURES)


class LookFeatures:
    """The states of pages that features are computed from; ``hosts`` are numbers from 0."""

    def __init__(self, hosts: IndexArray) -> None:
        self._visits = VisitFeatures(hosts)
        self._patterns = LookPatterns(len(hosts))
        self._alike = AlikeLooks(len(hosts))

    def __len__(self) -> int:
        return len(self._visits)

    def add_pages(self, hosts: IndexArray) -> None:
        """Add pages without looks."""
        self._visits.add_pages(hosts)
        self._patterns.add_pages(len(hosts))
        self._alike.add_pages(len(hosts))

    def add_looks(self, looks: MeasuredLooks) -> FeatureArray:
        """Return the features before each look, and learn the looks; they are in time order."""
        visits = self._visits.add_looks(looks)[:, :_VISIT_FEATURES]
        patterns, alike = self._patterns.add_looks(looks), self._alike.add_looks(looks)
        return np.concatenate((visits, patterns, alike), axis=1)

    def relearn_page(self, page: int, looks: MeasuredLooks) -> None:
        """Replace all looks of a page, such as by those that were measured again; in time order."""
        self._visits.relearn_page(page, looks)
        page_looks = replace(looks, pages=np.full(len(looks), page, np.int32))
        for states in (self._patterns, self._alike):
            states.forget_page(page)
            states.add_looks(page_looks)

    def at(self, pages: IndexArray, times: FloatArray) -> FeatureArray:
        """Return the features of pages at given times, by the looks learned so far."""
        visits = self._visits.at(pages, times)[:, :_VISIT_FEATURES]
        return np.concatenate((visits, self._patterns.at(pages), self._alike.at(pages)), axis=1)
