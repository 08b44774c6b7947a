"""How many links of each page are new at each step, counted from the sets of its links."""

from dataclasses import dataclass

import numpy as np

from freshet.core.tables import BoolArray
from freshet.core.types import Float32Array, HashArray, IndexArray

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(31)


@dataclass(frozen=True, slots=True)
class PageLinks:
    """The links of all pages at one step: ``targets`` are hashes of absolute URLs.

    ``pages`` says on which page each link is. A link may occur more than once.
    """

    pages: IndexArray
    targets: HashArray
    is_internal: BoolArray


@dataclass(frozen=True, slots=True)
class NewLinks:
    """New links per page and interval; the column of a step counts from the step before.

    ``internal`` and ``external`` were not on the page at the step before. The links counted
    by ``never_seen_internal`` and ``never_seen_external`` were on the page at no earlier step, so
    links that come and go count once. All are NaN where the page is not known at the step or at
    the step before.
    """

    internal: Float32Array
    external: Float32Array
    never_seen_internal: Float32Array
    never_seen_external: Float32Array

    def until(self, step: int) -> "NewLinks":
        """Return the counts without those of later steps."""
        return NewLinks(*(getattr(self, name)[:, : step + 1] for name in self.__slots__))


class NewLinkCounter:
    """Counts new links step by step; only the previous and the distinct links are in memory."""

    def __init__(self, page_count: int) -> None:
        self._page_count = page_count
        self._was_known: BoolArray = np.zeros(page_count, np.bool_)
        self._previous: HashArray = np.empty(0, np.uint64)
        self._seen: HashArray = np.empty(0, np.uint64)
        self._columns: list[tuple[Float32Array, ...]] = []

    def add_step(self, links: PageLinks, known: BoolArray) -> None:
        """Add the links of the next step; ``known`` says of which pages they are known."""
        keys, first = np.unique(_link_keys(links), return_index=True)
        pages, is_internal = links.pages[first], links.is_internal[first]
        is_new = ~_contains(self._previous, keys)
        is_unseen = ~_contains(self._seen, keys)
        countable = known & self._was_known
        self._columns.append(
            tuple(
                self._count(pages[is_counted & kind], countable)
                for is_counted in (is_new, is_unseen)
                for kind in (is_internal, ~is_internal)
            )
        )
        self._seen = np.sort(np.concatenate([self._seen, keys[is_unseen]]), kind="stable")
        self._previous, self._was_known = keys, known.copy()

    def counts(self) -> NewLinks:
        """Return the counts of all steps so far."""
        shape = (self._page_count, 0)
        if not self._columns:
            return NewLinks(*(np.empty(shape, np.float32) for _ in range(4)))
        return NewLinks(*(np.stack(kind, axis=1) for kind in zip(*self._columns, strict=True)))

    def _count(self, pages: IndexArray, countable: BoolArray) -> Float32Array:
        counts = np.bincount(pages, minlength=self._page_count).astype(np.float32)
        counts[~countable] = np.nan
        return counts


def _link_keys(links: PageLinks) -> HashArray:
    """Return a hash of page and target for each link."""
    mixed = (links.pages.astype(np.uint64) + np.uint64(1)) * _SPREAD
    keys: HashArray = links.targets ^ mixed ^ (mixed >> _SHIFT)
    return keys


def _contains(sorted_keys: HashArray, keys: HashArray) -> BoolArray:
    """Return which keys are among the sorted ones."""
    if not len(sorted_keys):
        return np.zeros(len(keys), np.bool_)
    places = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    is_contained: BoolArray = sorted_keys[places] == keys
    return is_contained
