"""Features of the default model of new links: rates of the page, its site and related pages.

Columns that start with ``own_`` are the page's own history; a page just discovered has none. The
others are its size and links, and what its site and its related pages did.
"""

import numpy as np

from freshet.core.content.outlink_targets import LinkKind, LinkNotion, new_link_counts
from freshet.core.tables import BoolArray
from freshet.core.types import Float32Array, FloatArray, IndexArray
from freshet.features.outlinks.feature_table import FeatureTable, OutlinkFeatures, known_means

HALF_LIVES = {"fast": 1.5, "slow": 6.0, "all": np.inf}
# Rates are over at most this many past intervals; more tell a slow page from one that is still.
RATE_INTERVALS = 24
# The rate of related pages counts as this many intervals of the other pages of the site.
SITE_PRIOR_INTERVALS = 15.0

_SPANS = {
    "fast": "each interval weighing half as much 1.5 intervals later",
    "slow": "each interval weighing half as much 6 intervals later",
    "all": "all intervals weighing the same",
}


def _span_features(stem: str, text: str) -> dict[str, str]:
    return {f"{stem}_{span}": f"{text}, {weights}" for span, weights in _SPANS.items()}


RATE_FEATURES: dict[str, str] = {
    **_span_features("own_hits", "past intervals with a new link"),
    **_span_features("own_links", "new links of the past intervals"),
    **_span_features("own_intervals", "past intervals of which new links are known"),
    "own_latest": "log of the new links of the latest interval",
    "own_since": "intervals since the latest one with a new link",
    "own_change_rate": "share of intervals in which the content changed",
    "own_never_seen_rate": "share of intervals with a link that was never on the page before",
    "own_removed": "log of the links of this kind removed in the latest interval",
    "own_removal_rate": "share of intervals in which links of this kind were removed",
    "own_links_drop": "log of the links of this kind now, less the median of the past steps",
    "own_text_drop": "log of the words now, less the median of the past steps",
    **_span_features("near_rate", "average of related pages: share of intervals with a new link"),
    "near_latest": "average of related pages: share with a new link in the latest interval",
    "near_mean": "average of related pages: mean log of the new links of an interval",
    "near_other_rate": "average of related pages: share of intervals with a link of the other kind",
    "near_change_rate": "average of related pages: share of intervals in which the content changed",
    **_span_features(
        "site_rate", "other pages of the site, shrunk to near_rate: intervals with one"
    ),
    "site_latest": "share of the other pages of the site with a new link in the latest interval",
    "site_other_rate": "other pages of the site: share of intervals with a link of the other kind",
    "site_pages": "log of the number of other pages of the site",
    "content_size": "log of the bytes of the document",
    "text_size": "log of the words of the text",
    "text_quality": "richness of the vocabulary",
    "same_links": "log of the links of this kind",
    "other_links": "log of the links of the other kind",
    "path_depth": "segments in the path of the URL",
    "domain_depth": "labels of the host name before the registrable domain",
    "near_text_size": "average of related pages: log of the words of the text",
    "near_same_links": "average of related pages: log of the links of this kind",
    "near_other_links": "average of related pages: log of the links of the other kind",
}
"""The name of each feature of the default model, and what it means."""

Columns = dict[str, Float32Array | FloatArray]


def rate_features(features: OutlinkFeatures, kind: LinkKind, as_of: int) -> FeatureTable:
    """Return the features of the default model for links of a kind, as known at a step.

    They are over at most 24 past intervals, whatever history ``features`` has.
    """
    columns: Columns = {}
    counts = features.past_intervals(f"new_{kind}_links", as_of, RATE_INTERVALS)
    columns |= _own_new_links(counts)
    columns["own_change_rate"] = known_means(
        features.past_intervals("content_changed", as_of, RATE_INTERVALS)
    )
    columns |= _link_sets(features, kind, as_of)
    columns |= _around(features, kind, counts, as_of)
    columns |= _sizes(features, kind, as_of)
    values = np.empty((features.steps.page_count, len(RATE_FEATURES)), np.float32)
    for index, name in enumerate(RATE_FEATURES):
        values[:, index] = columns[name]
    return FeatureTable(tuple(RATE_FEATURES), values)


def _own_new_links(counts: Float32Array) -> Columns:
    logs, hits = np.log1p(counts), _hits(counts)
    columns: Columns = {
        "own_latest": _interval(logs, 1),
        "own_since": _intervals_since(hits),
    }
    is_known = ~np.isnan(counts)
    for span, half_life in HALF_LIVES.items():
        weights = _weights(counts.shape[1], half_life)
        columns[f"own_hits_{span}"] = np.nan_to_num(hits) @ weights
        columns[f"own_links_{span}"] = np.nan_to_num(counts) @ weights
        columns[f"own_intervals_{span}"] = is_known @ weights
    return columns


def _link_sets(features: OutlinkFeatures, kind: LinkKind, as_of: int) -> Columns:
    """Return how the set of links behaves: whether links come back, are removed, or go missing."""
    steps = features.steps
    first = max(1, as_of + 1 - RATE_INTERVALS)
    intervals, before = slice(first, as_of + 1), slice(first - 1, as_of)
    new = new_link_counts(steps, kind, LinkNotion.NEW)[:, intervals]
    never_seen = new_link_counts(steps, kind, LinkNotion.NEVER_SEEN)[:, intervals]
    links: Float32Array = getattr(steps.measures, f"{kind}_links")
    removed = np.maximum(links[:, before] + new - links[:, intervals], 0)
    past = slice(first - 1, as_of + 1)
    return {
        "own_never_seen_rate": known_means(_hits(never_seen)),
        "own_removed": np.log1p(_interval(removed, 1)),
        "own_removal_rate": known_means(_hits(removed)),
        "own_links_drop": _drops(np.log1p(links[:, past])),
        "own_text_drop": _drops(np.log1p(steps.measures.text_size[:, past])),
    }


def _around(features: OutlinkFeatures, kind: LinkKind, counts: Float32Array, as_of: int) -> Columns:
    hits = _hits(counts)
    other_hits = _hits(features.past_intervals(f"new_{kind.other}_links", as_of, RATE_INTERVALS))
    changed = features.past_intervals("content_changed", as_of, RATE_INTERVALS)
    rates = [_faded_rates(hits, half_life) for half_life in HALF_LIVES.values()]
    averages = features.average(
        np.stack(
            [
                *rates,
                _interval(hits, 1),
                known_means(np.log1p(counts)),
                known_means(other_hits),
                known_means(changed),
            ],
            axis=1,
        ).astype(np.float32)
    )
    names = [*(f"near_rate_{span}" for span in HALF_LIVES), "near_latest", "near_mean"]
    names += ["near_other_rate", "near_change_rate"]
    columns: Columns = dict(zip(names, averages.T, strict=True))
    sites: IndexArray = np.unique(features.steps.sites, return_inverse=True)[1].astype(np.int32)
    columns |= _site_rates(hits, columns, sites)
    columns["site_other_rate"] = _rates_of_others(other_hits, sites)
    columns["site_pages"] = np.log(np.bincount(sites)[sites])
    return columns


def _site_rates(hits: Float32Array, columns: Columns, sites: IndexArray) -> Columns:
    rates: Columns = {"site_latest": _rates_of_others(_interval(hits, 1)[:, None], sites)}
    for span, half_life in HALF_LIVES.items():
        weights = _weights(hits.shape[1], half_life)
        page_hits, page_intervals = np.nan_to_num(hits) @ weights, ~np.isnan(hits) @ weights
        overall = page_hits.sum() / max(page_intervals.sum(), 1.0)
        near = columns[f"near_rate_{span}"]
        prior = np.where(np.isnan(near), overall, near)
        site_hits = _others_sum(page_hits, sites) + SITE_PRIOR_INTERVALS * prior
        site_intervals = _others_sum(page_intervals, sites) + SITE_PRIOR_INTERVALS
        rates[f"site_rate_{span}"] = site_hits / site_intervals
    return rates


def _sizes(features: OutlinkFeatures, kind: LinkKind, as_of: int) -> Columns:
    logs = {
        name: np.log1p(features.series(base)[:, as_of])
        for name, base in (
            ("content_size", "content_size"),
            ("text_size", "text_size"),
            ("same_links", f"{kind}_links"),
            ("other_links", f"{kind.other}_links"),
        )
    }
    near_names = ("text_size", "same_links", "other_links")
    averages = features.average(np.stack([logs[name] for name in near_names], axis=1))
    return {
        **logs,
        **{
            name: features.series(name)[:, as_of]
            for name in ("text_quality", "path_depth", "domain_depth")
        },
        **{f"near_{name}": average for name, average in zip(near_names, averages.T, strict=True)},
    }


def _hits(counts: Float32Array) -> Float32Array:
    """Return 1 where there is a new link, 0 where there is none, NaN where it is not known."""
    return np.where(np.isnan(counts), np.nan, counts > 0).astype(np.float32)


def _interval(values: Float32Array, lag: int) -> Float32Array:
    """Return the ``lag``-th latest column; NaN if there is none."""
    if lag > values.shape[1]:
        return np.full(len(values), np.nan, np.float32)
    return values[:, -lag]


def _weights(count: int, half_life: float) -> FloatArray:
    ages: FloatArray = np.arange(count)[::-1] / half_life
    weights: FloatArray = 0.5**ages
    return weights


def _faded_rates(hits: Float32Array, half_life: float) -> FloatArray:
    weights = _weights(hits.shape[1], half_life)
    intervals = ~np.isnan(hits) @ weights
    rates: FloatArray = np.full(len(hits), np.nan)
    np.divide(np.nan_to_num(hits) @ weights, intervals, out=rates, where=intervals > 0)
    return rates


def _intervals_since(hits: Float32Array) -> FloatArray:
    ages = np.arange(hits.shape[1])[::-1]
    since: FloatArray = np.where(hits == 1, ages, np.inf).min(axis=1, initial=np.inf)
    return np.where(np.isinf(since), np.nan, since)


def _drops(values: Float32Array) -> FloatArray:
    """Return the latest known value less the median."""
    is_unknown = np.isnan(values)
    has_values: BoolArray = np.logical_not(is_unknown.all(axis=1))
    filled = np.where(has_values[:, None], values, 0)
    latest_column = values.shape[1] - 1 - np.argmin(is_unknown[:, ::-1], axis=1)
    latest = filled[np.arange(len(values)), latest_column]
    return np.where(has_values, latest - np.nanmedian(filled, axis=1), np.nan)


def _others_sum(values: FloatArray, sites: IndexArray) -> FloatArray:
    """Return the sum over the other pages of each page's site."""
    sums: FloatArray = np.bincount(sites, values)[sites] - values
    return np.maximum(sums, 0.0)


def _rates_of_others(hits: Float32Array, sites: IndexArray) -> FloatArray:
    page_hits, intervals = np.nan_to_num(hits).sum(axis=1), (~np.isnan(hits)).sum(axis=1)
    others = _others_sum(intervals.astype(float), sites)
    rates: FloatArray = np.full(len(hits), np.nan)
    np.divide(_others_sum(page_hits.astype(float), sites), others, out=rates, where=others > 0)
    return rates
