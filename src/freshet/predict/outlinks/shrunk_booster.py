"""The default model: own history shrunk towards what site and look-around lead to expect.

Three steps, each fitted on groups of pages (sites) that the step before was not fitted to:

1. Trees predict the outcome, or its mean over the past, without the page's own history. This serves
   a page just discovered.
2. The prediction is the mean of a beta (for shares) or gamma (for counts) prior, whose posterior
   given the page's own faded history follows in closed form. The strength of the prior and how
   fast history fades are those with the lowest loss.
3. A few trees correct the posterior mean with details of the own history, or with all features if
   that is clearly better. For sites that were not seen the result is then drawn to the plain
   posterior mean, in which all intervals weigh the same.

The number of trees of both steps is chosen by cross-validation over the groups, and may be zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from freshet.core.tables import BoolArray
from freshet.core.types import Float32Array, FloatArray, IndexArray
from freshet.predict.outlinks.cross_boosting import (
    BoosterSettings,
    CrossBoosted,
    CrossBoosting,
    assign_folds,
    tree_scores,
)
from freshet.predict.outlinks.outcome_family import OutcomeFamily, OutcomeKind

OWN, OWN_INTERVALS = "own_", "own_intervals_"
PLAIN_SPAN, PLAIN_STRENGTH = "all", 1.0
STRENGTHS = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """Which columns are own history, which of them tell more than the number of intervals.

    ``spans`` has the columns of own sums and of own intervals by span.
    """

    names: tuple[str, ...]
    is_own: BoolArray
    is_detail: BoolArray
    spans: dict[str, tuple[int, int]]

    def prior_table(self, rows: Float32Array) -> Float32Array:
        """Return the columns that are no own history."""
        return rows[:, ~self.is_own]

    def correction_table(
        self, rows: Float32Array, expected: FloatArray, *, uses_all: bool
    ) -> Float32Array:
        """Return the details of the own history, or all columns, and the means expected so far."""
        columns = rows if uses_all else rows[:, self.is_detail]
        return np.concatenate([columns, expected.astype(np.float32)], axis=1)

    def has_history(self, rows: Float32Array, span: str) -> BoolArray:
        """Return which rows have own history."""
        if span not in self.spans:
            return np.zeros(len(rows), np.bool_)
        has_intervals: BoolArray = rows[:, self.spans[span][1]] > 0
        return has_intervals


@dataclass(frozen=True, slots=True)
class BoostedPrior:
    """What is expected without own history: a score for all rows, and trees that add to it."""

    base: float
    trees: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class BoostedCorrectionTrees:
    """Trees that correct posterior means, from all columns or from details of own history."""

    trees: str = field(repr=False)
    uses_all: bool


@dataclass(frozen=True, slots=True)
class ShrunkBooster:
    """A fitted model: one prior for pages with history, one for pages without, and a correction.

    The trees are text as LightGBM writes it, empty if there are none.
    """

    family: OutcomeFamily
    names: tuple[str, ...]
    prior: BoostedPrior
    cold_prior: BoostedPrior
    span: str
    strength: float
    correction: BoostedCorrectionTrees
    plain_weight: float

    def means(self, rows: Float32Array) -> FloatArray:
        """Return the expected outcome of each row."""
        roles = column_roles(self.names, self.family)
        has_history = roles.has_history(rows, self.span)
        means = np.empty(len(rows))
        means[~has_history] = self._prior_means(self.cold_prior, rows[~has_history], roles)
        means[has_history] = self._warm_means(rows[has_history], roles)
        return means

    def _prior_means(
        self, prior: BoostedPrior, rows: Float32Array, roles: ColumnRoles
    ) -> FloatArray:
        return self.family.means(prior.base + tree_scores(prior.trees, roles.prior_table(rows)))

    def _warm_means(self, rows: Float32Array, roles: ColumnRoles) -> FloatArray:
        prior = self._prior_means(self.prior, rows, roles)
        posterior = posterior_means(rows, prior, roles, self.span, self.strength)
        expected = np.stack([prior, posterior], axis=1)
        table = roles.correction_table(rows, expected, uses_all=self.correction.uses_all)
        corrections = tree_scores(self.correction.trees, table)
        scores = self.family.scores(posterior) + corrections
        if self.plain_weight:
            cold = self._prior_means(self.cold_prior, rows, roles)
            plain = self.family.scores(plain_means(rows, cold, roles))
            scores = (1 - self.plain_weight) * scores + self.plain_weight * plain
        return self.family.means(scores)


@dataclass(frozen=True, slots=True)
class ShrunkBoosterFit:
    """A fitted model, and what models of the other folds expected of each training row."""

    model: ShrunkBooster
    out_of_fold: FloatArray


def column_roles(names: Sequence[str], family: OutcomeFamily) -> ColumnRoles:
    """Return the roles of columns by their names."""
    indices = {name: index for index, name in enumerate(names)}
    spans = {
        span: (indices[family.evidence + span], indices[OWN_INTERVALS + span])
        for span in (
            name.removeprefix(family.evidence) for name in names if name.startswith(family.evidence)
        )
        if OWN_INTERVALS + span in indices
    }
    is_own = np.array([name.startswith(OWN) for name in names], np.bool_)
    is_intervals = np.array([name.startswith(OWN_INTERVALS) for name in names], np.bool_)
    return ColumnRoles(tuple(names), is_own, is_own & ~is_intervals, spans)


def posterior_means(
    rows: Float32Array, prior: FloatArray, roles: ColumnRoles, span: str, strength: float
) -> FloatArray:
    """Return the posterior means: the prior counts as ``strength`` intervals of own history."""
    if span not in roles.spans:
        return prior
    sums, intervals = (np.nan_to_num(rows[:, column]) for column in roles.spans[span])
    means: FloatArray = (sums + strength * prior) / (intervals + strength)
    return means


def plain_means(rows: Float32Array, prior: FloatArray, roles: ColumnRoles) -> FloatArray:
    """Return posterior means with equal weights of all intervals and a weak prior."""
    return posterior_means(rows, prior, roles, PLAIN_SPAN, PLAIN_STRENGTH)


def fit_shrunk_booster(
    rows: Float32Array,
    outcomes: FloatArray,
    names: Sequence[str],
    kind: OutcomeKind,
    groups: IndexArray,
    settings: BoosterSettings,
) -> ShrunkBoosterFit:
    """Fit the model; rows of one group (a site) are never on both sides of a fold."""
    family = OutcomeFamily(kind)
    roles = column_roles(names, family)
    boosting = CrossBoosting(family, outcomes, assign_folds(groups, settings), settings)
    fits = [
        _fit_prior(boosting, roles.prior_table(rows), targets)
        for targets in prior_targets(rows, outcomes, roles)
    ]
    shrunk = min((choose_shrinkage(rows, outcomes, fit, roles, family) for fit in fits), key=_loss)
    cold = min(fits, key=lambda fit: family.loss(fit.means, outcomes))
    has_history = roles.has_history(rows, shrunk.span)
    means = np.where(has_history, shrunk.means, cold.means)
    scores = family.scores(means)
    expected = np.stack([shrunk.fit.means, means], axis=1)
    correction, corrected = _fit_correction(boosting, roles, rows, expected, has_history)
    plain = family.scores(plain_means(rows, cold.means, roles))[has_history]
    scores[has_history] = (1 - settings.plain_weight) * corrected + settings.plain_weight * plain
    model = ShrunkBooster(
        family,
        tuple(names),
        shrunk.fit.prior,
        cold.prior,
        shrunk.span,
        shrunk.strength,
        correction,
        settings.plain_weight,
    )
    return ShrunkBoosterFit(model, family.means(scores))


def _fit_correction(
    boosting: CrossBoosting,
    roles: ColumnRoles,
    rows: Float32Array,
    expected: FloatArray,
    has_history: BoolArray,
) -> tuple[BoostedCorrectionTrees, FloatArray]:
    """Return the correction, and the corrected scores of rows with history by the other folds.

    Small trees see the details of the own history; the largest see all columns.
    """
    start = boosting.family.scores(expected[has_history, 1])
    best, scores = (BoostedCorrectionTrees("", uses_all=False), CrossBoosted()), start
    sizes = boosting.settings.sizes
    for uses_all in (False, True):
        corrections = boosting.select(has_history, sizes[-1:] if uses_all else sizes[:1])
        table = roles.correction_table(rows, expected, uses_all=uses_all)[has_history]
        fitted = corrections.fit(table, start)
        if not uses_all or fitted.is_better_than(best[1]):
            best = BoostedCorrectionTrees(fitted.trees, uses_all), fitted
            scores = corrections.out_of_fold(fitted, table, start)
    return best[0], scores


@dataclass(frozen=True, slots=True)
class PriorFit:
    """A prior, and what the trees of the other folds expect of each training row."""

    prior: BoostedPrior
    means: FloatArray


@dataclass(frozen=True, slots=True)
class ShrunkFit:
    """A prior with the span and strength of the lowest loss, and the posterior means."""

    fit: PriorFit
    span: str
    strength: float
    means: FloatArray
    loss: float


def _fit_prior(boosting: CrossBoosting, table: Float32Array, targets: FloatArray) -> PriorFit:
    """Return trees without own history, and what those of the other folds expect of each row."""
    family = boosting.family
    boosting = replace(boosting, outcomes=targets)
    base = float(family.scores(smoothed_mean(targets, family.kind))[0])
    start = np.full(len(targets), base)
    fitted = boosting.fit(table, start)
    means = family.means(boosting.out_of_fold(fitted, table, start))
    return PriorFit(BoostedPrior(base, fitted.trees), means)


def _loss(fit: ShrunkFit) -> float:
    return fit.loss


def prior_targets(rows: Float32Array, outcomes: FloatArray, roles: ColumnRoles) -> list[FloatArray]:
    """Return what the prior may be fitted to: the outcomes, or their means with the own history.

    The means are less noisy and suit sites that were not seen; the outcomes show what happened to
    the sites that were.
    """
    if not roles.spans:
        return [outcomes]
    longest = max(roles.spans.values(), key=lambda columns: np.nansum(rows[:, columns[1]]))
    sums, intervals = (np.nan_to_num(rows[:, column]).astype(np.float64) for column in longest)
    return [outcomes, (sums + outcomes) / (intervals + 1)]


def choose_shrinkage(
    rows: Float32Array,
    outcomes: FloatArray,
    fit: PriorFit,
    roles: ColumnRoles,
    family: OutcomeFamily,
) -> ShrunkFit:
    """Return the span of the history and the strength of the prior with the lowest loss."""

    def shrink(span: str, strength: float) -> ShrunkFit:
        means = posterior_means(rows, fit.means, roles, span, strength)
        return ShrunkFit(fit, span, strength, means, family.loss(means, outcomes))

    choices = [shrink(span, strength) for span in roles.spans for strength in STRENGTHS]
    return min(choices, key=_loss) if choices else shrink("", 0.0)


def smoothed_mean(outcomes: FloatArray, kind: OutcomeKind) -> FloatArray:
    """Return the mean of the outcomes, so that equal outcomes are likely but not certain."""
    unseen = 1.0 if kind is OutcomeKind.SHARE else 0.5
    total = len(outcomes) + (2.0 if kind is OutcomeKind.SHARE else 1.0)
    return np.array([(outcomes.sum() + unseen) / total])
