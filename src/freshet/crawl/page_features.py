"""The features of a collection's pages, by page id: read from the catalog once and kept current."""

from dataclasses import dataclass, replace

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.core.content.measured_looks import MeasuredLooks, concatenate_looks
from freshet.core.tables import DAY_SECONDS, PageIdArray, hash_names
from freshet.core.types import FloatArray, HashArray
from freshet.features.look_features import LOOK_FEATURE_NAMES, LookFeatures
from freshet.features.visit_features import FeatureArray
from freshet.schedule.columns import NOT_FOUND, KeyIndex

GAP_COLUMN = LOOK_FEATURE_NAMES.index("gap")


@dataclass(frozen=True, slots=True)
class NewLooks:
    """Looks in time order, and the greatest id of a visit when they were read."""

    looks: MeasuredLooks
    last_visit_id: int


class PageFeatures:
    """Features of pages that are known by their ids; imported pages are among them.

    ``last_visit_id`` is the greatest id of a visit whose look was learned.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._pages, self._hosts = KeyIndex(np.int64), KeyIndex(np.uint64)
        self._features = LookFeatures(np.empty(0, np.int32))
        self._last_looks, self._last_gaps = np.empty(0), np.empty(0)
        self._last_visit_id = catalog.last_visit_id()
        self._load_pages()
        # A visit that another thread writes meanwhile is learned by ``learn_looks``, not twice.
        tables = list(catalog.look_tables(until_visit=self._last_visit_id))
        looks = concatenate_looks(tables).in_time_order()
        self._learn(looks.select(self._pages.find(looks.pages) != NOT_FOUND))

    @property
    def ids(self) -> PageIdArray:
        """Return the ids of all pages."""
        return self._pages.keys

    def add_pages(self, ids: PageIdArray, hosts: HashArray) -> None:
        """Add pages with the hashes of their hosts' names; known ones are ignored."""
        is_new = self._pages.find(ids) == NOT_FOUND
        new_ids, first = np.unique(ids[is_new], return_index=True)
        self._pages.add(new_ids)
        self._features.add_pages(self._hosts.add(hosts[is_new][first]))
        self._last_looks = np.append(self._last_looks, np.full(len(new_ids), np.nan))
        self._last_gaps = np.append(self._last_gaps, np.zeros(len(new_ids)))

    def new_looks(self) -> NewLooks:
        """Return the looks that were written since, which are not learned yet."""
        last_visit_id = self._catalog.last_visit_id()
        looks = self._catalog.looks_after_visit(self._last_visit_id, until_visit=last_visit_id)
        if np.any(self._pages.find(looks.pages) == NOT_FOUND):
            self._load_pages()
        known_looks = looks.select(self._pages.find(looks.pages) != NOT_FOUND)
        return NewLooks(known_looks, last_visit_id)

    def learn_looks(self, new: NewLooks) -> None:
        """Learn the looks that ``new_looks`` returned."""
        self._last_visit_id = new.last_visit_id
        self._learn(new.looks)

    def relearn_pages(self, ids: PageIdArray) -> None:
        """Learn all looks of pages again, because they were measured by another mask."""
        rows = self._pages.find(ids)
        known = rows != NOT_FOUND
        for page, row in zip(ids[known].tolist(), rows[known].tolist(), strict=True):
            looks = self._catalog.looks_of_page(page, until_visit=self._last_visit_id)
            self._features.relearn_page(row, looks)

    def at(self, ids: PageIdArray, times: FloatArray) -> FeatureArray:
        """Return the features of known pages at given times."""
        return self._features.at(self._pages.find(ids), times)

    def expected_times(self, ids: PageIdArray, now: float) -> FloatArray:
        """Return when known pages are likely visited next: after the gap of last time, or now."""
        rows = self._pages.find(ids)
        return np.fmax(now, self._last_looks[rows] + self._last_gaps[rows])

    def _load_pages(self) -> None:
        for batch in self._catalog.all_page_columns():
            self.add_pages(np.array(batch.ids, np.int64), hash_names(batch.hosts))

    def _learn(self, looks: MeasuredLooks) -> None:
        rows = self._pages.find(looks.pages)
        features = self._features.add_looks(replace(looks, pages=rows))
        # If a page has several looks, the last value is assigned last.
        gaps = features[:, GAP_COLUMN].astype(np.float64)
        self._last_gaps[rows] = DAY_SECONDS * np.nan_to_num(gaps)
        self._last_looks[rows] = looks.times
