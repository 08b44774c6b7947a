"""Tables of features for models of new links, as they were known at a step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from freshet.core.content.outlink_targets import LinkNotion, link_change_rates
from freshet.core.content.page_steps import PageSteps
from freshet.core.content.related_pages import RelatedPages
from freshet.core.errors import UsageError
from freshet.core.types import Float32Array
from freshet.features.outlinks.base_features import (
    BASE_FEATURES,
    SEMANTIC_NAME,
    FeatureSource,
    FeatureTiming,
    carried_forward,
)
from freshet.features.outlinks.taxonomy import HISTORY_STEPS, Derivation, OutlinkFeature

_BASES = {base.name: base for base in BASE_FEATURES}


class NeighbourAverage(Protocol):
    """A function that averages columns of values over related pages.

    Unknown values (NaN) are left out; the average is NaN if none is known.
    """

    def __call__(self, related: RelatedPages, values: Float32Array) -> Float32Array:
        """Return the weighted averages [pages, columns] of values [pages, columns]."""


@dataclass(frozen=True, slots=True)
class LookAround:
    """The related pages of each page, and how values are averaged over them."""

    related: RelatedPages
    average: NeighbourAverage


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """Named columns of float32 with one row per page."""

    names: tuple[str, ...]
    values: Float32Array


class OutlinkFeatures:
    """Computes features of pages at any step, from that step and earlier ones only.

    Sizes and link counts are those of the latest step at which the page was known. Without
    ``around`` the averages over related pages are NaN; the related pages must not have been chosen
    with later contents. ``semantic`` has the reduced semantic vectors [pages, columns]; without it,
    or if the vectors use contents of a later step, they are NaN. Means and rates are over the past
    intervals, at most ``history`` of them. With ``includes_target`` the rates of related pages also
    count the interval that is to be predicted, as in the paper's text; it is meant for its
    reproduction only. Series are computed once and kept.
    """

    def __init__(
        self,
        steps: PageSteps,
        around: LookAround | None = None,
        semantic: Float32Array | None = None,
        *,
        history: int = HISTORY_STEPS,
        notion: LinkNotion = LinkNotion.NEW,
        includes_target: bool = False,
    ) -> None:
        self.steps = steps
        self.around = around
        self.history = history
        self.notion = notion
        self._semantic = semantic
        self._includes_target = includes_target
        self._series: dict[tuple[str, bool], Float32Array] = {}

    def table(self, as_of: int, features: Sequence[OutlinkFeature]) -> FeatureTable:
        """Return features as they were known at a step, one column each."""
        if not 0 <= as_of < self.steps.step_count:
            raise UsageError(
                f"features are asked for step {as_of}, but there are steps 0 to"
                f" {self.steps.step_count - 1}"
            )
        values = np.empty((self.steps.page_count, len(features)), np.float32)
        for column, feature in enumerate(features):
            values[:, column] = self._column(feature, as_of)
        return FeatureTable(tuple(feature.name for feature in features), values)

    def series(self, base: str, *, is_near: bool = False) -> Float32Array:
        """Return a base feature, or its averages over related pages, as a matrix [pages, steps].

        A column depends on that step and earlier ones only.
        """
        key = base, is_near
        if key not in self._series:
            if is_near:
                self._series[key] = self.average(self.series(base))
            else:
                self._series[key] = self._read(base)
        return self._series[key]

    def average(self, values: Float32Array) -> Float32Array:
        """Return averages over related pages; all NaN if no related pages are given."""
        if self.around is None:
            return np.full(values.shape, np.nan, np.float32)
        return self.around.average(self.around.related, np.ascontiguousarray(values, np.float32))

    def past_intervals(self, base: str, as_of: int, history: int | None = None) -> Float32Array:
        """Return the values of the past intervals, at most ``history``, the latest last."""
        first = max(1, as_of + 1 - (self.history if history is None else history))
        return self.series(base)[:, first : as_of + 1]

    def _read(self, base: str) -> Float32Array:
        declared = _BASES[base]
        values = declared.read(self.steps, self.notion)
        if declared.timing is not FeatureTiming.STATE or declared.source is FeatureSource.NETWORK:
            return values
        return carried_forward(values, self.steps.known)

    def _column(self, feature: OutlinkFeature, as_of: int) -> Float32Array:
        if feature.base == SEMANTIC_NAME:
            return self._semantic_column(feature, as_of)
        match feature.derivation:
            case Derivation.MEAN | Derivation.RATE:
                return self._summary(feature, as_of)
            case Derivation.INTERVAL:
                step, first = as_of + 1 - feature.lag, 1
            case _:
                step, first = as_of - feature.lag, 0
        if step < first:
            return np.full(self.steps.page_count, np.nan, np.float32)
        return self.series(feature.base, is_near=feature.is_near)[:, step]

    def _summary(self, feature: OutlinkFeature, as_of: int) -> Float32Array:
        is_rate = feature.derivation is Derivation.RATE
        intervals = self.past_intervals(feature.base, as_of)
        if feature.is_near and is_rate and self._includes_target:
            target = self.series(feature.base)[:, as_of + 1 : as_of + 2]
            intervals = np.concatenate([intervals, target], axis=1)
        summary = link_change_rates(intervals) if is_rate else known_means(intervals)
        return self.average(summary[:, None])[:, 0] if feature.is_near else summary

    def _semantic_column(self, feature: OutlinkFeature, as_of: int) -> Float32Array:
        key = SEMANTIC_NAME, feature.is_near
        semantic = self._semantic
        is_usable = semantic is not None and self.steps.vector_step <= as_of
        if semantic is None or not is_usable or feature.lag > semantic.shape[1]:
            return np.full(self.steps.page_count, np.nan, np.float32)
        if key not in self._series:
            self._series[key] = self.average(semantic) if feature.is_near else semantic
        return self._series[key][:, feature.lag - 1]


def known_means(values: Float32Array) -> Float32Array:
    """Return the mean of the known values of each row; NaN if none is known."""
    is_known = ~np.isnan(values)
    counts = np.count_nonzero(is_known, axis=1)
    sums = np.where(is_known, values, 0).sum(axis=1, dtype=np.float64)
    means = np.full(len(values), np.nan, np.float32)
    np.divide(sums, counts, out=means, where=counts > 0, casting="unsafe")
    return means
