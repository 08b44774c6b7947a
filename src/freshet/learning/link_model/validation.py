"""Compares a model of new links with its baselines in later intervals."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from freshet.core.clock import from_epoch
from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.tables import VisitTable
from freshet.core.types import FloatArray
from freshet.features.outlinks.look_steps import LOOK_FEATURES
from freshet.learning.collection_looks import look_visits
from freshet.learning.link_model.examples import CollectionLinks, LinkExamples
from freshet.learning.resampling import mean_interval
from freshet.predict.forecast_scores import area_under_curve
from freshet.predict.outlinks.link_model import (
    DEFAULT_LINK_FORECAST,
    LEARNED_LINKS,
    LinkScores,
    LinkValidation,
)
from freshet.schedule.links.link_policy import LinkPolicy
from freshet.schedule.policies import LINK_FORECAST_POLICY, make_policy
from freshet.schedule.visit_steps import select_visits

PREVIOUS_LINKS, MEAN_LINKS, LINK_RATE = "NNL-Pr", "NNL-Av", "LCR-history"
LEAST_EXPECTED = 0.01


def validate_links(
    collection: CollectionLinks,
    later: LinkExamples,
    expected: FloatArray,
    seed: int,
    progress: ProgressCallback = ignore_progress,
) -> LinkValidation:
    """Return how well expected numbers do, against the default forecast and the history rules."""
    by_name = {
        LEARNED_LINKS: expected,
        DEFAULT_LINK_FORECAST: default_expected_links(collection, later, progress),
        **_history_rules(later),
    }
    scores = {name: link_scores(numbers, later.new_links) for name, numbers in by_name.items()}
    gains = deviances(by_name[DEFAULT_LINK_FORECAST], later.new_links) - deviances(
        expected, later.new_links
    )
    low, high = mean_interval(gains, later.groups(), seed)
    return LinkValidation(later.summary(), scores, float(gains.mean()), low, high)


def link_scores(expected: FloatArray, counts: FloatArray) -> LinkScores:
    """Return the scores of expected numbers of new links.

    >>> link_scores(np.array([2.0, 0.5]), np.array([3.0, 0.0])).auc
    1.0
    """
    return LinkScores(
        float(deviances(expected, counts).mean()),
        float(np.abs(expected - counts).mean()),
        area_under_curve(expected, counts > 0),
    )


def deviances(expected: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the Poisson deviance of each number; expected numbers are at least 0.01.

    >>> deviances(np.array([2.0]), np.array([2.0])).tolist()
    [0.0]
    """
    means = np.maximum(expected, LEAST_EXPECTED)
    logs = np.log(np.maximum(counts, LEAST_EXPECTED) / means)
    losses: FloatArray = 2 * (np.where(counts > 0, counts * logs, 0.0) - counts + means)
    return losses


def default_expected_links(
    collection: CollectionLinks,
    later: LinkExamples,
    progress: ProgressCallback = ignore_progress,
) -> FloatArray:
    """Return what the default forecast expected the looks of each interval to find, at its start.

    The policy learns the looks in the order of time, and never one of the interval or later. It is
    told when the looks of the interval are, and how many links each page has at the start, where
    that is known, as in a forecast.
    """
    policy = make_policy(LINK_FORECAST_POLICY, live=True)
    if not isinstance(policy, LinkPolicy):
        raise TypeError(f"{policy.name} does not forecast new links")
    policy.add(collection.pages)
    looks, grid = collection.looks, later.grid
    visits = _link_visits(looks)
    expected, learned = np.zeros(len(later)), 0
    for step in np.unique(later.steps).tolist():
        start = float(grid.bounds[step - 1])
        first, end = np.searchsorted(looks.times, grid.bounds[step - 1 : step + 1], side="right")
        policy.learn(select_visits(visits, np.arange(learned, first)))
        learned = int(first)
        chosen = later.steps == step
        ids = grid.ids[later.rows[chosen]]
        interval_looks = looks.select(slice(first, end))
        interval_looks = interval_looks.select(np.isin(interval_looks.pages, ids))
        interval_looks = interval_looks.select(np.argsort(interval_looks.pages, kind="stable"))
        pages = interval_looks.pages.astype(np.int64)
        page_links = collection.link_totals.known_at(pages, start)
        found = policy.links_at_looks(pages, interval_looks.times, from_epoch(start), page_links)
        expected[chosen] = np.bincount(np.searchsorted(ids, pages), found, len(ids))
        progress(int(end), len(looks))
    return expected


def _history_rules(examples: LinkExamples) -> Mapping[str, FloatArray]:
    names = list(LOOK_FEATURES)

    def column(name: str) -> FloatArray:
        return np.nan_to_num(examples.features[:, names.index(name)].astype(np.float64))

    intervals = np.maximum(column("own_intervals_all"), 1.0)
    return {
        PREVIOUS_LINKS: np.expm1(column("own_latest")),
        MEAN_LINKS: column("own_links_all") / intervals,
        LINK_RATE: column("own_hits_all") / intervals,
    }


def _link_visits(looks: MeasuredLooks) -> VisitTable:
    """Return looks as the visits that a policy learns, with their new links."""
    visits = look_visits(looks)
    counts = np.where(np.isnan(looks.new_links), -1, looks.new_links).astype(np.int32)
    return replace(visits, new_links=counts)
