"""The default model: own history shrunk towards what site and look-around lead to expect.

Three steps, each fitted on groups of pages (sites) that the step before was not fitted to:

1. Trees predict the outcome without the page's own history. This serves a page just discovered.
2. The prediction is the mean of a beta (for shares) or gamma (for counts) prior, whose posterior
   given the page's own faded history follows in closed form. The strength of the prior and how
   fast history fades are those with the lowest loss.
3. A few trees correct the posterior mean with the details of the own history.

The number of trees of both steps is chosen by cross-validation over the groups, and may be zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from freshet.core.tables import BoolArray
from freshet.core.types import Float32Array, FloatArray, IndexArray
from freshet.predict.outlinks.cross_boosting import (
    BoosterSettings,
    CrossBoosting,
    assign_folds,
    tree_scores,
)
from freshet.predict.outlinks.outcome_family import OutcomeFamily, OutcomeKind

OWN, OWN_INTERVALS = "own_", "own_intervals_"
STRENGTHS = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """Which columns are own history, and the pairs of own sums and own intervals by span."""

    names: tuple[str, ...]
    is_own: BoolArray
    spans: dict[str, tuple[int, int]]

    def prior_table(self, rows: Float32Array) -> Float32Array:
        """Return the columns that are no own history."""
        return rows[:, ~self.is_own]

    def correction_table(
        self, rows: Float32Array, prior: FloatArray, posterior: FloatArray
    ) -> Float32Array:
        """Return the own history, and the prior and posterior mean."""
        expected = np.stack([prior, posterior], axis=1).astype(np.float32)
        return np.concatenate([rows[:, self.is_own], expected], axis=1)

    def has_history(self, rows: Float32Array, span: str) -> BoolArray:
        """Return which rows have own history."""
        if span not in self.spans:
            return np.zeros(len(rows), np.bool_)
        has_intervals: BoolArray = rows[:, self.spans[span][1]] > 0
        return has_intervals


@dataclass(frozen=True, slots=True)
class ShrunkBooster:
    """A fitted model; the trees are text as LightGBM writes it, empty if there are none."""

    family: OutcomeFamily
    names: tuple[str, ...]
    base_score: float
    span: str
    strength: float
    prior_trees: str = field(repr=False)
    correction_trees: str = field(repr=False)

    def means(self, rows: Float32Array) -> FloatArray:
        """Return the expected outcome of each row."""
        roles = column_roles(self.names, self.family)
        prior_scores = tree_scores(self.prior_trees, roles.prior_table(rows))
        prior = self.family.means(self.base_score + prior_scores)
        posterior = posterior_means(rows, prior, roles, self.span, self.strength)
        scores = self.family.scores(posterior)
        has_history = roles.has_history(rows, self.span)
        table = roles.correction_table(rows, prior, posterior)[has_history]
        scores[has_history] += tree_scores(self.correction_trees, table)
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
    return ColumnRoles(tuple(names), np.array([name.startswith(OWN) for name in names]), spans)


def posterior_means(
    rows: Float32Array, prior: FloatArray, roles: ColumnRoles, span: str, strength: float
) -> FloatArray:
    """Return the posterior means: the prior counts as ``strength`` intervals of own history."""
    if span not in roles.spans:
        return prior
    sums, intervals = (np.nan_to_num(rows[:, column]) for column in roles.spans[span])
    means: FloatArray = (sums + strength * prior) / (intervals + strength)
    return means


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
    base = float(family.scores(smoothed_mean(outcomes, kind))[0])
    start = np.full(len(outcomes), base)
    prior_fit = boosting.fit(roles.prior_table(rows), start)
    prior = family.means(boosting.out_of_fold(prior_fit, roles.prior_table(rows), start))
    span, strength = choose_shrinkage(rows, outcomes, prior, roles, family)
    posterior = posterior_means(rows, prior, roles, span, strength)
    has_history = roles.has_history(rows, span)
    corrections = boosting.select(has_history)
    table = roles.correction_table(rows, prior, posterior)[has_history]
    scores = family.scores(posterior)
    correction_fit = corrections.fit(table, scores[has_history])
    scores[has_history] = corrections.out_of_fold(correction_fit, table, scores[has_history])
    model = ShrunkBooster(
        family, tuple(names), base, span, strength, prior_fit.trees, correction_fit.trees
    )
    return ShrunkBoosterFit(model, family.means(scores))


def choose_shrinkage(
    rows: Float32Array,
    outcomes: FloatArray,
    prior: FloatArray,
    roles: ColumnRoles,
    family: OutcomeFamily,
) -> tuple[str, float]:
    """Return the span of the history and the strength of the prior with the lowest loss."""
    choices = [(span, strength) for span in roles.spans for strength in STRENGTHS]
    if not choices:
        return "", 0.0

    def loss(choice: tuple[str, float]) -> float:
        return family.loss(posterior_means(rows, prior, roles, *choice), outcomes)

    return min(choices, key=loss)


def smoothed_mean(outcomes: FloatArray, kind: OutcomeKind) -> FloatArray:
    """Return the mean of the outcomes, so that equal outcomes are likely but not certain."""
    unseen = 1.0 if kind is OutcomeKind.SHARE else 0.5
    total = len(outcomes) + (2.0 if kind is OutcomeKind.SHARE else 1.0)
    return np.array([(outcomes.sum() + unseen) / total])
