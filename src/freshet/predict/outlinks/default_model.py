"""The default estimators of new links: whether, how many, and in what share of intervals."""

import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from freshet.core.errors import BadInputError
from freshet.core.json_files import document_digest, to_json
from freshet.core.strict_json import load_strict_json
from freshet.core.types import Float32Array, FloatArray, IndexArray
from freshet.predict.calibration_curve import (
    CalibrationCurve,
    curve_from_points,
    fit_isotonic_curve,
    fit_platt_curve,
)
from freshet.predict.outlinks.booster_document import booster_document, booster_from_document
from freshet.predict.outlinks.cross_boosting import (
    MAX_ROWS,
    TREE_SIZES,
    BoosterSettings,
    choose_rows,
)
from freshet.predict.outlinks.f1_threshold import f1_threshold
from freshet.predict.outlinks.outcome_family import OutcomeFamily, OutcomeKind
from freshet.predict.outlinks.shrunk_booster import (
    ShrunkBooster,
    ShrunkBoosterFit,
    fit_shrunk_booster,
)

FORMAT = 2
# On sites that were not seen, plain shares of the past hold better than details of the history do.
UNSEEN_SITE_WEIGHT = 0.7
SHARES = OutcomeFamily(OutcomeKind.SHARE)


class ShrunkLinkModel(BaseEstimator):
    """Base of the default estimators; see ``shrunk_booster`` for the model.

    Columns whose names start with ``own_`` are the page's own history: NaN, with 0 intervals, for
    a page just discovered. The names come from ``feature_names`` or from the table itself.
    ``groups`` of ``fit`` are the sites of the rows; a model that is to serve sites that it was not
    fitted to needs them. Without them the trees are larger and learn the sites. Fitting uses at
    most ``max_rows`` rows, chosen at random.
    """

    _kind = OutcomeKind.SHARE

    def __init__(
        self,
        feature_names: Sequence[str] | None = None,
        rounds: int = 300,
        folds: int = 4,
        max_rows: int = MAX_ROWS,
        random_state: int = 0,
    ) -> None:
        self.feature_names = feature_names
        self.rounds = rounds
        self.folds = folds
        self.max_rows = max_rows
        self.random_state = random_state

    def to_text(self) -> str:
        """Return the fitted estimator as one JSON document."""
        check_is_fitted(self)
        model: ShrunkBooster = self.model_
        content = to_json({
            "format": FORMAT,
            "estimator": type(self).__name__,
            "parameters": self.get_params(),
            **booster_document(model),
            **self._stored_extras(),
        })
        return json.dumps(content | {"digest": document_digest(content)}, allow_nan=False)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the estimator that ``to_text`` wrote."""
        try:
            stored = load_strict_json(text)
            if stored["format"] != FORMAT or stored["estimator"] != cls.__name__:
                raise ValueError(f"no {cls.__name__} of format {FORMAT}")
            if stored.pop("digest") != document_digest(stored):
                raise ValueError("its digest is wrong")
            estimator = cls(**stored["parameters"])
            estimator.model_ = booster_from_document(cls._kind, stored)
            estimator.n_features_in_ = len(stored["columns"])
            estimator._load_extras(stored)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInputError(
                f"the text is no stored model of new links ({error});"
                " train it again with: freshet learn"
            ) from error
        return estimator

    @abstractmethod
    def _stored_extras(self) -> dict[str, Any]:
        """Return what is stored beside the model."""

    @abstractmethod
    def _load_extras(self, stored: dict[str, Any]) -> None:
        """Set what is stored beside the model."""

    def _fit_model(self, rows: Float32Array, outcomes: FloatArray, groups: Any) -> ShrunkBoosterFit:
        group_ids = self._group_ids(groups, len(rows))
        chosen = choose_rows(len(rows), self.max_rows, self.random_state)
        settings = BoosterSettings(
            sizes=TREE_SIZES[1:] if groups is None else TREE_SIZES,
            rounds=self.rounds,
            folds=self.folds,
            seed=self.random_state,
            plain_weight=0.0 if groups is None else UNSEEN_SITE_WEIGHT,
        )
        self._fitted_rows = chosen
        fit = fit_shrunk_booster(
            rows[chosen], outcomes[chosen], self._names(), self._kind, group_ids[chosen], settings
        )
        self.model_ = fit.model
        return fit

    def _group_ids(self, groups: Any, count: int) -> IndexArray:
        if groups is None:
            return np.arange(count, dtype=np.int32)
        if len(groups) != count:
            raise ValueError(f"{len(groups)} groups for {count} rows")
        return np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.int32)

    def _check_rows(self, X: Any) -> Float32Array:
        check_is_fitted(self)
        rows: Float32Array = validate_data(
            self, X, reset=False, dtype=np.float32, ensure_all_finite="allow-nan"
        )
        return rows

    def _names(self) -> tuple[str, ...]:
        names = self.feature_names
        if names is None:
            names = getattr(self, "feature_names_in_", None)
        if names is None:
            return tuple(f"column_{index}" for index in range(self.n_features_in_))
        if len(names) != self.n_features_in_:
            raise ValueError(f"{len(names)} names for {self.n_features_in_} features")
        return tuple(map(str, names))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class NewLinkClassifier(ClassifierMixin, ShrunkLinkModel):
    """The default model of NL: whether a page brings a new link in the next interval.

    Probabilities are calibrated on folds that the model was not fitted to. ``predict`` says yes
    from ``threshold`` on; None is the threshold with the highest F1 to expect.
    """

    def __init__(
        self,
        feature_names: Sequence[str] | None = None,
        threshold: float | None = None,
        rounds: int = 300,
        folds: int = 4,
        max_rows: int = MAX_ROWS,
        random_state: int = 0,
    ) -> None:
        super().__init__(feature_names, rounds, folds, max_rows, random_state)
        self.threshold = threshold

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Fit to examples; rows of one group are never on both sides of a fold."""
        rows, targets = validate_data(self, X, y, dtype=np.float32, ensure_all_finite="allow-nan")
        outcomes = self._encode(targets)
        fit = self._fit_model(rows, outcomes, groups)
        scores = SHARES.scores(fit.out_of_fold)
        self.curves_ = _calibration_curves(scores, outcomes[self._fitted_rows])
        calibrated = self._calibrate(fit.out_of_fold)
        self.threshold_ = f1_threshold(calibrated) if self.threshold is None else self.threshold
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the calibrated probability of each class."""
        rows = self._check_rows(X)
        positive = self._calibrate(self.model_.means(rows))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return 1 (or the second class) where the probability reaches the threshold."""
        is_second = self.predict_proba(X)[:, 1] >= self.threshold_
        predicted: NDArray[Any] = self.classes_[is_second.astype(int)]
        return predicted

    def _calibrate(self, means: FloatArray) -> FloatArray:
        """Return calibrated means by the mean logit of the curves; it keeps the order of means."""
        if not self.curves_:
            return means
        scores = SHARES.scores(means)
        return SHARES.means(np.mean([curve.logits(scores) for curve in self.curves_], axis=0))

    def _encode(self, targets: NDArray[Any]) -> FloatArray:
        check_classification_targets(targets)
        target_type = type_of_target(targets, input_name="y", raise_unknown=True)
        if target_type != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {target_type}."
            )
        classes = np.unique(targets)
        if len(classes) == 1:
            if classes[0] not in {0, 1}:
                raise ValueError(f"y has one class only, {classes[0]!r}, and it is not 0 or 1")
            classes = np.array([0, 1]).astype(classes.dtype)
        self.classes_ = classes
        outcomes: FloatArray = (targets == classes[1]).astype(np.float64)
        return outcomes

    def _stored_extras(self) -> dict[str, Any]:
        return {
            "classes": self.classes_.tolist(),
            "curves": [curve.to_points() for curve in self.curves_],
            "f1_threshold": self.threshold_,
        }

    def _load_extras(self, stored: dict[str, Any]) -> None:
        self.classes_ = np.array(stored["classes"])
        self.curves_ = tuple(curve_from_points(points) for points in stored["curves"])
        self.threshold_ = float(stored["f1_threshold"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class LinkRateRegressor(RegressorMixin, ShrunkLinkModel):
    """The default model of LCR: the share of intervals with a new link, between 0 and 1."""

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Fit to examples; rows of one group are never on both sides of a fold."""
        rows, targets = validate_data(
            self, X, y, dtype=np.float32, ensure_all_finite="allow-nan", y_numeric=True
        )
        outcomes = np.asarray(targets, np.float64)
        self._check_range(outcomes)
        self._fit_model(rows, outcomes, groups)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the expected outcome of each row."""
        rows = self._check_rows(X)
        return self.model_.means(rows)

    def _check_range(self, outcomes: FloatArray) -> None:
        if outcomes.min() < 0 or outcomes.max() > 1:
            raise ValueError("link change rates lie between 0 and 1")

    def _stored_extras(self) -> dict[str, Any]:
        return {}

    def _load_extras(self, stored: dict[str, Any]) -> None:
        pass


class NewLinkRegressor(LinkRateRegressor):
    """The default model of NNL: the expected number of new links in the next interval."""

    _kind = OutcomeKind.COUNT

    def _check_range(self, outcomes: FloatArray) -> None:
        if outcomes.min() < 0:
            raise ValueError("Some value(s) of y are negative; numbers of new links are not")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


def _calibration_curves(scores: FloatArray, outcomes: FloatArray) -> tuple[CalibrationCurve, ...]:
    """Return Platt's and the isotonic curve; none if the scores tell nothing of the outcomes."""
    if outcomes.min() == outcomes.max():
        return ()
    platt = fit_platt_curve(scores, outcomes)
    if platt.values[1] <= platt.values[0]:
        return ()
    return platt, fit_isotonic_curve(scores, outcomes)
