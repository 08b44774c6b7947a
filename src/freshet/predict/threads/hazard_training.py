"""Training of the pooled hazard and of the self-exciting process on many threads."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from freshet.core.extras import OptionalPackage
from freshet.core.types import FloatArray
from freshet.predict.threads.kernels.post_rate import RateTerms, decayed_counts, hazard_rows
from freshet.predict.threads.rate_model import RateModel, power_law_terms, rate_terms
from freshet.predict.threads.rhythm import RhythmPrior, fit_rhythm
from freshet.predict.threads.thread_posts import ThreadPosts

# Time constants in minutes of the recent rates that the trees read.
FEATURE_TIMES = np.array([20.0, 120.0, 720.0, 4320.0, 25_920.0, 155_520.0, 933_120.0])
SILENT_MINUTES = 90 * 1440.0
FIRST_POST = 2
MAX_ROWS = 500_000
TREES = 40
TREE_OPTIONS: dict[str, Any] = {
    "objective": "poisson",
    "num_leaves": 15,
    "learning_rate": 0.15,
    "min_data_in_leaf": 300,
    "poisson_max_delta_step": 0.7,
    "verbose": -1,
    "num_threads": 2,
    "deterministic": True,
    "force_row_wise": True,
}
# Exposure of a bin that ends where it begins: posts of the same minute.
MIN_EXPOSURE = 0.01

lightgbm = OptionalPackage("lightgbm", extra="learning")


def train_hazard(threads: Sequence[ThreadPosts], *, ends: Sequence[float] = ()) -> RateModel:
    """Return the pooled hazard of some threads.

    ``ends`` are the times until which nothing more was posted (epoch minutes), by default 90 days
    after the last post; the silent time after it is part of the training. Rows are the bins of the
    time since each post, at most ``MAX_ROWS`` of them, drawn with a fixed seed.
    """
    rhythm = fit_rhythm(np.concatenate([thread.times for thread in threads]))
    kernel_decays, kernel_weights = power_law_terms()
    decays = np.concatenate((1.0 / FEATURE_TIMES, kernel_decays))
    weights = np.concatenate((np.zeros(len(FEATURE_TIMES)), kernel_weights))
    terms = rate_terms(decays, weights)._replace(feature_decays=len(FEATURE_TIMES))
    silence = ends or [thread.times[-1] + SILENT_MINUTES for thread in threads]
    features, events, exposures = _training_rows(threads, silence, terms, rhythm)
    kernel_exposures = np.exp(features[:, -1]) * (exposures + MIN_EXPOSURE)
    level = events.sum() / kernel_exposures.sum()
    rows = lightgbm.Dataset(features, events, init_score=np.log(level * kernel_exposures))
    options = TREE_OPTIONS | {"min_data_in_leaf": min(300, max(1, len(events) // 50))}
    booster = lightgbm.train(options, rows, TREES)
    # The features hold the kernel rate before it is scaled: its scale is a tree of one leaf.
    trees = _tree_arrays([{"leaf_value": float(np.log(level))}, *_structures(booster)])
    return RateModel(terms._replace(**trees), rhythm)


def _training_rows(
    threads: Sequence[ThreadPosts],
    ends: Sequence[float],
    terms: RateTerms,
    rhythm: RhythmPrior,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    generator = np.random.default_rng(1)
    model = RateModel(terms, rhythm)
    parts = []
    for thread, end in zip(threads, ends, strict=True):
        tables = model.rate_tables(thread, thread.training_posts)
        bounds = min(FIRST_POST, len(thread) - 1), end
        parts.append(hazard_rows(tables, terms, bounds, _bin_starts(generator)))
    features, events, exposures = (np.concatenate(part) for part in zip(*parts, strict=True))
    if len(events) > MAX_ROWS:
        chosen = generator.permutation(len(events))[:MAX_ROWS]
        features, events, exposures = features[chosen], events[chosen], exposures[chosen]
    return features, events, exposures


def _bin_starts(generator: np.random.Generator) -> FloatArray:
    """Return starts of bins that grow by 1.6; the first end is drawn, so that edges differ."""
    starts = [0.0, 0.5 + generator.random()]
    while starts[-1] < 20 * 525_600.0:
        starts.append(1.6 * starts[-1] + 0.5)
    return np.array(starts)


def _structures(booster: Any) -> list[dict[str, Any]]:
    return [tree["tree_structure"] for tree in booster.dump_model()["tree_info"]]


def _tree_arrays(structures: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the nodes of all trees as columns."""
    nodes: list[list[float]] = []

    def add(node: dict[str, Any]) -> int:
        index = len(nodes)
        if "leaf_value" in node:
            nodes.append([-1, 0.0, 0, 0, node["leaf_value"]])
            return index
        nodes.append([node["split_feature"], node["threshold"], 0, 0, 0.0])
        nodes[index][2] = add(node["left_child"])
        nodes[index][3] = add(node["right_child"])
        return index

    roots = np.array([add(structure) for structure in structures], np.int32)
    columns = list(zip(*nodes, strict=True))
    names = ("split_features", "thresholds", "left", "right", "values")
    kinds = (np.int32, np.float64, np.int32, np.int32, np.float64)
    arrays = {
        name: np.array(column, kind)
        for name, column, kind in zip(names, columns, kinds, strict=True)
    }
    return {"roots": roots, **arrays}


def train_self_exciting(threads: Sequence[ThreadPosts], *, rounds: int = 60) -> RateModel:
    """Return a Hawkes process with rhythm: a base rate, and decayed counts with fitted weights.

    The weights of exponentials with fixed decays and the base rate are fitted to all threads
    together by expectation maximisation; the likelihood has one maximum. The rhythm multiplies the
    rate and is not part of the fit.
    """
    decays, weights = power_law_terms()
    shares = np.concatenate(([1e-6], weights))
    excitations = np.concatenate([_excitations(thread, decays) for thread in threads])
    exposures = sum(_exposures(thread, decays) for thread in threads)
    for _ in range(rounds):
        parts = excitations * shares
        shares = (parts / parts.sum(axis=1, keepdims=True)).sum(axis=0) / exposures
    rhythm = fit_rhythm(np.concatenate([thread.times for thread in threads]))
    return RateModel(rate_terms(decays, shares[1:], float(shares[0])), rhythm)


def _excitations(thread: ThreadPosts, decays: FloatArray) -> FloatArray:
    """Return, just before each post but the first, 1 and the decayed counts."""
    counts = decayed_counts(thread.times, decays)[:-1]
    faded = counts * np.exp(-np.outer(np.diff(thread.times), decays))
    return np.column_stack((np.ones(len(faded)), faded))


def _exposures(thread: ThreadPosts, decays: FloatArray) -> FloatArray:
    """Return the integrals of 1 and of the decayed counts, with 90 silent days at the end."""
    end = thread.times[-1] + SILENT_MINUTES
    ages = end - thread.times
    faded = (-np.expm1(-np.outer(ages, decays)) / decays).sum(axis=0)
    return np.concatenate(([end - thread.times[0]], faded))
