"""Votes of experts for each step: who said what, and with which weight."""

from dataclasses import dataclass

import numpy as np

from freshet.core.types import FloatArray
from freshet.predict.kernels.sliding_svm import LabelArray

ABSTAINED = -1
ABSTAIN_LOSS = 0.5


@dataclass(frozen=True, slots=True)
class ExpertVote:
    """The vote of one expert: its number, its class and its share of the weight."""

    expert: int
    label: int
    weight: float


@dataclass(frozen=True, slots=True)
class VoteTable:
    """Classes and weights of every expert and step; an expert that abstains has the class -1."""

    classes: LabelArray
    weights: FloatArray

    def scores(self) -> FloatArray:
        """Return the weight for a change minus the weight against it, from -1 to 1.

        It is 0 where nobody votes.
        """
        votes = np.where(self.classes == ABSTAINED, 0.0, 2.0 * self.classes - 1.0)
        total = (self.weights * (votes != 0)).sum(axis=0)
        scores: FloatArray = (self.weights * votes).sum(axis=0) / np.where(total > 0, total, 1.0)
        return scores

    def at(self, step: int) -> list[ExpertVote]:
        """Return the votes cast at a step, the heaviest first."""
        weights = np.where(self.classes[:, step] == ABSTAINED, 0.0, self.weights[:, step])
        weights = weights / max(weights.sum(), np.finfo(float).tiny)
        order = np.argsort(-weights, kind="stable")
        return [
            ExpertVote(int(expert), int(self.classes[expert, step]), float(weights[expert]))
            for expert in order
            if self.classes[expert, step] != ABSTAINED
        ]


def expert_classes(decisions: FloatArray) -> LabelArray:
    """Return 1 for a decision above 0, otherwise 0, and -1 where there is none.

    >>> expert_classes(np.array([0.3, -2.0, np.nan]))
    array([ 1,  0, -1], dtype=int8)
    """
    return np.where(np.isnan(decisions), ABSTAINED, decisions > 0).astype(np.int8)


def past_sums(values: FloatArray, horizon: int) -> FloatArray:
    """Return the sums of the values whose labels are known at each step.

    >>> past_sums(np.array([1.0, 2.0, 4.0]), horizon=1)
    array([0., 1., 3.])
    """
    sums = np.cumsum(values, axis=-1)
    known = np.zeros_like(sums)
    known[..., horizon:] = sums[..., : max(0, sums.shape[-1] - horizon)]
    return known


def fixed_weights(classes: LabelArray, relation_weights: FloatArray) -> VoteTable:
    """Return votes weighted by the relation to the target page (section 5.3.1)."""
    return VoteTable(classes, np.repeat(relation_weights[:, None], classes.shape[1], axis=1))


def hedge_weights(
    classes: LabelArray,
    labels: LabelArray,
    relation_weights: FloatArray,
    *,
    learning_rate: float,
    horizon: int,
) -> VoteTable:
    """Return votes weighted by past errors on the target (Hedge, Freund and Schapire 1997).

    A weight is the relation weight times exp(-learning_rate * past errors). Abstaining costs half
    an error.
    """
    losses = np.where(classes == ABSTAINED, ABSTAIN_LOSS, classes != labels) * (labels >= 0)
    losses = losses * (classes != ABSTAINED).any(axis=0)
    past_losses = past_sums(losses, horizon)
    weights = relation_weights[:, None] * np.exp(
        -learning_rate * (past_losses - past_losses.min(axis=0))
    )
    total = weights.sum(axis=0)
    return VoteTable(classes, weights / np.where(total > 0, total, 1.0))
