"""Classifiers of users: trained on the examples of a collection, checked, stored and loaded.

A class has ``fit(X, y)`` and ``predict_proba(X)``, as in scikit-learn. It is stored by its own
methods ``to_bytes`` and ``from_bytes``; without them its examples are stored, and it is trained
again whenever it is loaded. Columns without any known value are 0, because many classifiers refuse
them.
"""

import base64
import inspect
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.errors import FreshetError, OwnClassError
from freshet.core.own_classes import load_class
from freshet.core.types import FloatArray
from freshet.predict.chance_correction import CorrectionExamples, model_columns, model_table

ESTIMATOR_METHODS = ("fit", "predict_proba")
STORING_METHODS = ("to_bytes", "from_bytes")
SUM_TOLERANCE = 1e-3


class OwnEstimator:
    """A trained classifier of a user; its probability of a change is the corrected chance."""

    def __init__(self, name: str, classifier: Any, empty_columns: Sequence[int]) -> None:
        self.name = name
        self._classifier = classifier
        self._empty_columns = list(empty_columns)

    def correct(self, features: NDArray[np.float32], chances: FloatArray) -> FloatArray:
        """Return the classifier's probabilities of a change; they are checked."""
        if not len(chances):
            return np.empty(0)
        table = model_table(features, chances)
        table[:, self._empty_columns] = 0.0
        title = f"{self.name}.predict_proba"
        answer = _call(title, lambda: np.asarray(self._classifier.predict_proba(table), float))
        classes = list(getattr(self._classifier, "classes_", (0, 1)))
        if answer.shape != (len(table), len(classes)):
            raise OwnClassError(
                f"{title} failed: it returned an array of shape {answer.shape}, "
                f"not {(len(table), len(classes))}"
            )
        if not ((answer >= 0) & (answer <= 1)).all():
            raise OwnClassError(f"{title} failed: it returned values that are not from 0 to 1")
        if not np.allclose(answer.sum(axis=1), 1.0, atol=SUM_TOLERANCE):
            raise OwnClassError(f"{title} failed: the probabilities of a row do not sum to 1")
        return answer[:, classes.index(1)] if 1 in classes else np.zeros(len(table))

    def to_text(self) -> str:
        """Return the trained classifier as its class stores it, empty if its class does not."""
        if not can_be_stored(self.name):
            return ""
        content = _call(f"{self.name}.to_bytes", self._classifier.to_bytes)
        if not isinstance(content, bytes):
            raise OwnClassError(
                f"{self.name}.to_bytes failed: it returned {type(content).__name__}, not bytes"
            )
        return json.dumps({
            "empty_columns": self._empty_columns,
            "classifier": base64.b64encode(content).decode(),
        })


def can_be_stored(name: str) -> bool:
    """Whether a class has methods that store it; the class must exist."""
    estimator_class = load_estimator_class(name)
    return all(callable(getattr(estimator_class, method, None)) for method in STORING_METHODS)


def load_estimator_class(name: str) -> type[Any]:
    """Return the class of an entry point or ``module:Class``."""
    return load_class(name, "freshet.estimators", ESTIMATOR_METHODS)


def train_own_estimator(
    name: str, feature_names: Sequence[str], examples: CorrectionExamples, seed: int
) -> OwnEstimator:
    """Return a user's classifier, trained on examples.

    It is made without arguments, but for ``feature_names`` and ``random_state`` if it takes them.
    """
    estimator_class = load_estimator_class(name)
    offered = {"feature_names": model_columns(feature_names), "random_state": seed}
    taken = _call(name, lambda: inspect.signature(estimator_class).parameters)
    options = {option: value for option, value in offered.items() if option in taken}
    classifier = _call(name, lambda: estimator_class(**options))
    table, labels = examples.table, examples.changed.astype(np.int64)
    empty_columns = np.flatnonzero(np.isnan(table).all(axis=0)).tolist()
    table[:, empty_columns] = 0.0
    _call(f"{name}.fit", lambda: classifier.fit(table, labels))
    return OwnEstimator(name, classifier, empty_columns)


def restore_own_estimator(name: str, text: str) -> OwnEstimator:
    """Return a user's classifier from what ``to_text`` returned."""
    estimator_class = load_estimator_class(name)
    stored = json.loads(text)
    content = base64.b64decode(stored["classifier"])
    classifier = _call(f"{name}.from_bytes", lambda: estimator_class.from_bytes(content))
    return OwnEstimator(name, classifier, stored["empty_columns"])


def _call(title: str, method: Callable[[], Any]) -> Any:
    """Call a method of a user; what it raises becomes an error that names it."""
    try:
        return method()
    except FreshetError:
        raise
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise OwnClassError(f"{title} failed: {reason}") from error
