"""One gradient boosting model over the examples of all pages, with calibrated probabilities."""

import json
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from freshet.core.errors import BadInputError
from freshet.core.json_files import document_digest, to_json
from freshet.core.strict_json import load_strict_json
from freshet.core.types import FloatArray
from freshet.predict.booster_text import lightgbm, load_booster
from freshet.predict.calibration_curve import (
    CalibrationCurve,
    curve_from_points,
    fit_isotonic_curve,
    fit_platt_curve,
    identity_curve,
)
from freshet.predict.logit_classifier import BinaryExamples, LogitClassifier

FORMAT = 2
MIN_CALIBRATION_ROWS = 20
STATED_PARAMETERS = {
    "objective": "binary",
    "deterministic": True,
    "force_col_wise": True,
    "verbosity": -1,
}


class PooledForecaster(LogitClassifier):
    """Gradient boosting (LightGBM) over examples of many pages, rows in time order.

    NaN is a value of its own. The last ``calibration_share`` of the rows calibrates a model of the
    rows before, by ``platt``, ``isotonic`` or ``none``; then the model is fitted to all rows.
    Results do not depend on the number of threads. ``to_text`` and ``from_text`` store a fitted
    forecaster without pickle. If all examples have one class, it is predicted, with a smoothed
    probability.
    """

    def __init__(  # noqa: PLR0913 - scikit-learn lists all parameters here
        self,
        rounds: int = 200,
        learning_rate: float = 0.05,
        leaves: int = 31,
        min_leaf: int = 50,
        column_share: float = 1.0,
        l2: float = 1.0,
        calibration: str = "platt",
        calibration_share: float = 0.2,
        feature_names: Sequence[str] | None = None,
        threads: int = 0,
        random_state: int = 0,
    ) -> None:
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.leaves = leaves
        self.min_leaf = min_leaf
        self.column_share = column_share
        self.l2 = l2
        self.calibration = calibration
        self.calibration_share = calibration_share
        self.feature_names = feature_names
        self.threads = threads
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to examples in time order."""
        self._check_calibration()
        examples = self._check_examples(X, y, sample_weight)
        self._check_names()
        self.curve_ = self._calibrate(examples)
        self.booster_ = None if examples.is_constant else self._fit_booster(examples)
        self.constant_ = examples.constant_logit
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the calibrated logits of the second class; above 0 it is predicted."""
        rows = self._check_rows(X)
        if self.booster_ is None:
            return np.full(len(rows), self.constant_)
        return self.curve_.logits(self._raw_scores(self.booster_, rows))

    def importances(self) -> list[tuple[str, float]]:
        """Return the features with their share of the total gain, the largest first."""
        check_is_fitted(self)
        if self.booster_ is None:
            return []
        gains = self.booster_.feature_importance("gain")
        shares = gains / max(float(gains.sum()), np.finfo(float).tiny)
        order = np.argsort(-shares, kind="stable")
        names = self._names()
        return [(names[index], float(shares[index])) for index in order]

    def to_text(self) -> str:
        """Return the fitted forecaster as one JSON document."""
        check_is_fitted(self)
        content = to_json({
            "format": FORMAT,
            "parameters": self.get_params(),
            "columns": self._names(),
            "classes": self.classes_.tolist(),
            "curve": self.curve_.to_points(),
            "constant": self.constant_,
            "booster": self.booster_ and self.booster_.model_to_string(),
        })
        return json.dumps(content | {"digest": document_digest(content)}, allow_nan=False)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the forecaster that ``to_text`` wrote."""
        try:
            stored = load_strict_json(text)
            if stored["format"] != FORMAT:
                raise BadInputError(
                    f"the model has format {stored['format']}, this version reads {FORMAT};"
                    " train it again with: freshet learn"
                )
            if stored.pop("digest") != document_digest(stored):
                raise ValueError("its digest is wrong")
            forecaster = cls(**stored["parameters"])
            forecaster.feature_names = stored["columns"]
            forecaster.n_features_in_ = len(stored["columns"])
            forecaster.classes_ = np.array(stored["classes"])
            forecaster.curve_ = curve_from_points(stored["curve"])
            forecaster.constant_ = float(stored["constant"])
            text_of_booster = stored["booster"]
            forecaster.booster_ = text_of_booster and load_booster(text_of_booster)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInputError(
                f"the text is no stored model ({error}); train it again with: freshet learn"
            ) from error
        return forecaster

    def _check_calibration(self) -> None:
        if self.calibration not in {"platt", "isotonic", "none"}:
            raise ValueError(
                f"calibration is {self.calibration!r}; use 'platt', 'isotonic' or 'none'"
            )

    def _check_names(self) -> None:
        if self.feature_names is not None and len(self.feature_names) != self.n_features_in_:
            raise ValueError(f"{len(self.feature_names)} names for {self.n_features_in_} features")

    def _names(self) -> list[str]:
        if self.feature_names is not None:
            return list(self.feature_names)
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            return [str(name) for name in names]
        return [f"column_{index}" for index in range(self.n_features_in_)]

    def _fit_booster(self, examples: BinaryExamples) -> Any:
        parameters = STATED_PARAMETERS | {
            "learning_rate": self.learning_rate,
            "num_leaves": self.leaves,
            "min_data_in_leaf": self.min_leaf,
            "feature_fraction": self.column_share,
            "lambda_l2": self.l2,
            "num_threads": self.threads,
            "seed": self.random_state,
        }
        dataset = lightgbm.Dataset(
            examples.rows, examples.labels, weight=examples.weights, params=parameters
        )
        return lightgbm.train(parameters, dataset, self.rounds)

    def _calibrate(self, examples: BinaryExamples) -> CalibrationCurve:
        """Return the curve of a model of the earlier rows on the later ones."""
        count = len(examples.rows)
        split = round(count * (1.0 - self.calibration_share))
        if self.calibration == "none" or count - split < MIN_CALIBRATION_ROWS or split == 0:
            return identity_curve()
        earlier, later = (examples.select(rows) for rows in (slice(split), slice(split, None)))
        if earlier.is_constant or later.is_constant:
            return identity_curve()
        scores = self._raw_scores(self._fit_booster(earlier), later.rows)
        fit_curve = fit_platt_curve if self.calibration == "platt" else fit_isotonic_curve
        return fit_curve(scores, later.labels.astype(float))

    def _raw_scores(self, booster: Any, rows: FloatArray) -> FloatArray:
        scores: FloatArray = booster.predict(rows, raw_score=True, num_threads=self.threads)
        return scores
