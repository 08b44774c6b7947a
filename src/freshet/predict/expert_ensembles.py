"""The learners of section 5 of Radinsky and Bennett (2013) as scikit-learn estimators.

Rows of X are steps in time order; its columns are the experts' features side by side, and
``expert_columns`` says which columns belong to which expert, the page itself first. With None all
columns belong to one expert. Rows of X are the window: these estimators do not slide, they are
fitted anew for each window. ``freshet.predict.sliding_window`` does the same for all windows of a
page at once.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter

from freshet.core.types import FloatArray
from freshet.predict.calibrated_classifier import CalibratedClassifier, ConstantModel
from freshet.predict.expert_votes import VoteTable, fixed_weights
from freshet.predict.kernels.sliding_svm import LabelArray
from freshet.predict.logit_classifier import BinaryExamples, ClassArray
from freshet.predict.polynomial_svm import PolynomialSVM

ExpertColumns = Sequence[Sequence[int]]
FORWARD_BLOCKS = 5
NO_ERROR = 1e-12


class MemberModel:
    """A fitted weak learner on some columns."""

    def __init__(self, learner: Any, columns: Sequence[int] | None = None) -> None:
        self.learner = learner
        self._columns = columns

    def scores(self, rows: FloatArray) -> FloatArray:
        """Return decisions, or the probability of class 1 above one half."""
        selected = self._select(rows)
        if hasattr(self.learner, "decision_function"):
            decisions: FloatArray = self.learner.decision_function(selected)
            return decisions
        probabilities: FloatArray = self.learner.predict_proba(selected)[:, 1] - 0.5
        return probabilities

    def labels(self, rows: FloatArray) -> LabelArray:
        """Return the class of each row, 0 or 1."""
        labels: LabelArray = np.asarray(self.learner.predict(self._select(rows))).astype(np.int8)
        return labels

    def _select(self, rows: FloatArray) -> FloatArray:
        return rows if self._columns is None else rows[:, list(self._columns)]


class ConstantMember(ConstantModel):
    """A member fitted to examples of one class."""

    def labels(self, rows: FloatArray) -> LabelArray:
        """Return that class for every row."""
        return (self.scores(rows) > 0).astype(np.int8)


class VoteModel:
    """Members that vote with fixed weights."""

    def __init__(
        self, members: Sequence[MemberModel | ConstantMember], weights: FloatArray
    ) -> None:
        self.members = members
        self.weights = weights

    def votes(self, rows: FloatArray) -> VoteTable:
        """Return the class and weight of every member for every row."""
        classes = np.stack([member.labels(rows) for member in self.members])
        return fixed_weights(classes, self.weights)

    def scores(self, rows: FloatArray) -> FloatArray:
        """Return the weight for class 1 minus that for class 0."""
        votes = 2.0 * self.votes(rows).classes - 1.0
        total = max(float(np.abs(self.weights).sum()), np.finfo(float).tiny)
        scores: FloatArray = self.weights @ votes / total
        return scores


class _ExpertEnsemble(CalibratedClassifier):
    """Base of learners over weak learners; any scikit-learn classifier is one."""

    weak_learner: ClassifierMixin | None

    def _new_learner(self) -> Any:
        if self.weak_learner is None:
            return PolynomialSVM(calibration_folds=0)
        return clone(self.weak_learner)

    def _fit_member(
        self, rows: FloatArray, labels: ClassArray, columns: Sequence[int] | None = None
    ) -> MemberModel | ConstantMember:
        if labels.min() == labels.max():
            return ConstantMember(1.0 if labels[0] == 1 else -1.0)
        selected = rows if columns is None else rows[:, list(columns)]
        return MemberModel(self._new_learner().fit(selected, labels), columns)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self._new_learner()).input_tags.allow_nan
        return tags


class SingleExpert(_ExpertEnsemble):
    """One weak learner with the page's own features (section 5.2)."""

    def __init__(
        self,
        weak_learner: ClassifierMixin | None = None,
        expert_columns: ExpertColumns | None = None,
        calibration_folds: int = 5,
        prior_weight: float = 1.0,
    ) -> None:
        self.weak_learner = weak_learner
        self.expert_columns = expert_columns
        self.calibration_folds = calibration_folds
        self.prior_weight = prior_weight

    def _fit_model(self, examples: BinaryExamples) -> MemberModel | ConstantMember:
        columns = None if self.expert_columns is None else self.expert_columns[0]
        return self._fit_member(examples.rows, examples.labels, columns)


class RelationalUnion(_ExpertEnsemble):
    """One weak learner with the features of all experts side by side (section 5.3.2)."""

    def __init__(
        self,
        weak_learner: ClassifierMixin | None = None,
        calibration_folds: int = 5,
        prior_weight: float = 1.0,
    ) -> None:
        self.weak_learner = weak_learner
        self.calibration_folds = calibration_folds
        self.prior_weight = prior_weight

    def _fit_model(self, examples: BinaryExamples) -> MemberModel | ConstantMember:
        return self._fit_member(examples.rows, examples.labels)


class MultipleExperts(_ExpertEnsemble):
    """One weak learner per expert, all trained on the target's labels, that vote (section 5.3.1).

    ``weights`` are the relation weights of the experts, all 1 by default. The combination ``vote``
    uses them as they are. ``hedge`` multiplies them by exp(-learning_rate * errors), where errors
    are counted on blocks of rows by learners fitted to the rows before. With ``with_own`` every
    expert also has the columns of the first, the page itself. ``votes`` tells which experts said
    so.
    """

    def __init__(  # noqa: PLR0913 - scikit-learn lists all parameters here
        self,
        weak_learner: ClassifierMixin | None = None,
        expert_columns: ExpertColumns | None = None,
        weights: Sequence[float] | None = None,
        combination: str = "vote",
        with_own: bool = False,
        learning_rate: float = 0.5,
        calibration_folds: int = 5,
        prior_weight: float = 1.0,
    ) -> None:
        self.weak_learner = weak_learner
        self.expert_columns = expert_columns
        self.weights = weights
        self.combination = combination
        self.with_own = with_own
        self.learning_rate = learning_rate
        self.calibration_folds = calibration_folds
        self.prior_weight = prior_weight

    def votes(self, X: Any) -> VoteTable:
        """Return the class and the weight of every expert for every row."""
        rows = self._check_rows(X)
        if isinstance(self.model_, VoteModel):
            return self.model_.votes(rows)
        classes = (self.model_.scores(rows) > 0).astype(np.int8)
        return fixed_weights(classes[None], np.ones(1))

    def _fit_model(self, examples: BinaryExamples) -> VoteModel:
        if self.combination not in {"vote", "hedge"}:
            raise ValueError(f"combination is {self.combination!r}; use 'vote' or 'hedge'")
        rows, labels = examples.rows, examples.labels
        groups = self._column_groups(rows.shape[1])
        expert_weights = np.ones(len(groups)) if self.weights is None else np.array(self.weights)
        if len(expert_weights) != len(groups):
            raise ValueError(f"{len(expert_weights)} weights for {len(groups)} experts")
        if self.combination == "hedge":
            errors = self._forward_errors(rows, labels, groups)
            expert_weights = expert_weights * np.exp(-self.learning_rate * (errors - errors.min()))
        members = [self._fit_member(rows, labels, columns) for columns in groups]
        return VoteModel(members, expert_weights / max(expert_weights.sum(), NO_ERROR))

    def _column_groups(self, column_count: int) -> list[list[int]]:
        if not self.expert_columns:
            return [list(range(column_count))]
        groups = [list(columns) for columns in self.expert_columns]
        if self.with_own:
            return groups[:1] + [groups[0] + columns for columns in groups[1:]]
        return groups

    def _forward_errors(
        self, rows: FloatArray, labels: ClassArray, groups: list[list[int]]
    ) -> FloatArray:
        """Return each expert's errors on later blocks when fitted to the rows before them."""
        errors = np.zeros(len(groups))
        start = len(rows) // 2
        if start == 0:
            return errors
        for block in np.array_split(np.arange(start, len(rows)), FORWARD_BLOCKS):
            for index, columns in enumerate(groups if len(block) else []):
                member = self._fit_member(rows[: block[0]], labels[: block[0]], columns)
                errors[index] += np.count_nonzero(member.labels(rows[block]) != labels[block])
        return errors


class _SeveralLearners(_ExpertEnsemble):
    """The parameters of ensembles that fit one weak learner several times to all features."""

    def __init__(
        self,
        weak_learner: ClassifierMixin | None = None,
        n_estimators: int = 10,
        calibration_folds: int = 5,
        prior_weight: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.weak_learner = weak_learner
        self.n_estimators = n_estimators
        self.calibration_folds = calibration_folds
        self.prior_weight = prior_weight
        self.random_state = random_state


class RelationalBagging(_SeveralLearners):
    """Weak learners fitted to samples of the examples, with equal votes (section 5.3.3)."""

    def _fit_model(self, examples: BinaryExamples) -> VoteModel:
        random = check_random_state(self.random_state)
        rows, labels = examples.rows, examples.labels
        samples = [random.randint(0, len(rows), len(rows)) for _ in range(self.n_estimators)]
        members = [self._fit_member(rows[sample], labels[sample]) for sample in samples]
        return VoteModel(members, np.full(len(members), 1.0 / len(members)))


class RelationalBoosting(_SeveralLearners):
    """AdaBoost over all features, weights and alphas as in section 5.3.3.

    A weak learner that takes no weights is fitted to a weighted sample. A learner without errors
    decides alone, because its alpha is infinite; rounds end at a learner as good as chance.
    """

    def _fit_model(self, examples: BinaryExamples) -> VoteModel:
        random = check_random_state(self.random_state)
        members: list[MemberModel | ConstantMember] = []
        alphas: list[float] = []
        rows, labels = examples.rows, examples.labels
        signs = 2.0 * labels - 1.0
        weights = np.full(len(rows), 1.0 / len(rows))
        for _ in range(self.n_estimators):
            member = self._fit_round(rows, labels, weights, random)
            answers = 2.0 * member.labels(rows) - 1.0
            error = float(weights[answers != signs].sum())
            if error < NO_ERROR:
                return VoteModel([member], np.ones(1))
            alpha = 0.5 * np.log((1.0 - error) / error)
            members.append(member)
            alphas.append(float(alpha))
            if abs(alpha) < NO_ERROR:
                break
            weights = weights * np.exp(-alpha * signs * answers)
            weights = weights / weights.sum()
        return VoteModel(members, np.array(alphas))

    def _fit_round(
        self, rows: FloatArray, labels: ClassArray, weights: FloatArray, random: Any
    ) -> MemberModel | ConstantMember:
        learner = self._new_learner()
        if has_fit_parameter(learner, "sample_weight"):
            return MemberModel(learner.fit(rows, labels, sample_weight=weights * len(rows)))
        sample = random.choice(len(rows), len(rows), p=weights)
        return self._fit_member(rows[sample], labels[sample])
