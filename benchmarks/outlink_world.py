"""Generated pages with links that come and go, for ``benchmarks.outlink_features``."""

import numpy as np

from freshet.core.content.new_links import PageLinks
from freshet.core.content.page_steps import VECTOR_SIZE
from freshet.core.content.related_pages import RelatedPages
from freshet.core.types import Float32Array, IndexArray

LINKS, GRAPH_LINKS, EXTERNAL_LINKS, SITE_PAGES, NEIGHBOURS = 40, 10, 6, 100, 30
MIXING = np.uint64(0xBF58476D1CE4E5B9)
REPLACED = 4
# On average 30 % of the pages change in a week; published are 28 % with new internal links.
CHANGE_RATES = 0.3, 0.7


class GeneratedLinks:
    """Pages with 40 links each; every week some pages replace links.

    Ten of the links are to pages of the collection; six of the others are external.
    """

    def __init__(self, page_count: int, seed: int = 1) -> None:
        self._rng = np.random.default_rng(seed)
        self.page_count = page_count
        self.sites = (np.arange(page_count) // SITE_PAGES).astype(np.uint64)
        self.words = self._rng.lognormal(6, 1, page_count).astype(np.float32)
        self.depths = self._rng.integers(0, 6, page_count).astype(np.float32)
        self.rates = self._rng.beta(*CHANGE_RATES, page_count)
        self.is_changed = np.zeros(page_count, np.bool_)
        self._versions = np.zeros((page_count, LINKS), np.uint16)
        self._pages = np.repeat(np.arange(page_count, dtype=np.int32), LINKS)

    def at_step(self, step: int) -> tuple[PageLinks, tuple[IndexArray, IndexArray]]:
        """Return all links at a step, and the pairs of linked pages of the collection."""
        if step:
            self.is_changed = self._rng.random(self.page_count) < self.rates
            pages = np.flatnonzero(self.is_changed)
            slots = self._rng.integers(0, LINKS, (len(pages), REPLACED))
            self._versions[pages[:, None], slots] += 1
        slots = np.tile(np.arange(LINKS, dtype=np.uint64), self.page_count)
        keys = self._pages.astype(np.uint64) * np.uint64(LINKS) + slots
        mixed = (keys * np.uint64(1 << 16) + self._versions.ravel() + np.uint64(1)) * MIXING
        hashes = mixed ^ (mixed >> np.uint64(31))
        in_graph = slots < GRAPH_LINKS
        targets = (hashes[in_graph] % np.uint64(self.page_count)).astype(np.int32)
        links = PageLinks(self._pages, hashes, slots < LINKS - EXTERNAL_LINKS)
        return links, (self._pages[in_graph], targets)


def generate_related(page_count: int, seed: int = 2) -> RelatedPages:
    """Return 30 related pages of each page: half of them nearby, half of them anywhere."""
    rng = np.random.default_rng(seed)
    count = min(NEIGHBOURS, page_count - 1)
    pages = np.arange(page_count)[:, None]
    steps = np.sort(rng.integers(1, page_count, (page_count, count)), axis=1)
    steps[:, : count // 2] = np.arange(1, count // 2 + 1)
    related = ((pages + steps) % page_count).astype(np.int32)
    starts = (np.arange(page_count + 1) * count).astype(np.int32)
    weights = rng.random(related.size)
    return RelatedPages(starts, related.ravel(), weights, np.zeros(related.size, np.int32))


def generate_vectors(page_count: int, seed: int = 3) -> Float32Array:
    """Return random vectors of length 1."""
    vectors = np.random.default_rng(seed).standard_normal((page_count, VECTOR_SIZE), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors
