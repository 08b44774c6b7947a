"""A generated world of pages by weeks, calibrated to the published statistics of the paper.

Sites have sections of pages made from one template: they have alike sizes and texts and bring new
links about as often. See the README for the statistics that the numbers below were chosen for.
"""

from dataclasses import dataclass

import numpy as np

from freshet.core.content.link_graph import LinkGraph, build_link_graph
from freshet.core.content.new_links import NewLinks
from freshet.core.content.page_steps import VECTOR_SIZE, PageMeasures, PageSteps, UrlDepths
from freshet.core.types import Float32Array, FloatArray, IndexArray

PAGES, WEEKS = 380_000, 10
SITE_PAGES, SECTION_PAGES = 120, 40
TOPICS = 200
WEEK_SPREAD = 0.06
LINKED_PAGES = 8


@dataclass(frozen=True, slots=True)
class KindStatistics:
    """How new links of a kind come about.

    A page whose activity is a (normal, variance 1) has a new link in a week with the chance
    Phi((a - threshold) / softness). The logarithm of their number is normal; ``lasting`` is the
    share of its variance that lies between pages. ``visible`` is the correlation of a section's
    activity with its sizes and links, ``shared`` the share of the activity's variance that lies
    between sections.
    """

    threshold: float
    softness: float
    log_mean: float
    log_deviation: float
    visible: float
    shared: float = 0.87
    lasting: float = 0.6


INTERNAL = KindStatistics(0.60, 0.40, 0.58, 1.48, visible=0.88)
EXTERNAL = KindStatistics(1.48, 0.26, -0.10, 1.38, visible=0.96)


@dataclass(frozen=True, slots=True)
class GeneratedWeb:
    """The size of the world and its seed."""

    pages: int = PAGES
    weeks: int = WEEKS
    seed: int = 1


def generate_web(web: GeneratedWeb) -> PageSteps:
    """Generate the pages at weekly steps, with their semantic vectors."""
    rng = np.random.default_rng(web.seed)
    sections = _group_pages(web.pages, SECTION_PAGES, rng)
    section_count = int(sections[-1]) + 1
    section_sites = _group_pages(section_count, SITE_PAGES // SECTION_PAGES, rng)
    topics = rng.integers(0, TOPICS, section_sites[-1] + 1)[section_sites]
    sites = section_sites[sections]
    traits = _Traits(web, rng, sections, section_count)
    activity = traits.activity(INTERNAL, traits.link_factor)
    external_activity = traits.activity(EXTERNAL, traits.external_factor)
    internal_links, external_links = traits.links()
    new_internal = _new_links(web, INTERNAL, activity, rng)
    new_external = _new_links(web, EXTERNAL, external_activity, rng)
    measures = traits.measures(internal_links, external_links, new_internal, new_external)
    depths = UrlDepths(
        np.minimum(rng.poisson(traits.spread(rng.gamma(4.0, 0.5, section_count))), 9)
        .astype(np.float32),
        (rng.random(section_sites[-1] + 1) < 0.7)[sites].astype(np.float32),
    )  # fmt: skip
    return PageSteps(
        tuple(f"https://site{site}.example/{page}" for page, site in enumerate(sites.tolist())),
        sites.astype(np.uint64),
        7.0 * np.arange(web.weeks),
        np.ones((web.pages, web.weeks), np.bool_),
        depths,
        measures,
        NewLinks(new_internal, new_external, new_internal, new_external),
        _changed(new_internal, rng),
        (_links_between(sites, rng),) * web.weeks,
        _vectors(topics, section_sites, sections, rng),
        0,
    )


class _Traits:
    """Factors of sections, and what is drawn from them for pages."""

    def __init__(
        self, web: GeneratedWeb, rng: np.random.Generator, sections: IndexArray, count: int
    ) -> None:
        self.web, self.rng, self.sections = web, rng, sections
        self.size_factor = rng.normal(size=count)
        self.link_factor = 0.76 * self.size_factor + np.sqrt(1 - 0.76**2) * rng.normal(size=count)
        own = rng.normal(size=count)
        self.external_factor = 0.4 * self.link_factor + np.sqrt(1 - 0.4**2) * own
        self.hidden = rng.normal(size=count)

    def spread(self, of_sections: FloatArray) -> FloatArray:
        """Return the value of each page's section."""
        return of_sections[self.sections]

    def noisy(self, of_sections: FloatArray, shared: float = 0.85) -> FloatArray:
        """Return values of pages with variance 1, of which a share lies between sections."""
        noise = self.rng.normal(size=self.web.pages)
        values: FloatArray = np.sqrt(shared) * of_sections[self.sections]
        return values + np.sqrt(1 - shared) * noise

    def activity(self, kind: KindStatistics, factor: FloatArray) -> FloatArray:
        """Return how active each page is; a part of it shows in the sizes of the section."""
        of_sections = kind.visible * factor + np.sqrt(1 - kind.visible**2) * self.hidden
        return self.noisy(of_sections, kind.shared)

    def links(self) -> tuple[FloatArray, FloatArray]:
        """Return the lasting numbers of internal and external links of each page."""
        internal = np.exp(4.2 + 0.9 * self.noisy(self.link_factor))
        external = np.exp(2.25 + 1.1 * self.noisy(self.external_factor))
        return internal, external

    def measures(
        self,
        internal: FloatArray,
        external: FloatArray,
        new_internal: Float32Array,
        new_external: Float32Array,
    ) -> PageMeasures:
        """Return sizes and link counts by week; new links are among the links of their week."""
        text_factor = 0.82 * self.size_factor + np.sqrt(1 - 0.82**2) * self.rng.normal(
            size=len(self.size_factor)
        )
        text = np.exp(6.0 + 1.1 * self.noisy(text_factor))
        content = np.exp(10.5 + 0.8 * self.noisy(self.size_factor))
        quality = 2 / (1 + np.exp(-self.noisy(self.rng.normal(size=len(self.size_factor)), 0.72)))
        vocabulary = np.minimum(5.0 * quality * np.sqrt(text), text)
        no_ranks = np.full(new_internal.shape, np.nan, np.float32)
        return PageMeasures(
            self._weekly(content, 0.03),
            self._weekly(text, 0.03),
            self._weekly(vocabulary, 0.01),
            np.maximum(self._weekly(internal, 0.02), np.nan_to_num(new_internal)),
            np.maximum(self._weekly(external, 0.02), np.nan_to_num(new_external)),
            no_ranks,
            no_ranks,
        )

    def _weekly(self, values: FloatArray, spread: float) -> Float32Array:
        """Return values that differ a little from week to week, rounded to whole numbers."""
        draws = self.rng.standard_normal((self.web.pages, self.web.weeks), np.float32)
        weekly: Float32Array = np.rint(values[:, None].astype(np.float32) * np.exp(spread * draws))
        return weekly


def _group_pages(count: int, mean_size: int, rng: np.random.Generator) -> IndexArray:
    """Return the group of each member; sizes are geometric, members of a group adjacent."""
    is_first = rng.random(count) < 1 / mean_size
    is_first[0] = True
    groups: IndexArray = np.cumsum(is_first) - 1
    return groups


def _new_links(
    web: GeneratedWeb, kind: KindStatistics, activity: FloatArray, rng: np.random.Generator
) -> Float32Array:
    """Return the number of new links per page and week; the first week has none before it."""
    counts = np.full((web.pages, web.weeks), np.nan, np.float32)
    levels = np.sqrt(kind.lasting) * (0.5 * activity + np.sqrt(0.75) * rng.normal(size=web.pages))
    for week in range(1, web.weeks):
        shift = WEEK_SPREAD * rng.normal()
        is_new = activity + kind.softness * rng.normal(size=web.pages) + shift > kind.threshold
        logs = levels + np.sqrt(1 - kind.lasting) * rng.normal(size=web.pages)
        numbers = np.ceil(np.exp(kind.log_mean + kind.log_deviation * logs))
        counts[:, week] = np.where(is_new, np.minimum(numbers, 5000), 0)
    return counts


def _changed(new_links: Float32Array, rng: np.random.Generator) -> Float32Array:
    """Return whether texts changed; links are no part of the text, so each page has its rate."""
    rates = rng.beta(0.4, 0.6, len(new_links))[:, None]
    chances = 0.7 * rates + 0.3 * (new_links > 0)
    changed = rng.random(new_links.shape) < chances
    return np.where(np.isnan(new_links), np.nan, changed).astype(np.float32)


def _links_between(sites: IndexArray, rng: np.random.Generator) -> LinkGraph:
    """Return links between pages: most to pages of the site, the first ones most often."""
    count = len(sites)
    starts = np.searchsorted(sites, np.arange(sites[-1] + 2))
    sources = np.repeat(np.arange(count), LINKED_PAGES)
    sizes = np.diff(starts)[sites[sources]]
    inside = starts[sites[sources]] + (sizes * rng.random(len(sources)) ** 3).astype(np.int64)
    site_draws = (len(starts) - 1) * rng.random(len(sources)) ** 2
    homes = starts[site_draws.astype(np.int64)]
    targets = np.where(rng.random(len(sources)) < 0.85, inside, homes)
    return build_link_graph(sources.astype(np.int32), targets.astype(np.int32), count)


def _vectors(
    topics: IndexArray, section_sites: IndexArray, sections: IndexArray, rng: np.random.Generator
) -> Float32Array:
    """Return unit vectors: a topic of the site, the site, the section, and the page itself."""

    def directions(count: int) -> Float32Array:
        draws = rng.standard_normal((count, VECTOR_SIZE), np.float32)
        return draws / np.sqrt(np.float32(VECTOR_SIZE))

    of_sections = 0.6 * directions(TOPICS)[topics]
    of_sections += 0.5 * directions(int(section_sites[-1]) + 1)[section_sites]
    of_sections += 0.6 * directions(len(topics))
    vectors = of_sections[sections]
    vectors += 0.45 * directions(len(sections))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors
