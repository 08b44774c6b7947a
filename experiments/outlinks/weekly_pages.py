"""Weekly states of pages as the steps that models of new links learn from."""

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import numpy as np

from freshet.core.content.link_graph import LinkGraph, build_link_graph
from freshet.core.content.new_links import NewLinkCounter, PageLinks
from freshet.core.content.page_steps import PageMeasures, PageSteps, UrlDepths
from freshet.core.content.sparse_rows import SparseRows
from freshet.core.tables import BoolArray
from freshet.core.types import Float32Array, HashArray, IndexArray
from freshet.engine.result_cache import Columns
from freshet.relate.semantic.semantic_model import fit_semantic_model
from freshet.relate.tfidf import take_rows

NO_VERSION = -1


@dataclass(frozen=True, slots=True)
class WeekVersions:
    """Versions of pages: bytes, hashes of texts, and links, those of row i from ``starts[i]``."""

    sizes: IndexArray
    text_hashes: HashArray
    starts: IndexArray
    links: HashArray
    is_internal: BoolArray

    def columns(self) -> Columns:
        """Return the versions as columns that can be stored."""
        return {f"version_{name}": getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class WeeklyPages:
    """Pages at weekly steps, the data part of each, and the words of their versions."""

    steps: PageSteps
    parts: tuple[str, ...]
    weeks: IndexArray
    terms: SparseRows
    vocabulary: HashArray

    def with_vectors(self, step: int) -> "WeeklyPages":
        """Return the pages with semantic vectors of the latest contents up to a step."""
        places = np.where(self.weeks[:, : step + 1] >= 0, np.arange(step + 1), -1).max(axis=1)
        rows = np.flatnonzero(places >= 0)
        versions = self.weeks[rows, places[rows]]
        model = fit_semantic_model(take_rows(self.terms, versions), self.vocabulary)
        vectors = np.zeros((self.steps.page_count, model.dimensions), np.float32)
        vectors[rows] = model.transform(take_rows(self.terms, versions), self.vocabulary)
        return replace(self, steps=self.steps.with_vectors(vectors, step))


def pages_of_columns(columns: Columns) -> WeeklyPages:
    """Return the pages that were stored as columns."""
    versions = WeekVersions(*(columns[f"version_{name}"] for name in WeekVersions.__slots__))
    terms = SparseRows(
        columns["term_starts"],
        columns["term_columns"],
        columns["term_values"].astype(np.float64),
        len(columns["vocabulary"]),
    )
    weeks = columns["weeks"]
    names = tuple(columns["names"].tolist())
    paths = [[part for part in urlsplit(name).path.split("/") if part] for name in names]
    depths = UrlDepths(
        np.array([len(path) for path in paths], np.float32),
        columns["domain_depths"].astype(np.float32),
    )
    counter = NewLinkCounter(len(names))
    graphs = []
    for week in range(weeks.shape[1]):
        links = _links_of_week(versions, weeks[:, week])
        counter.add_step(links, weeks[:, week] != NO_VERSION)
        graphs.append(_graph(links, columns["url_hashes"]))
    steps = PageSteps(
        names,
        columns["sites"],
        7.0 * np.arange(weeks.shape[1]),
        weeks != NO_VERSION,
        depths,
        _measures(versions, terms, weeks),
        counter.counts(),
        _changed(versions, weeks),
        tuple(graphs),
    )
    parts = tuple(columns["parts"].tolist())
    return WeeklyPages(steps, parts, weeks, terms, columns["vocabulary"])


def _links_of_week(versions: WeekVersions, rows: IndexArray) -> PageLinks:
    pages = np.flatnonzero(rows != NO_VERSION)
    first = versions.starts[rows[pages]]
    counts = versions.starts[rows[pages] + 1] - first
    ends = np.cumsum(counts)
    cells = np.arange(counts.sum()) + np.repeat(first - (ends - counts), counts)
    return PageLinks(
        np.repeat(pages, counts).astype(np.int32),
        versions.links[cells],
        versions.is_internal[cells],
    )


def _graph(links: PageLinks, url_hashes: HashArray) -> LinkGraph:
    order = np.argsort(url_hashes).astype(np.int32)
    sorted_hashes = url_hashes[order]
    places = np.minimum(np.searchsorted(sorted_hashes, links.targets), len(order) - 1)
    is_page = sorted_hashes[places] == links.targets
    return build_link_graph(links.pages[is_page], order[places[is_page]], len(order))


def _measures(versions: WeekVersions, terms: SparseRows, weeks: IndexArray) -> PageMeasures:
    link_counts = np.diff(versions.starts)
    internal = np.diff(np.concatenate([[0], np.cumsum(versions.is_internal)])[versions.starts])
    words = np.diff(np.concatenate([[0.0], np.cumsum(terms.values)])[terms.starts])
    no_ranks = np.full(weeks.shape, np.nan, np.float32)
    figures = (versions.sizes, words, np.diff(terms.starts), internal, link_counts - internal)
    return PageMeasures(*(_cells(figure, weeks) for figure in figures), no_ranks, no_ranks)


def _cells(figures: IndexArray, weeks: IndexArray) -> Float32Array:
    """Return the figure of each page's version at each week; NaN where the page is not known."""
    return np.where(weeks != NO_VERSION, figures[weeks], np.nan).astype(np.float32)


def _changed(versions: WeekVersions, weeks: IndexArray) -> Float32Array:
    texts = versions.text_hashes[weeks]
    changed = np.full(weeks.shape, np.nan, np.float32)
    is_known = (weeks[:, 1:] != NO_VERSION) & (weeks[:, :-1] != NO_VERSION)
    changed[:, 1:] = np.where(is_known, texts[:, 1:] != texts[:, :-1], np.nan)
    return changed
