"""Figures 9 to 15 of the paper: sets of features, importance, history, and rankings."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from scipy.stats import spearmanr
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import balanced_accuracy_score, f1_score, r2_score
from threadpoolctl import threadpool_limits

from experiments.outlinks.evaluation import precision_curve
from experiments.outlinks.models import learner_parameters
from experiments.outlinks.problems import EvaluationPlan, FeatureSource, OutlinkTask
from experiments.outlinks.summaries import FigurePoint
from freshet.core.content.outlink_targets import LinkKind, OutlinkTarget
from freshet.core.content.page_steps import PageSteps
from freshet.core.types import Float32Array, FloatArray
from freshet.features.outlinks.base_features import SEMANTIC_NAME
from freshet.features.outlinks.taxonomy import HISTORY_STEPS
from freshet.predict.outlinks.tree_learners import TreeLearner
from freshet.predict.outlinks.tuning import make_learner

STATIC_SETS: Mapping[str, Callable[[str], bool]] = {
    "SP": lambda name: not _is_network(name) and SEMANTIC_NAME not in name,
    "SP + vector": lambda name: not _is_network(name),
    "SP + SN": lambda name: SEMANTIC_NAME not in name,
    "SP + vector + SN": lambda name: True,
}
NETWORK_NAMES = ("near_", "internal_inlinks", "external_inlinks", "page_rank", "trust_rank")
TESTED_ROWS = 1000
STATIC_ROWS = 30_000
SHOWN_FEATURES = 10
CURVE_PLACES = (1, 2, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100)

Rankings = dict[str, FloatArray]


def _is_network(name: str) -> bool:
    return name.startswith(NETWORK_NAMES)


def static_points(
    data: str, source: FeatureSource, plan: EvaluationPlan, week: int
) -> Iterator[FigurePoint]:
    """Yield the R² and MAE of LCR from sets of static features (Figures 9, 10), and Figure 11.

    Boosted trees are fast, so that they learn from more rows than the plan allows.
    """
    plan = replace(plan, max_rows=STATIC_ROWS)
    for figure, kind in zip(("9", "10"), LinkKind, strict=True):
        task = next(plan.tasks(source.steps, OutlinkTarget.LCR, kind, "page", week))
        for name in STATIC_SETS:
            with threadpool_limits(1, "openmp"):
                yield from _static_set_points((data, figure), source, task, name)


def _static_set_points(
    place: tuple[str, str], source: FeatureSource, task: OutlinkTask, name: str
) -> Iterator[FigurePoint]:
    rows, outcomes, _ = task.training_rows(source, "static")
    tested, truth = task.tested_rows(source, "static"), task.truth(source.steps)
    columns = [
        index
        for index, feature in enumerate(tested.names)
        if STATIC_SETS[name](feature) and not np.isnan(rows[:, index]).all()
    ]
    model = HistGradientBoostingRegressor(
        max_iter=200, learning_rate=0.06, min_samples_leaf=25, random_state=0
    ).fit(rows[:, columns], outcomes)
    predicted = np.clip(model.predict(tested.values[:, columns]), 0, 1)
    yield _point(*place, task.kind, "R²", name, r2_score(truth, predicted))
    yield _point(*place, task.kind, "MAE", name, np.abs(truth - predicted).mean())
    if (name, task.kind) == ("SP + SN", LinkKind.INTERNAL):
        names = [tested.names[column] for column in columns]
        shown = truth[:TESTED_ROWS]
        yield from _importance(
            (place[0], "11", task.kind.value),
            names,
            tested.values[:TESTED_ROWS, columns],
            lambda table: float(r2_score(shown, model.predict(table))),
        )


def history_points(
    data: str, source: FeatureSource, plan: EvaluationPlan, week: int
) -> Iterator[FigurePoint]:
    """Yield the figures of NL by extra trees with 0 to 8 intervals of history (Figures 12, 13)."""
    for kind in LinkKind:
        task = next(plan.tasks(source.steps, OutlinkTarget.NL, kind, "page", week))
        yield from _previous_points(data, source, task)
        for history in range(HISTORY_STEPS + 1):
            yield from _history_size_points(data, source, task, history)


def _history_size_points(
    data: str, source: FeatureSource, task: OutlinkTask, history: int
) -> Iterator[FigurePoint]:
    features, learner, truth = "all", TreeLearner.EXTRA_TREES, task.truth(source.steps)
    if history == 0:
        features = "static"
    rows, outcomes, _ = task.training_rows(source, features, history)
    table = task.tested_rows(source, features, history)
    is_known = ~np.isnan(rows).all(axis=0)
    parameters = learner_parameters(learner, OutlinkTarget.NL, task.kind, features)
    model = make_learner(learner, OutlinkTarget.NL, **parameters)
    model.fit(rows[:, is_known], outcomes.astype(int))
    tested = table.values[:, is_known]
    classes = model.predict(tested)
    accuracy = balanced_accuracy_score(truth, classes)
    yield _point(data, "12", task.kind, "F1", str(history), f1_score(truth, classes))
    yield _point(data, "12", task.kind, "balanced accuracy", str(history), accuracy)
    if history == HISTORY_STEPS:
        names = [name for name, known in zip(table.names, is_known, strict=True) if known]
        shown = truth[:TESTED_ROWS]
        yield from _importance(
            (data, "13", task.kind.value),
            names,
            tested[:TESTED_ROWS],
            lambda table: float(balanced_accuracy_score(shown, model.predict(table))),
        )


def _previous_points(data: str, source: FeatureSource, task: OutlinkTask) -> Iterator[FigurePoint]:
    counts = getattr(source.steps.new_links, task.kind.value)[task.tested, task.week - 1]
    truth, classes = task.truth(source.steps), np.nan_to_num(counts) > 0
    yield _point(data, "12", task.kind, "F1", "NNL-Pr", f1_score(truth, classes))
    yield _point(
        data, "12", task.kind, "balanced accuracy", "NNL-Pr",
        balanced_accuracy_score(truth, classes),
    )  # fmt: skip


def _importance(
    place: tuple[str, str, str],
    names: list[str],
    rows: Float32Array,
    score: Callable[[Float32Array], float],
) -> Iterator[FigurePoint]:
    """Yield the ten features whose random exchange between rows lowers a score the most."""
    rng = np.random.default_rng(0)
    best = score(rows)
    losses = np.empty(len(names))
    for column in range(len(names)):
        kept = rows[:, column].copy()
        rows[:, column] = rng.permutation(kept)
        losses[column] = best - score(rows)
        rows[:, column] = kept
    for column in np.argsort(-losses)[:SHOWN_FEATURES]:
        yield FigurePoint(*place, "importance", names[column], round(float(losses[column]), 5))


def ranking_points(
    data: str, steps: PageSteps, kind: LinkKind, week: int, rankings: Rankings
) -> Iterator[FigurePoint]:
    """Yield Spearman's rho of rankings of all pages with the three targets, and Figure 15.

    A ranking has NaN for pages that it does not rank; only pages that all rank are compared.
    """
    counts: Float32Array = getattr(steps.new_links, kind.value)
    last = counts[:, max(1, week - 8) : week + 1]
    truths = {
        "LCR": (last > 0).mean(axis=1),
        "NL": counts[:, week] > 0,
        "NNL": counts[:, week].astype(np.float64),
    }
    is_ranked = np.isfinite(last).all(axis=1)
    for scores in rankings.values():
        is_ranked &= np.isfinite(scores)
    for name, scores in rankings.items():
        for target, truth in truths.items():
            rho = spearmanr(truth[is_ranked], scores[is_ranked]).statistic
            yield _point(data, "14", kind, name, target, np.nan_to_num(rho))
        curve = precision_curve(truths["NNL"][is_ranked], scores[is_ranked])
        for place in CURVE_PLACES:
            yield _point(data, "15", kind, name, str(place), curve[place - 1])


def _point(
    data: str, figure: str, kind: LinkKind, series: str, at: str, value: float
) -> FigurePoint:
    return FigurePoint(data, figure, kind.value, series, at, round(float(value), 5))
