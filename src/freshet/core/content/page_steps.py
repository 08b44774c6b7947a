"""Pages at common steps as columns: what models of new links learn from.

Steps are the crawls of a collection, for example weekly. The column of a step holds what was seen
at that step, so cutting off later columns hides the future.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from freshet.core.content.link_graph import LinkGraph
from freshet.core.content.new_links import NewLinks
from freshet.core.tables import BoolArray
from freshet.core.types import Float32Array, FloatArray, HashArray

VECTOR_SIZE = 192
NO_STEP = -1


@dataclass(frozen=True, slots=True)
class PageMeasures:
    """Sizes and counts per page and step; NaN where they are not known.

    ``content_size`` is in bytes, ``text_size`` and ``vocabulary`` count words and distinct words.
    ``page_rank`` and ``trust_rank`` are NaN unless they were computed from the link graphs.
    """

    content_size: Float32Array
    text_size: Float32Array
    vocabulary: Float32Array
    internal_links: Float32Array
    external_links: Float32Array
    page_rank: Float32Array
    trust_rank: Float32Array

    def until(self, step: int) -> "PageMeasures":
        """Return the measures without those of later steps."""
        return PageMeasures(*(getattr(self, name)[:, : step + 1] for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class UrlDepths:
    """Depth of each page's URL: path segments, and labels before the registrable domain."""

    path: Float32Array
    domain: Float32Array


def _no_vectors() -> Float32Array:
    return np.empty((0, 0), np.float32)


@dataclass(frozen=True, slots=True)
class PageSteps:
    """Pages by steps: sizes, link counts, new links, link graphs, and one vector per page.

    ``sites`` are hashes of registrable domains, ``times`` are in days, and ``known`` says at which
    steps a page was seen. ``changed`` is 1 if the content differs from the step before, 0 if not,
    NaN where it is not known. ``link_graphs`` has one graph per step. ``vectors`` are the semantic
    vectors, made from contents up to ``vector_step``; they are missing if it is NO_STEP.
    """

    page_names: tuple[str, ...]
    sites: HashArray
    times: FloatArray
    known: BoolArray
    url_depths: UrlDepths
    measures: PageMeasures
    new_links: NewLinks
    changed: Float32Array
    link_graphs: tuple[LinkGraph, ...]
    vectors: Float32Array = field(default_factory=_no_vectors)
    vector_step: int = NO_STEP

    @property
    def page_count(self) -> int:
        """Return the number of pages."""
        return len(self.page_names)

    @property
    def step_count(self) -> int:
        """Return the number of steps."""
        return len(self.times)

    def until(self, step: int) -> "PageSteps":
        """Return what was known at a step; vectors made from later contents are left out."""
        steps = slice(step + 1)
        cut = replace(
            self,
            times=self.times[steps],
            known=self.known[:, steps],
            measures=self.measures.until(step),
            new_links=self.new_links.until(step),
            changed=self.changed[:, steps],
            link_graphs=self.link_graphs[steps],
        )
        if self.vector_step > step:
            cut = replace(cut, vectors=_no_vectors(), vector_step=NO_STEP)
        return cut

    def with_vectors(self, vectors: Float32Array, step: int) -> "PageSteps":
        """Return the pages with semantic vectors made from contents up to a step."""
        return replace(self, vectors=vectors, vector_step=step)

    def with_ranks(self, page_rank: Float32Array, trust_rank: Float32Array) -> "PageSteps":
        """Return the pages with ranks computed from the link graph of each step."""
        measures = replace(self.measures, page_rank=page_rank, trust_rank=trust_rank)
        return replace(self, measures=measures)
