"""The compared models: the default model, the paper's learners, and baselines of the history."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import precision_recall_curve

from experiments.outlinks.evaluation import Prediction
from experiments.outlinks.problems import RATES, FeatureSource, OutlinkTask
from freshet.core.content.outlink_targets import LinkKind, OutlinkTarget
from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray
from freshet.predict.outlinks.default_model import (
    LinkRateRegressor,
    NewLinkClassifier,
    NewLinkRegressor,
)
from freshet.predict.outlinks.history_baselines import (
    HistoryClassifier,
    HistoryRegressor,
    HistoryRule,
)
from freshet.predict.outlinks.tree_learners import TreeLearner
from freshet.predict.outlinks.tuning import make_learner, tune_learner

DEFAULT, COLD, TUNED = "default", "default, no history", "extra_trees, tuned"
WITH_THRESHOLD = ", chosen threshold"
SLOW_LEARNERS = (TreeLearner.BOOSTED_TREES, TreeLearner.NATURAL_POISSON)
TUNED_FEATURES = ("lbla", "all")
OWN = "own_"
NO_FEATURES = ""
DEFAULT_MODELS = {
    OutlinkTarget.LCR: LinkRateRegressor,
    OutlinkTarget.NL: NewLinkClassifier,
    OutlinkTarget.NNL: NewLinkRegressor,
}


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model by its name, with the selection of features that it uses."""

    name: str
    features: str
    predict: Callable[[OutlinkTask, FeatureSource], Prediction]


def baseline_prediction(rule: HistoryRule, task: OutlinkTask, source: FeatureSource) -> Prediction:
    """Predict the figure of the past."""
    table = source.baseline_table(task.kind, task.week - 1)
    rows = table.values[task.tested]
    truth = task.truth(source.steps)
    if task.target is not OutlinkTarget.NL:
        regressor = HistoryRegressor(table.names, rule, task.kind).fit(rows, truth)
        return Prediction(regressor.predict(rows))
    classifier = HistoryClassifier(table.names, rule, task.kind).fit(rows, truth)
    return Prediction(classifier.scores(rows), classifier.predict(rows))


def tuned_baseline_prediction(
    rule: HistoryRule, task: OutlinkTask, source: FeatureSource
) -> Prediction:
    """Predict new links by the threshold with the highest F1 on the training rows."""
    scores, labels = [], []
    for week, members in task.trained:
        earlier = replace(task, week=week, tested=members)
        scores.append(baseline_prediction(rule, earlier, source).scores)
        labels.append(earlier.truth(source.steps))
    threshold = best_threshold(np.concatenate(scores), np.concatenate(labels))
    prediction = baseline_prediction(rule, task, source)
    return Prediction(prediction.scores, (prediction.scores >= threshold).astype(int))


def best_threshold(scores: FloatArray, labels: FloatArray) -> float:
    """Return the score from which on a yes has the highest F1."""
    precision, recall, thresholds = precision_recall_curve(labels, scores)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
    return float(thresholds[f1[:-1].argmax()])


class DefaultPredictor:
    """Predicts with the default model; each task is fitted once.

    The link change rate is predicted without the columns of the page's own history. The sites are
    the groups of the folds where sites are predicted that were not seen, and there are no groups
    where the sites are known, as the model asks for.
    """

    def __init__(self) -> None:
        self._fitted: dict[tuple[object, ...], Any] = {}

    def predict(
        self, task: OutlinkTask, source: FeatureSource, *, is_cold: bool = False
    ) -> Prediction:
        """Return the predictions; a cold start hides the history of the tested pages."""
        tested = task.tested_rows(source, RATES)
        is_own = np.array([name.startswith(OWN) for name in tested.names])
        is_used = ~is_own if task.target is OutlinkTarget.LCR else np.ones_like(is_own)
        key = task.target, task.kind, task.split, task.week, task.tested.tobytes()
        if key not in self._fitted:
            self._fitted[key] = _fit_default(task, source, is_used)
        model = self._fitted[key]
        rows = tested.values.copy()
        if is_cold:
            rows[:, is_own] = np.nan
        if task.target is OutlinkTarget.NL:
            return _classified(model, rows)
        return Prediction(model.predict(rows[:, is_used]))


def _fit_default(task: OutlinkTask, source: FeatureSource, is_used: BoolArray) -> Any:
    rows, outcomes, pages = task.training_rows(source, RATES)
    groups = source.steps.sites[pages] if "host" in task.split else None
    names = np.array(task.tested_rows(source, RATES).names)[is_used]
    model = DEFAULT_MODELS[task.target](tuple(names))
    return model.fit(rows[:, is_used], outcomes, groups)


def learner_prediction(
    learner: TreeLearner, features: str, task: OutlinkTask, source: FeatureSource, draws: int = 0
) -> Prediction:
    """Predict with one of the paper's learners, tuned with some draws of parameters or not.

    The development part on which it is tuned is a third of the rows; it is fitted to all rows.
    """
    rows, outcomes, _ = task.training_rows(source, features)
    tested = task.tested_rows(source, features).values
    is_known = ~np.isnan(rows).all(axis=0)
    rows, tested = rows[:, is_known], tested[:, is_known]
    parameters = learner_parameters(learner, task.target, task.kind, features)
    model = make_learner(learner, task.target, **parameters)
    labels = outcomes.astype(int) if task.target is OutlinkTarget.NL else outcomes
    if draws:
        model = tune_learner(model, rows[::3], labels[::3], draws=draws)
    model.fit(rows, labels)
    if task.target is OutlinkTarget.NL:
        return _classified(model, tested)
    return Prediction(model.predict(tested))


def learner_parameters(
    learner: TreeLearner, target: OutlinkTarget, kind: LinkKind, features: str
) -> dict[str, Any]:
    """Return the parameters; the trees are fewer than the paper's 200 to 500 to save time.

    Its Table 3 has leaves of 2 (internal) and 10 (external) for NL; few features need larger ones.
    """
    parameters: dict[str, Any] = {"trees": 100, "min_leaf": 10}
    if learner is not TreeLearner.EXTRA_TREES:
        parameters = {"trees": 100, "min_leaf": 25, "learning_rate": 0.08}
    elif target is OutlinkTarget.NL and kind is LinkKind.INTERNAL and features != "lbla":
        parameters["min_leaf"] = 2
    elif features == "lbla":
        parameters["min_leaf"] = 25
    if target is OutlinkTarget.NL:
        parameters["calibration_folds"] = 0
    return parameters


def _classified(model: Any, rows: Any) -> Prediction:
    scores: FloatArray = model.predict_proba(rows)[:, 1]
    return Prediction(scores, model.predict(rows).astype(int))


def compared_models(target: OutlinkTarget, split: str) -> list[ModelChoice]:
    """Return the models for a target; LCR is its own history, so it has fewer baselines.

    Boosted trees and NGBoost, which are slow, are left out where every quarter of the sites is
    predicted.
    """
    rules = list(HistoryRule)
    if target is OutlinkTarget.LCR:
        rules = [HistoryRule.CONTENT_CHANGE_RATE]
    models = [
        ModelChoice(rule.value, NO_FEATURES, partial(baseline_prediction, rule)) for rule in rules
    ]
    if target is OutlinkTarget.NL:
        models += [
            ModelChoice(f"{rule}{WITH_THRESHOLD}", "", partial(tuned_baseline_prediction, rule))
            for rule in rules
        ]
    for learner, selections in LEARNERS[target].items():
        if learner in SLOW_LEARNERS and "host" in split:
            continue
        models += [
            ModelChoice(learner.value, features, partial(learner_prediction, learner, features))
            for features in selections
        ]
    default = DefaultPredictor()
    models.append(ModelChoice(DEFAULT, RATES, default.predict))
    if target is OutlinkTarget.NL:
        models.append(ModelChoice(COLD, RATES, partial(default.predict, is_cold=True)))
    return models


def tuned_models(draws: int) -> list[ModelChoice]:
    """Return extremely randomized trees that are tuned alike, with LBLA and with all features."""
    return [
        ModelChoice(
            TUNED,
            features,
            partial(learner_prediction, TreeLearner.EXTRA_TREES, features, draws=draws),
        )
        for features in TUNED_FEATURES
    ]


LEARNERS: Mapping[OutlinkTarget, Mapping[TreeLearner, tuple[str, ...]]] = {
    OutlinkTarget.LCR: {TreeLearner.EXTRA_TREES: ("lbla", "static", "all")},
    OutlinkTarget.NL: {
        TreeLearner.EXTRA_TREES: ("lbla", "static", "all"),
        TreeLearner.BOOSTED_TREES: ("all",),
    },
    OutlinkTarget.NNL: {
        TreeLearner.EXTRA_TREES: ("lbla", "all"),
        TreeLearner.POISSON_BOOSTING: ("lbla", "all"),
        TreeLearner.NATURAL_POISSON: ("lbla",),
    },
}
