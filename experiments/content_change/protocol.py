"""The protocol of section 7: filter pages, slide a window over their steps, forecast the next step.

Radinsky & Bennett 2013. The filter looks at the first training window only, because the whole
period would look into the test.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from experiments.content_change.snapshot_correlation import SnapshotCorrelation
from freshet.core.content.content_grid import ContentGrid
from freshet.core.content.related_pages import RelatedPages
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.types import FloatArray, IndexArray
from freshet.features.expert_features import ExpertFeatureBuilder, FeatureSettings
from freshet.predict.expert_problem import ExpertProblem, SlidingSettings
from freshet.predict.sliding_window import ForecastMethod, forecast_pages
from freshet.relate.co_change import CoChange
from freshet.relate.content_neighbours import ContentNeighbours
from freshet.relate.graph_distance import GraphDistance
from freshet.relate.random_experts import RandomExperts
from freshet.relate.relation import PageRelation
from freshet.relate.same_host import SameHost
from freshet.relate.temporal_similarity import CrossCorrelation, TimeWarping

FILTERS = (0.3, 0.05)
EXPERTS = 20
NO_SELECTION = ""
SELECTIONS: Mapping[str, PageRelation] = {
    "content": ContentNeighbours(),
    "xcorr": CrossCorrelation(),
    "xcorr_online": SnapshotCorrelation(),
    "dtw": TimeWarping(),
    "graph": GraphDistance(),
    "co_change": CoChange(),
    "same_host": SameHost(),
    "random": RandomExperts(),
    "random_1": RandomExperts(seed=1),
    "random_2": RandomExperts(seed=2),
}
PAPER_SELECTIONS = ("content", "xcorr", "dtw", "graph", "random")
RANDOM_SELECTIONS = tuple(name for name in SELECTIONS if name.startswith("random"))
OWN_METHODS = (
    ForecastMethod.COIN,
    ForecastMethod.MAJORITY,
    ForecastMethod.PREVIOUS,
    ForecastMethod.SINGLE_EXPERT,
)
EXPERT_METHODS = (ForecastMethod.VOTE, ForecastMethod.HEDGE)
UNION_METHODS = (ForecastMethod.UNION, ForecastMethod.BAGGING, ForecastMethod.BOOSTING)
WITH_OWN_METHODS = (ForecastMethod.VOTE_WITH_OWN, ForecastMethod.HEDGE_WITH_OWN)


@dataclass(frozen=True, slots=True)
class MethodForecasts:
    """The forecasts of a method for some pages: classes and probabilities by page and step.

    ``related_weights`` is the mean weight of each page's experts, empty for methods without.
    """

    method: str
    selection: str
    classes: IndexArray
    probabilities: FloatArray
    related_weights: FloatArray = field(default_factory=lambda: np.empty(0))

    def select(self, rows: IndexArray) -> "MethodForecasts":
        """Return the forecasts of some of the pages."""
        weights = self.related_weights
        return replace(
            self,
            classes=self.classes[rows],
            probabilities=self.probabilities[rows],
            related_weights=weights[rows] if len(weights) else weights,
        )


@dataclass(frozen=True, slots=True)
class ForecastTask:
    """The labels of a grid's pages, the pages to forecast, and the sliding windows."""

    grid: ContentGrid
    labels: IndexArray
    pages: IndexArray
    settings: SlidingSettings

    def related(self, relation: PageRelation, count: int = EXPERTS) -> RelatedPages:
        """Return the experts of all pages, chosen by what was known when the test starts."""
        return relation.related(self.grid.until(self.settings.window), count)


def flip_shares(labels: IndexArray, window: int) -> FloatArray:
    """Return the share of consecutive steps of the first window between which a label flips.

    >>> flip_shares(np.array([[0, 1, 1, -1, 0, 1]]), 4).tolist()
    [0.5]
    """
    first, second = labels[:, : window - 1], labels[:, 1:window]
    is_known = (first >= 0) & (second >= 0)
    flips = ((first != second) & is_known).sum(axis=1)
    return np.asarray(flips / np.maximum(is_known.sum(axis=1), 1), np.float64)


def filtered_pages(labels: IndexArray, least_share: float, window: int) -> IndexArray:
    """Return the pages whose label flips often enough, and that have a label to forecast."""
    is_kept = (flip_shares(labels, window) >= least_share) & (labels[:, window:] >= 0).any(axis=1)
    return np.flatnonzero(is_kept).astype(np.int32)


def forecast_own(
    task: ForecastTask, methods: Sequence[ForecastMethod] = OWN_METHODS
) -> list[MethodForecasts]:
    """Return the forecasts of the methods that look at one page only (1D and 2D)."""
    empty = np.zeros(0, np.int32)
    nobody = RelatedPages(np.zeros(task.grid.page_count + 1, np.int32), empty, np.empty(0), empty)
    return forecast_methods(task, nobody, methods)


def forecast_methods(
    task: ForecastTask,
    related: RelatedPages,
    methods: Sequence[ForecastMethod],
    selection: str = NO_SELECTION,
    progress: ProgressCallback = ignore_progress,
) -> list[MethodForecasts]:
    """Return the forecasts of methods with the given related pages as experts."""
    shape = len(task.pages), task.labels.shape[1]
    classes = {method: np.zeros(shape, np.int32) for method in methods}
    chances = {method: np.zeros(shape) for method in methods}
    results = forecast_pages(_problems(task, related), methods, task.settings)
    for row, forecasts in enumerate(results):
        for method, forecast in forecasts.items():
            classes[method][row] = forecast.classes
            chances[method][row] = forecast.probabilities
        progress(row + 1, len(task.pages))
    weights = mean_weights(related)[task.pages] if selection else np.empty(0)
    return [
        MethodForecasts(method.value, selection, classes[method], chances[method], weights)
        for method in methods
    ]


def mean_weights(related: RelatedPages) -> FloatArray:
    """Return the mean weight of the related pages of each page; 0 if it has none."""
    sizes = np.diff(related.starts)
    rows = np.repeat(np.arange(len(related)), sizes)
    sums = np.bincount(rows, related.weights, minlength=len(related))
    return np.asarray(sums / np.maximum(sizes, 1), np.float64)


def _problems(task: ForecastTask, related: RelatedPages) -> Iterator[ExpertProblem]:
    horizon = task.settings.horizon
    settings = FeatureSettings(task.settings.window, horizon=horizon)
    builder = ExpertFeatureBuilder(task.grid, task.labels, settings)
    steps = task.labels.shape[1]
    for features in builder.build_all(task.pages, related):
        yield ExpertProblem(
            np.ascontiguousarray(features.dense[:, :steps]),
            task.labels[features.page].astype(np.int8),
            np.ascontiguousarray(features.gram[:, :steps, :steps]),
            features.weights,
            features.own_chances[:steps],
        )
