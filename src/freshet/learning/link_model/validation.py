"""Compares a model of new links with its baselines in later intervals."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from freshet.core.clock import from_epoch
from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.tables import VisitTable
from freshet.core.types import FloatArray, IndexArray
from freshet.features.outlinks.rate_features import RATE_FEATURES
from freshet.learning.change_model.default_forecast import look_visits
from freshet.learning.link_model.examples import CollectionLinks, LinkExamples
from freshet.predict.forecast_scores import area_under_curve
from freshet.predict.outlinks.link_model import (
    DEFAULT_LINK_FORECAST,
    LEARNED_LINKS,
    LinkScores,
    LinkValidation,
)
from freshet.schedule.links.link_policy import LinkPolicy
from freshet.schedule.policies import make_policy
from freshet.schedule.visit_steps import select_visits

PREVIOUS_LINKS, MEAN_LINKS, LINK_RATE = "NNL-Pr", "NNL-Av", "LCR-history"
LINK_FORECAST_POLICY = "bayes-links"
LEAST_EXPECTED = 0.01
RESAMPLES, LOW_SHARE, HIGH_SHARE = 500, 0.025, 0.975
# With fewer sites, pages are resampled instead of sites.
MIN_SITES = 10


def validate_links(
    collection: CollectionLinks, later: LinkExamples, expected: FloatArray, seed: int
) -> LinkValidation:
    """Return how well expected numbers do, against the default forecast and the history rules."""
    by_name = {
        LEARNED_LINKS: expected,
        DEFAULT_LINK_FORECAST: default_expected_links(collection, later),
        **_history_rules(later),
    }
    scores = {name: link_scores(numbers, later.new_links) for name, numbers in by_name.items()}
    gains = deviances(by_name[DEFAULT_LINK_FORECAST], later.new_links) - deviances(
        expected, later.new_links
    )
    has_sites = len(np.unique(later.sites)) >= MIN_SITES
    low, high = _mean_interval(gains, later.sites if has_sites else later.rows, seed)
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


def default_expected_links(collection: CollectionLinks, later: LinkExamples) -> FloatArray:
    """Return what the default forecast expected at the start of each interval.

    The policy learns the looks in the order of time, and never one of the interval or later.
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
        end = int(np.searchsorted(looks.times, start, side="right"))
        policy.learn(select_visits(visits, np.arange(learned, end)))
        learned = end
        chosen = later.steps == step
        horizon = np.array([grid.interval_days])
        ids = grid.ids[later.rows[chosen]]
        expected[chosen] = policy.expected_links(ids, from_epoch(start), horizon)[:, 0]
    return expected


def _history_rules(examples: LinkExamples) -> Mapping[str, FloatArray]:
    names = list(RATE_FEATURES)

    def column(name: str) -> FloatArray:
        return np.nan_to_num(examples.features[:, names.index(name)].astype(np.float64))

    intervals = np.maximum(column("own_intervals_all"), 1.0)
    return {
        PREVIOUS_LINKS: np.expm1(column("own_latest")),
        MEAN_LINKS: column("own_links_all") / intervals,
        LINK_RATE: column("own_hits_all") / intervals,
    }


def _mean_interval(gains: FloatArray, groups: IndexArray, seed: int) -> tuple[float, float]:
    """Return the 95 % interval of the mean when whole groups are resampled."""
    rng = np.random.default_rng(seed)
    _, members = np.unique(groups, return_inverse=True)
    sums, sizes = np.bincount(members, gains), np.bincount(members)
    drawn = rng.integers(0, len(sums), (RESAMPLES, len(sums)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, (LOW_SHARE, HIGH_SHARE))
    return float(low), float(high)


def _link_visits(looks: MeasuredLooks) -> VisitTable:
    """Return looks as the visits that a policy learns, with their new links."""
    visits = look_visits(looks)
    counts = np.where(np.isnan(looks.new_links), -1, looks.new_links).astype(np.int32)
    return replace(visits, new_links=counts)
