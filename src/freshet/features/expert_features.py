"""Features of a page and of related pages at each step (Radinsky & Bennett 2013, section 4.2).

The numbers of the features are those of the paper. Change frequency (1) is taken over the training
steps, because over a window of one step it would repeat the latest change (5). The unigram
distribution (2) is given by its dot products between steps, which is all that a kernel needs.
Norms are L2 norms of differences of distributions. A cosine with a zero vector is 0.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from freshet.core.content.content_grid import NO_VERSION, ContentGrid
from freshet.core.content.related_pages import RelatedPages
from freshet.core.types import FloatArray, IndexArray
from freshet.features.alike_steps import (
    alike_frequency,
    change_likeness,
    row_sums,
    step_ages,
    window_weights,
)
from freshet.features.event_series import shifted, window_mean
from freshet.features.latest_changes import LatestChanges, latest_changes
from freshet.features.version_products import VersionProducts

TRAINING_STEPS = 50
NEARNESS_WEIGHT, NEARNESS_SCALE = 2.0, 1e-3
CHANGE_WEIGHT = 4.0
_TINY = 1e-12


class UnigramKernel(StrEnum):
    """How two unigram distributions are compared.

    ``dot`` is their dot product, as in the paper. Between the versions of a real page it is nearly
    constant, because most words stay; ``nearness`` falls with their squared distance, so that a
    text that comes back is recognised. ``nearness_and_change`` adds the cosine of the latest
    changes of both steps, so that a variant that comes back is recognised in an edited text.
    """

    DOT = "dot"
    NEARNESS = "nearness"
    NEARNESS_AND_CHANGE = "nearness_and_change"


@dataclass(frozen=True, slots=True)
class FeatureSettings:
    """Training steps n, regression window l and prediction interval, and how texts are compared.

    The sizes are those of the paper. The paper has dot products of unigrams; the default did better
    on real pages. ``with_usual_text`` adds a feature that the paper does not have: the mean
    nearness of the present text to those of the n steps before.
    """

    training_steps: int = TRAINING_STEPS
    window: int = 1
    horizon: int = 1
    unigrams: UnigramKernel = UnigramKernel.NEARNESS_AND_CHANGE
    with_usual_text: bool = True

    @property
    def own_names(self) -> tuple[str, ...]:
        """Return the names of the dense features of a page itself (1, 3, 4, 5)."""
        lags = range(1, self.window + 1)
        return (
            "change_frequency",
            *(f"distance_now_{lag}" for lag in lags),
            *(f"distance_then_{lag}" for lag in lags),
            *(f"changed_{lag}" for lag in lags),
            *(("usual_text",) if self.with_usual_text else ()),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all dense features (1, 3 to 7)."""
        lags = range(1, self.window + 1)
        return (
            *self.own_names,
            *(f"similarity_{lag}" for lag in (0, *lags)),
            *(f"change_to_page_{lag}" for lag in lags),
            *(f"change_to_change_{lag}" for lag in lags),
        )


@dataclass(frozen=True, slots=True)
class ExpertFeatures:
    """What the experts of a page knew at each step; the first expert is the page itself.

    ``dense[expert, step, feature]``, the features being ``names``; the features of a relation are
    0 for the page itself. Before its first version a related page abstains: its features are NaN.
    ``gram[expert, step, step]`` compares the unigram distributions.
    ``own_chances[step]`` is how often the page changed in the training window after latest changes
    like the present one.
    """

    page: int
    experts: IndexArray
    weights: FloatArray
    names: tuple[str, ...]
    dense: FloatArray
    gram: FloatArray
    own_chances: FloatArray


class ExpertFeatureBuilder:
    """Computes features from a grid and the labels of a target.

    ``labels`` are those of the horizon: one for each page and step but the last ones, -1 where
    unknown. A step's features depend on versions up to that step and on labels known by then.
    """

    def __init__(
        self, grid: ContentGrid, labels: IndexArray, settings: FeatureSettings | None = None
    ) -> None:
        self.settings = settings or FeatureSettings()
        self._products = VersionProducts(grid)
        self._text_hashes = np.append(grid.text_hashes, np.uint64(0))
        self._labels = labels
        self._events = known_events(labels, grid.step_count)
        self._frequencies = np.nan_to_num(window_mean(self._events, self.settings.training_steps))
        self._squares = self._square_norms()
        self._own: dict[int, FloatArray] = {}

    def build(self, page: int, experts: IndexArray, weights: FloatArray) -> ExpertFeatures:
        """Return the features of a page and of its experts; the page itself comes first."""
        names = self.settings.names
        own = self._own_features(page)
        dense = np.zeros((len(experts) + 1, len(own), len(names)))
        dense[0, :, : own.shape[1]] = own
        gram = np.empty((len(experts) + 1, len(own), len(own)))
        gram[0] = self._compare_steps(page)
        for row, expert in enumerate(experts.tolist(), 1):
            relation = self._relation_features(page, expert)
            dense[row] = np.concatenate([self._own_features(expert), relation], axis=1)
            gram[row] = self._compare_steps(expert)
        all_experts = np.concatenate([[page], experts]).astype(np.int32)
        dense[1:][self._products.versions[experts] == NO_VERSION] = np.nan
        all_weights = np.concatenate([[1.0], weights])
        chances = self._own_chances(page)
        return ExpertFeatures(page, all_experts, all_weights, names, dense, gram, chances)

    def build_all(
        self, pages: Sequence[int] | IndexArray, related: RelatedPages
    ) -> Iterator[ExpertFeatures]:
        """Yield the features of pages with their related pages, one page in memory at a time."""
        for page in map(int, pages):
            experts, weights, _ = related.of(page)
            yield self.build(page, experts, weights)

    def _compare_steps(self, page: int) -> FloatArray:
        """Return how alike the unigram distributions of a page are at any two steps."""
        gram = self._products.gram(page)
        if self.settings.unigrams == UnigramKernel.DOT:
            return gram
        if self.settings.unigrams == UnigramKernel.NEARNESS:
            return nearness(gram)
        return nearness(gram) + CHANGE_WEIGHT * self._latest_changes(page).cosines

    def _latest_changes(self, page: int) -> LatestChanges:
        versions = self._products.versions[page]
        return latest_changes(self._products.gram(page), self._text_hashes[versions], versions)

    def _own_chances(self, page: int) -> FloatArray:
        """Return how often the page changed after latest changes like that of each step."""
        unknown = np.full(self.settings.horizon, -1, np.int32)
        labels = np.concatenate([self._labels[page], unknown])
        weights = window_weights(labels, self.settings.horizon, self.settings.training_steps)
        return alike_frequency(weights, change_likeness(self._latest_changes(page)), labels)

    def _own_features(self, page: int) -> FloatArray:
        """Return the features 1, 3, 4 and 5 of a page, by step; they are computed once."""
        if page not in self._own:
            self._own[page] = self._compute_own_features(page)
        return self._own[page]

    def _compute_own_features(self, page: int) -> FloatArray:
        horizon = self.settings.horizon
        lags = range(1, self.settings.window + 1)
        events = np.nan_to_num(self._events[page : page + 1])
        columns = [
            self._frequencies[page],
            *(self._distances(page, 0, lag) for lag in lags),
            *(self._distances(page, lag, lag + horizon) for lag in lags),
            *(np.nan_to_num(shifted(events, lag - 1))[0] for lag in lags),
        ]
        if self.settings.with_usual_text:
            steps = self.settings.training_steps
            columns.append(usual_text(nearness(self._products.gram(page)), steps))
        return np.stack(columns, axis=1)

    def _relation_features(self, page: int, expert: int) -> FloatArray:
        """Return the features 6 and 7 of an expert, by step."""
        lags = range(1, self.settings.window + 1)
        pairs = dict.fromkeys(
            pair for lag in (0, *lags) for pair in ((lag, lag), (0, lag), (lag, 0))
        )
        products = {pair: self._cross_products(page, expert, *pair) for pair in pairs}
        squares, expert_squares = self._squares[page], self._squares[expert]
        similarities = [
            _cosines(products[lag, lag], _lagged(squares, lag), _lagged(expert_squares, lag))
            for lag in (0, *lags)
        ]
        changes = [
            _cosines(
                products[0, 0] - products[0, lag], squares, self._distances(expert, 0, lag) ** 2
            )
            for lag in lags
        ]
        common_changes = [
            _cosines(
                products[0, 0] - products[0, lag] - products[lag, 0] + products[lag, lag],
                self._distances(page, 0, lag) ** 2,
                self._distances(expert, 0, lag) ** 2,
            )
            for lag in lags
        ]
        return np.stack([*similarities, *changes, *common_changes], axis=1)

    def _distances(self, page: int, lag: int, other_lag: int) -> FloatArray:
        """Return the L2 distances of the versions of two lags; 0 where one is not known."""
        gram = self._products.gram(page)
        steps = np.arange(len(gram))
        newer, older = np.maximum(steps - lag, 0), np.maximum(steps - other_lag, 0)
        squares = gram[newer, newer] - 2 * gram[newer, older] + gram[older, older]
        versions = self._products.versions[page]
        is_known = (steps >= other_lag) & (versions[older] >= 0)
        # Differences of equal large numbers leave rounding errors, which are no distance.
        is_distinct = squares > _TINY * (gram[newer, newer] + gram[older, older])
        return np.sqrt(np.where(is_known & is_distinct, squares, 0.0))

    def _cross_products(self, page: int, expert: int, own_lag: int, lag: int) -> FloatArray:
        """Return the products of the page's and the expert's versions, each with its lag."""
        versions = self._products.versions
        steps = np.arange(versions.shape[1])
        own = versions[page, np.maximum(steps - own_lag, 0)]
        return self._products.pairs(own, versions[expert, np.maximum(steps - lag, 0)])

    def _square_norms(self) -> FloatArray:
        return self._products.pairs(self._products.versions, self._products.versions)


def known_events(labels: IndexArray, step_count: int) -> FloatArray:
    """Return the label that became known at each step: 1, 0, or NaN."""
    horizon = step_count - labels.shape[1]
    events = np.full((len(labels), step_count), np.nan)
    events[:, horizon:] = np.where(labels >= 0, labels, np.nan)
    return events


def _lagged(values: FloatArray, lag: int) -> FloatArray:
    return values[np.maximum(np.arange(len(values)) - lag, 0)]


def _cosines(products: FloatArray, squares: FloatArray, other_squares: FloatArray) -> FloatArray:
    norms = np.sqrt(squares * other_squares)
    cosines = np.divide(products, norms, out=np.zeros(len(products)), where=norms > _TINY)
    return np.clip(cosines, -1.0, 1.0)


def nearness(gram: FloatArray) -> FloatArray:
    """Return a Gaussian kernel of distributions from their dot products.

    Its width follows from the first version that has words, which is known at every later step.
    """
    squares = np.diag(gram)
    distances = np.maximum(squares[:, None] + squares[None, :] - 2 * gram, 0.0)
    first = np.flatnonzero(squares)[:1]
    scale = NEARNESS_SCALE * float(squares[first].sum()) or 1.0
    similarities: FloatArray = NEARNESS_WEIGHT * np.exp(-distances / scale)
    return similarities


def usual_text(likeness: FloatArray, steps: int) -> FloatArray:
    """Return how alike the text of each step is to those of the ``steps`` steps before, on average.

    >>> usual_text(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), 2).tolist()
    [0.0, 1.0, 0.0]
    """
    ages = step_ages(len(likeness))
    is_before = (ages > 0) & (ages <= steps)
    counts = np.maximum(is_before.sum(axis=1), 1)
    return np.asarray(row_sums(likeness * is_before) / counts, np.float64)
