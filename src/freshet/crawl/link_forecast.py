"""Forecasts of new links: by the policy of new links, or by the learned model if it is better."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.core.clock import to_epoch
from freshet.core.content.measured_looks import concatenate_looks
from freshet.core.content.outlink_targets import LinkKind
from freshet.core.errors import BadInputError, UsageError
from freshet.core.tables import DAY_SECONDS, PageIdArray, hash_names
from freshet.core.types import FloatArray
from freshet.crawl.learned_forecast import NOT_BETTER
from freshet.crawl.live_policy import build_fitted_policy
from freshet.features.outlinks.feature_table import OutlinkFeatures
from freshet.features.outlinks.look_steps import LookGrid, steps_of_looks
from freshet.features.outlinks.rate_features import RATE_FEATURES, rate_features
from freshet.features.outlinks.taxonomy import HISTORY_STEPS
from freshet.predict.outlinks.link_model import LinkModel, read_link_model
from freshet.record.collection_reader import CollectionReader
from freshet.schedule.links.link_policy import LinkPolicy
from freshet.schedule.links.link_rates import expected_links

LINK_FORECAST_POLICY = "bayes-links"
# The greatest share of a page's capacity that counts as found, so that the rate stays finite.
MAX_FILLED_SHARE = 0.9
# The model looks back from the latest look; collections without newer looks have no use for it.
MAX_LOOK_AGE_DAYS = 365.0


@dataclass(frozen=True, slots=True)
class ExpectedLinks:
    """Expected new links of pages: a row per page, a column per horizon, and a rate per day.

    ``model`` names the learned model that they come from, empty for the policy's own forecast;
    ``problem`` says why a model that is there is not used.
    """

    new_links: FloatArray
    rates: list[float]
    model: str = ""
    problem: str = ""


def forecast_links(
    collection: CollectionReader, page_ids: Sequence[int], now: datetime, horizons: FloatArray
) -> ExpectedLinks:
    """Return the new links that looks at pages are expected to find after horizons in days.

    They come from the learned model if it is valid and was better than the policy's own forecast
    when it was learned.
    """
    catalog = collection.catalog
    settings = replace(collection.settings, policy=LINK_FORECAST_POLICY)
    policy = build_fitted_policy(catalog, settings, now=now)
    if not isinstance(policy, LinkPolicy):
        raise TypeError(f"{policy.name} does not forecast new links")
    views = {page: look.view for page, look in catalog.last_looks(page_ids).items()}
    counts = [
        view.facts.links_internal + view.facts.links_external if view else np.nan
        for view in map(views.get, page_ids)
    ]
    ids, link_counts = np.array(page_ids, np.int64), np.array(counts, np.float64)
    new_links = policy.expected_links(ids, now, horizons, link_counts)
    rates = policy.link_rates(ids, link_counts)
    model, problem = choose_link_model(collection.models_folder)
    if model is None:
        return ExpectedLinks(new_links, rates.tolist(), problem=problem)
    learned = _learned_numbers(model, catalog, ids, now)
    rows = policy.page_states.known_rows(ids)
    ages = policy.page_states.days_since_look(rows, to_epoch(now), never=0.0)
    capacities = np.fmax(policy.rates.capacities(rows), link_counts)
    filled = np.minimum(learned / capacities, MAX_FILLED_SHARE)
    appearing = -capacities * np.log1p(-filled) / model.interval_days
    by_model = [expected_links(appearing, capacities, ages + days) for days in horizons.tolist()]
    is_known = ~np.isnan(learned)
    if by_model:
        new_links = np.where(is_known[:, None], np.stack(by_model, axis=1), new_links)
    rates = np.where(is_known, learned / model.interval_days, rates)
    return ExpectedLinks(new_links, rates.tolist(), model.title if is_known.all() else "")


def choose_link_model(folder: Path | None) -> tuple[LinkModel | None, str]:
    """Return the model of a collection's folder of models, or why it is not used."""
    if folder is None:
        return None, ""
    try:
        model = read_link_model(folder, tuple(RATE_FEATURES))
    except (BadInputError, UsageError) as error:
        return None, str(error)
    if model is not None and not model.validation.is_better:
        return None, NOT_BETTER
    return model, ""


def _learned_numbers(
    model: LinkModel, catalog: Catalog, ids: PageIdArray, now: datetime
) -> FloatArray:
    """Return how many new links each page brings in an interval; NaN if it was not looked at."""
    first_time = to_epoch(now) - MAX_LOOK_AGE_DAYS * DAY_SECONDS
    looks = concatenate_looks([
        table.select((table.times > first_time) & (table.times <= to_epoch(now)))
        for table in catalog.look_tables()
    ])
    if not len(looks):
        return np.full(len(ids), np.nan)
    batches = list(catalog.all_page_columns())
    all_ids = np.array([page for batch in batches for page in batch.ids], np.int64)
    sites = hash_names([site for batch in batches for site in batch.sites])
    latest = float(looks.times.max())
    grid = LookGrid(all_ids, sites, model.interval_days, latest, HISTORY_STEPS + 2)
    steps = steps_of_looks(grid, looks)
    table = rate_features(OutlinkFeatures(steps), LinkKind.INTERNAL, grid.steps - 1)
    rows = np.searchsorted(all_ids, ids)
    numbers = model.booster.means(table.values[rows])
    return np.where(steps.known[rows].any(axis=1), numbers, np.nan)
