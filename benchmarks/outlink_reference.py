"""The features of new links in plain Python, page by page, for ``benchmarks.outlink_features``."""

from collections.abc import Iterator, Sequence

import numpy as np

from freshet.core.content.new_links import PageLinks
from freshet.core.types import Float32Array, FloatArray
from freshet.features.outlinks.base_features import text_quality
from freshet.features.outlinks.feature_table import OutlinkFeatures
from freshet.features.outlinks.taxonomy import Derivation, OutlinkFeature, derive_features

_FEATURES = derive_features()
LinkSets = list[set[int]]
Series = dict[str, FloatArray]


def plain_table(features: OutlinkFeatures, links: Sequence[PageLinks]) -> Float32Array:
    """Return the table of all features at the last step, by loops over pages and sets of links.

    ``links`` are those of each step. Ranks and groups of vector dimensions are taken from
    ``features``.
    """
    steps = features.steps
    step_count = steps.step_count
    series = _read_series(features)
    for name in ("internal", "external"):
        series[f"new_{name}_links"] = np.full((steps.page_count, step_count), np.nan)
    previous: dict[str, LinkSets] = {}
    for step, step_links in enumerate(links):
        for name, sets in _link_sets(step_links, steps.page_count).items():
            if step:
                pairs = zip(sets, previous[name], strict=True)
                series[f"new_{name}_links"][:, step] = [len(now - before) for now, before in pairs]
            previous[name] = sets
    semantic = [features.table(step_count - 1, [column]).values[:, 0] for column in _semantic()]
    rows = [
        list(_page_features(features, series, np.array(semantic).T, page))
        for page in range(steps.page_count)
    ]
    return np.array(rows, np.float32)


def _link_sets(links: PageLinks, page_count: int) -> dict[str, LinkSets]:
    sets: dict[str, LinkSets] = {
        name: [set() for _ in range(page_count)] for name in ("internal", "external")
    }
    rows = zip(links.pages.tolist(), links.targets.tolist(), links.is_internal, strict=True)
    for page, target, is_internal in rows:
        sets["internal" if is_internal else "external"][page].add(target)
    return sets


def _semantic() -> list[OutlinkFeature]:
    return [f for f in derive_features() if f.base == "semantic" and not f.is_near]


def _read_series(features: OutlinkFeatures) -> Series:
    steps, measures = features.steps, features.steps.measures
    names = ("content_size", "text_size", "internal_links", "external_links")
    series: Series = {name: getattr(measures, name) for name in (*names, "page_rank", "trust_rank")}
    series["text_quality"] = text_quality(measures.text_size, measures.vocabulary)
    for name in ("path", "domain"):
        depths = getattr(steps.url_depths, name)
        series[f"{name}_depth"] = np.repeat(depths[:, None], steps.step_count, axis=1)
    series["content_changed"] = steps.changed
    for name in ("internal", "external"):
        series[f"{name}_inlinks"] = np.zeros((steps.page_count, steps.step_count))
    for step, graph in enumerate(steps.link_graphs):
        for source, target in zip(graph.sources().tolist(), graph.targets.tolist(), strict=True):
            is_internal = steps.sites[source] == steps.sites[target]
            series["internal_inlinks" if is_internal else "external_inlinks"][target, step] += 1
    return series


def _page_features(
    features: OutlinkFeatures, series: Series, semantic: FloatArray, page: int
) -> Iterator[float]:
    assert features.around is not None
    related, weights, _ = features.around.related.of(page)
    last = features.steps.step_count - 1
    for feature in _FEATURES:
        rows = related if feature.is_near else np.array([page])
        if feature.base == "semantic":
            values = semantic[rows, feature.lag - 1]
        else:
            values = _derived(series[feature.base][rows], feature, last)
        if feature.is_near:
            is_known = ~np.isnan(values)
            total = weights[is_known].sum()
            yield (values[is_known] * weights[is_known]).sum() / total if total else np.nan
        else:
            yield values[0]


def _derived(values: FloatArray, feature: OutlinkFeature, last: int) -> FloatArray:
    if feature.derivation is Derivation.MEAN:
        return np.nanmean(values[:, 1:], axis=1)
    if feature.derivation is Derivation.RATE:
        return (values[:, 1:] > 0).mean(axis=1)
    step = last + (feature.derivation is Derivation.INTERVAL) - feature.lag
    first = 1 if feature.derivation is Derivation.INTERVAL else 0
    return values[:, step] if step >= first else np.full(len(values), np.nan)
