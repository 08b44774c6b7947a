"""The base features of pages for models of new links; all other features are derived from them."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from freshet.core.content.outlink_targets import LinkKind, LinkNotion, new_link_counts
from freshet.core.content.page_steps import PageSteps
from freshet.core.tables import BoolArray
from freshet.core.types import Float32Array

QUALITY_SCALE = 10.0


class FeatureSource(StrEnum):
    """Whether a feature is measured on the page itself or in the network of links around it."""

    PAGE = "page"
    NETWORK = "network"


class FeatureTiming(StrEnum):
    """How a feature is known over time.

    ``fixed`` features have one value per page, ``state`` features one per step, and ``interval``
    features one per interval between two steps.
    """

    FIXED = "fixed"
    STATE = "state"
    INTERVAL = "interval"


@dataclass(frozen=True, slots=True)
class BaseFeature:
    """One declaration: name, description, unit, where it is measured, and how it is read.

    ``read`` returns a matrix [pages, steps]. ``rate`` is the name and the description of the share
    of intervals with a positive value; interval features have one.
    """

    name: str
    description: str
    unit: str
    source: FeatureSource
    timing: FeatureTiming
    read: Callable[[PageSteps, LinkNotion], Float32Array]
    rate: tuple[str, str] = ("", "")


def text_quality(text_size: Float32Array, vocabulary: Float32Array) -> Float32Array:
    """Return r / (r + 10), r being the distinct words divided by the square root of all words.

    r is Guiraud's index of richness (1954), which grows with the length of a text less than the
    plain ratio falls. The result is 0 without text and about .5 for ordinary prose.

    >>> text_quality(np.float32([0, 400]), np.float32([0, 200])).tolist()
    [0.0, 0.5]
    """
    richness = vocabulary / np.sqrt(np.maximum(text_size, 1))
    quality = richness / (richness + QUALITY_SCALE)
    return quality.astype(np.float32)


def _measure(name: str) -> Callable[[PageSteps, LinkNotion], Float32Array]:
    def read(steps: PageSteps, _: LinkNotion) -> Float32Array:
        values: Float32Array = getattr(steps.measures, name)
        return values

    return read


def _read_quality(steps: PageSteps, _: LinkNotion) -> Float32Array:
    return text_quality(steps.measures.text_size, steps.measures.vocabulary)


def _depth(name: str) -> Callable[[PageSteps, LinkNotion], Float32Array]:
    def read(steps: PageSteps, _: LinkNotion) -> Float32Array:
        depths: Float32Array = getattr(steps.url_depths, name)
        return np.broadcast_to(depths[:, None], (steps.page_count, steps.step_count))

    return read


def _inlinks(kind: LinkKind) -> Callable[[PageSteps, LinkNotion], Float32Array]:
    def read(steps: PageSteps, _: LinkNotion) -> Float32Array:
        column = 0 if kind is LinkKind.INTERNAL else 1
        counts = [graph.count_inlinks(steps.sites)[column] for graph in steps.link_graphs]
        return np.stack(counts, axis=1)

    return read


def _new_links(kind: LinkKind) -> Callable[[PageSteps, LinkNotion], Float32Array]:
    return lambda steps, notion: new_link_counts(steps, kind, notion)


def _read_changed(steps: PageSteps, _: LinkNotion) -> Float32Array:
    return steps.changed


PAGE, NETWORK = FeatureSource.PAGE, FeatureSource.NETWORK
FIXED, STATE, INTERVAL = FeatureTiming.FIXED, FeatureTiming.STATE, FeatureTiming.INTERVAL

BASE_FEATURES = (
    BaseFeature(
        "content_size",
        "Size of the document as it was fetched.",
        "bytes",
        PAGE,
        STATE,
        _measure("content_size"),
    ),
    BaseFeature(
        "text_size", "Length of the visible text.", "words", PAGE, STATE, _measure("text_size")
    ),
    BaseFeature(
        "text_quality",
        "Richness of the text's vocabulary, 0 to 1: r / (r + 10), where r is the number of distinct"
        " words divided by the square root of the number of words.",
        "0 to 1",
        PAGE,
        STATE,
        _read_quality,
    ),
    BaseFeature(
        "internal_links",
        "Distinct links to pages of the same registrable domain.",
        "links",
        PAGE,
        STATE,
        _measure("internal_links"),
    ),
    BaseFeature(
        "external_links",
        "Distinct links to pages of other registrable domains.",
        "links",
        PAGE,
        STATE,
        _measure("external_links"),
    ),
    BaseFeature(
        "path_depth", "Segments in the path of the URL.", "segments", PAGE, FIXED, _depth("path")
    ),
    BaseFeature(
        "domain_depth",
        "Labels of the host name before the registrable domain.",
        "labels",
        PAGE,
        FIXED,
        _depth("domain"),
    ),
    BaseFeature(
        "internal_inlinks",
        "Pages of the same registrable domain in the collection that link to the page.",
        "pages",
        NETWORK,
        STATE,
        _inlinks(LinkKind.INTERNAL),
    ),
    BaseFeature(
        "external_inlinks",
        "Pages of other registrable domains in the collection that link to the page.",
        "pages",
        NETWORK,
        STATE,
        _inlinks(LinkKind.EXTERNAL),
    ),
    BaseFeature(
        "page_rank",
        "PageRank in the graph of links between the collection's pages.",
        "share",
        NETWORK,
        STATE,
        _measure("page_rank"),
    ),
    BaseFeature(
        "trust_rank",
        "TrustRank: share of a random walk that restarts at the trusted pages.",
        "share",
        NETWORK,
        STATE,
        _measure("trust_rank"),
    ),
    BaseFeature(
        "new_internal_links",
        "New links to pages of the same registrable domain.",
        "links",
        PAGE,
        INTERVAL,
        _new_links(LinkKind.INTERNAL),
        rate=(
            "internal_link_change_rate",
            "Share of the past intervals with a new link to the same registrable domain.",
        ),
    ),
    BaseFeature(
        "new_external_links",
        "New links to pages of other registrable domains.",
        "links",
        PAGE,
        INTERVAL,
        _new_links(LinkKind.EXTERNAL),
        rate=(
            "external_link_change_rate",
            "Share of the past intervals with a new link to other registrable domains.",
        ),
    ),
    BaseFeature(
        "content_changed",
        "Whether the content differs from that of the step before.",
        "0 or 1",
        PAGE,
        INTERVAL,
        _read_changed,
        rate=("content_change_rate", "Share of the past intervals in which the content changed."),
    ),
)

SEMANTIC_NAME = "semantic"
SEMANTIC_DESCRIPTION = (
    "Semantic vector of the page's text (LSA), reduced by grouping its dimensions; one column per"
    " group."
)


def carried_forward(values: Float32Array, known: BoolArray) -> Float32Array:
    """Return the latest known value up to each step; NaN before the first."""
    columns = np.where(known & ~np.isnan(values), np.arange(values.shape[1], dtype=np.int32), 0)
    latest = np.maximum.accumulate(columns, axis=1)
    carried = np.take_along_axis(values, latest, axis=1)
    is_before_first = ~known[:, :1] & (latest == 0)
    return np.where(is_before_first, np.nan, carried).astype(np.float32)
