"""Forecasts of new links: by the policy of new links, or by the learned model if it is better."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.core.clock import to_epoch
from freshet.core.content.measured_looks import concatenate_looks
from freshet.core.errors import BadInputError, UsageError
from freshet.core.tables import DAY_SECONDS, PageIdArray, hash_names
from freshet.core.types import FloatArray
from freshet.crawl.live_policy import build_fitted_policy
from freshet.features.outlinks.look_steps import (
    LOOK_FEATURES,
    LookGrid,
    look_features,
    steps_of_looks,
)
from freshet.features.outlinks.taxonomy import HISTORY_STEPS
from freshet.predict.outlinks.link_model import LinkModel
from freshet.record.collection_reader import CollectionReader
from freshet.record.models.link_model_file import read_link_model
from freshet.schedule.links.link_policy import LinkPolicy
from freshet.schedule.links.link_rates import MAX_FILLED_SHARE, expected_links
from freshet.schedule.policies import LINK_FORECAST_POLICY

# The model looks back from the latest look; collections without newer looks have no use for it.
MAX_LOOK_AGE_DAYS = 365.0


@dataclass(frozen=True, slots=True)
class ExpectedLinks:
    """Expected new links of pages: a row per page, a column per horizon, and a rate per day.

    ``models`` names the learned model that those of each page come from, empty for the policy's
    own forecast; ``problem`` says why a model that is there is not used.
    """

    new_links: FloatArray
    rates: list[float]
    models: list[str]
    problem: str = ""


def link_forecast_policy(collection: CollectionReader, now: datetime) -> LinkPolicy:
    """Return the fitted policy that forecasts of new links come from."""
    settings = replace(collection.settings, policy=LINK_FORECAST_POLICY)
    policy = build_fitted_policy(collection.catalog, settings, now=now)
    if not isinstance(policy, LinkPolicy):
        raise TypeError(f"{policy.name} does not forecast new links")
    return policy


def forecast_links(
    collection: CollectionReader,
    page_ids: Sequence[int],
    now: datetime,
    horizons: FloatArray,
    *,
    policy: LinkPolicy | None = None,
) -> ExpectedLinks:
    """Return the new links that looks at pages are expected to find after horizons in days.

    They come from the learned model if it is valid and was better than the policy's own forecast,
    and than rules that repeat the past, when it was learned. ``policy`` is that of
    ``link_forecast_policy``, if it was built before.
    """
    catalog, policy = collection.catalog, policy or link_forecast_policy(collection, now)
    ids = np.array(page_ids, np.int64)
    new_links, rates = policy.expected_links(ids, now, horizons), policy.link_rates(ids)
    model, problem = choose_link_model(collection.models_folder)
    if model is None:
        return ExpectedLinks(new_links, rates.tolist(), [""] * len(ids), problem)
    learned, looks = _learned_numbers(model, catalog, ids, now)
    rows = policy.page_states.known_rows(ids)
    ages = policy.page_states.days_since_look(rows, to_epoch(now), never=0.0)
    capacities = np.fmax(policy.rates.capacities(rows), policy.rates.page_links(rows))
    appearing = appearing_rates(learned, looks, capacities) / model.interval_days
    by_model = [expected_links(appearing, capacities, ages + days) for days in horizons.tolist()]
    is_known = ~np.isnan(learned)
    if by_model:
        new_links = np.where(is_known[:, None], np.stack(by_model, axis=1), new_links)
    rates = np.where(is_known, learned / model.interval_days, rates)
    models = np.where(is_known, model.title, "")
    return ExpectedLinks(new_links, rates.tolist(), models.tolist())


def appearing_rates(new_links: FloatArray, looks: FloatArray, capacities: FloatArray) -> FloatArray:
    """Return the links that appear in an interval whose looks, evenly spread, find some of them.

    >>> found, capacities = np.array([14.0, 14.0]), np.array([20.0, 20.0])
    >>> rates = appearing_rates(found, np.array([7.0, 1.0]), capacities)
    >>> rates.round(1)
    array([14.8, 24.1])
    >>> 7 * expected_links(rates[:1] / 7, capacities[:1], np.array([1.0]))
    array([14.])
    """
    filled = np.minimum(new_links / looks / capacities, MAX_FILLED_SHARE)
    rates: FloatArray = -capacities * np.log1p(-filled) * looks
    return rates


def choose_link_model(folder: Path | None) -> tuple[LinkModel | None, str]:
    """Return the model of a collection's folder of models, or why it is not used."""
    if folder is None:
        return None, ""
    try:
        model = read_link_model(folder, LOOK_FEATURES)
    except (BadInputError, UsageError) as error:
        return None, str(error)
    if model is not None and not model.validation.is_better:
        return None, model.validation.reason
    return model, ""


def _learned_numbers(
    model: LinkModel, catalog: Catalog, ids: PageIdArray, now: datetime
) -> tuple[FloatArray, FloatArray]:
    """Return how many new links each page brings in an interval, and the looks of an interval.

    The numbers are NaN for pages that were not looked at. The looks are their mean number in the
    intervals that have any.
    """
    first_time = to_epoch(now) - MAX_LOOK_AGE_DAYS * DAY_SECONDS
    looks = concatenate_looks([
        table.select((table.times > first_time) & (table.times <= to_epoch(now)))
        for table in catalog.look_tables(never_seen_links=True)
    ])
    if not len(looks):
        return np.full(len(ids), np.nan), np.ones(len(ids))
    batches = list(catalog.all_page_columns())
    all_ids = np.array([page for batch in batches for page in batch.ids], np.int64)
    sites = hash_names([site for batch in batches for site in batch.sites])
    latest = float(looks.times.max())
    grid = LookGrid(all_ids, sites, model.interval_days, latest, HISTORY_STEPS + 2)
    steps = steps_of_looks(grid, looks)
    rows = np.searchsorted(all_ids, ids)
    numbers = model.booster.means(look_features(steps, grid.steps - 1).values[rows])
    is_inside = looks.times > latest - grid.steps * grid.interval_days * DAY_SECONDS
    counts = np.bincount(np.searchsorted(all_ids, looks.pages[is_inside]), minlength=len(all_ids))
    intervals = steps.known[rows].sum(axis=1)
    looks_each = np.maximum(counts[rows] / np.maximum(intervals, 1), 1.0)
    return np.where(intervals > 0, numbers, np.nan), looks_each
