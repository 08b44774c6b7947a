"""Summaries of the pages: Table 2, and Figures 3 to 5 and 8 of the paper."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import spearmanr

from experiments.outlinks.problems import FeatureSource
from freshet.core.content.outlink_targets import LinkKind, OutlinkTarget
from freshet.core.content.page_steps import PageSteps
from freshet.core.types import Float32Array
from freshet.features.outlinks.base_features import SEMANTIC_NAME
from freshet.features.outlinks.taxonomy import FeatureSelection, select_features

GROUPS = {
    LinkKind.INTERNAL: ((0, "0"), (2, "1 to 2"), (10, "3 to 10"), (np.inf, "more than 10")),
    LinkKind.EXTERNAL: ((0, "0"), (1, "1"), (np.inf, "more than 1")),
}
CCDF_COUNTS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)
SITE_WIDE_SHARE = 0.4
SITE_WIDE_PAGES = 10


@dataclass(frozen=True, slots=True)
class WeekRow:
    """New links of a kind in a week: mean, standard deviation, and the share of pages with none.

    ``site_wide`` is the share of pages on sites of ten pages and more of which over 40 % have new
    links in that week.
    """

    data: str
    links: str
    week: int
    pages: int
    mean: float
    deviation: float
    none_share: float
    site_wide: float


@dataclass(frozen=True, slots=True)
class FigurePoint:
    """A point of a figure: the value of a series at a place, which is a name or a number."""

    data: str
    figure: str
    links: str
    series: str
    at: str
    value: float


def last_intervals(steps: PageSteps, kind: LinkKind) -> Float32Array:
    """Return the new links of the last nine intervals, of pages with all of them known."""
    counts: Float32Array = getattr(steps.new_links, kind.value)[:, -9:]
    return counts[np.isfinite(counts).all(axis=1)]


def week_rows(data: str, steps: PageSteps) -> Iterator[WeekRow]:
    """Yield a row for each kind and week (Table 2)."""
    for kind in LinkKind:
        all_counts: Float32Array = getattr(steps.new_links, kind.value)
        for week in range(max(1, steps.step_count - 9), steps.step_count):
            is_known = np.isfinite(all_counts[:, week])
            counts = all_counts[is_known, week].astype(np.float64)
            sites = np.unique(steps.sites[is_known], return_inverse=True)[1]
            sizes = np.bincount(sites)
            shares = np.bincount(sites, counts > 0) / sizes
            is_site_wide = (shares > SITE_WIDE_SHARE) & (sizes >= SITE_WIDE_PAGES)
            yield WeekRow(
                data, kind.value, week, len(counts), round(float(counts.mean()), 3),
                round(float(counts.std()), 2), round(float((counts == 0).mean()), 4),
                round(float(is_site_wide[sites].mean()), 4),
            )  # fmt: skip


def summary_points(data: str, steps: PageSteps) -> Iterator[FigurePoint]:
    """Yield Figures 3 (flows between groups), 4 (histogram of rates) and 5 (CCDF)."""
    for kind in LinkKind:
        counts = last_intervals(steps, kind)
        names = [name for _, name in GROUPS[kind]]
        groups = np.searchsorted([limit for limit, _ in GROUPS[kind]], counts)
        flows = np.zeros((len(names), len(names)))
        np.add.at(flows, (groups[:, :-1], groups[:, 1:]), 1 / groups[:, 1:].size)
        for row, column in np.ndindex(*flows.shape):
            yield _point(data, "3", kind, names[row], names[column], flows[row, column])
        hits = (counts > 0).sum(axis=1)
        for hit in range(counts.shape[1] + 1):
            yield _point(data, "4", kind, "pages", f"{hit}/9", (hits == hit).mean())
        for count in CCDF_COUNTS:
            yield _point(data, "5", kind, "pages", str(count), (counts >= count).mean())


def correlation_points(data: str, source: FeatureSource) -> Iterator[FigurePoint]:
    """Yield Spearman correlations between static features other than the vector (Figure 8)."""
    chosen = [
        feature
        for feature in select_features(
            FeatureSelection.STATIC, OutlinkTarget.LCR, LinkKind.INTERNAL
        )
        if feature.base != SEMANTIC_NAME
    ]
    table = source.features.table(source.steps.step_count - 2, chosen)
    rows = table.values[np.isfinite(table.values).all(axis=1)][:50_000]
    matrix = np.nan_to_num(spearmanr(rows).statistic)
    for row, column in zip(*np.triu_indices(len(chosen), 1), strict=True):
        yield _point(data, "8", None, table.names[row], table.names[column], matrix[row, column])


def _point(
    data: str, figure: str, kind: LinkKind | None, series: str, at: str, value: float
) -> FigurePoint:
    return FigurePoint(data, figure, kind.value if kind else "", series, at, round(float(value), 5))
