"""Looks of generated pages whose truth is known."""

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import NewPage, VisitEntry
from freshet.core.clock import from_epoch
from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.progress import ignore_progress
from freshet.core.tables import DAY_SECONDS, BoolArray, PageTable
from freshet.core.types import Change, FloatArray, Outcome, PageKey, Visit
from freshet.learning.change_model.examples import CollectionExamples, examples_of_looks

HOSTS, PAGES_PER_HOST, DAYS = 12, 5, 50
PAGES = HOSTS * PAGES_PER_HOST
FIRST_DAY = 20_500.4
PAGE_IDS = np.arange(1, PAGES + 1)
HOST_NUMBERS = np.repeat(np.arange(HOSTS), PAGES_PER_HOST)


def page_rows() -> PageTable:
    """Return the pages, twelve hosts with five pages each."""
    hosts = HOST_NUMBERS.astype(np.uint64)
    ones, unknown = np.ones(PAGES), np.full(PAGES, np.nan)
    return PageTable(PAGE_IDS, hosts, hosts, hosts, ones, unknown)


def daily_looks(chances: FloatArray, seed: int = 1) -> MeasuredLooks:
    """Return a look a day at each page; ``chances[page, day]`` is the chance that it changed."""
    rng = np.random.default_rng(seed)
    changed: BoolArray = (rng.random(chances.shape) < chances).T.reshape(-1)
    count = len(changed)
    times = (FIRST_DAY + np.repeat(np.arange(DAYS), PAGES)) * DAY_SECONDS
    unknown = np.full(count, np.nan)
    no_hashes = np.zeros(count, np.uint64)
    measured = np.repeat(np.arange(DAYS) > 0, PAGES)
    pages = np.tile(PAGE_IDS, DAYS)
    return MeasuredLooks(
        pages, times, measured, changed & measured, no_hashes, unknown, unknown, unknown, unknown
    )


def weekday_chances() -> FloatArray:
    """Return the chances of pages that mostly change on the weekday of their host."""
    weekdays = np.arange(DAYS) % 7
    is_day = weekdays[np.newaxis] == (HOST_NUMBERS % 7)[:, np.newaxis]
    return np.where(is_day, 0.9, 0.03)


def memoryless_chances() -> FloatArray:
    """Return the chances of pages that change at random, each at a rate of its own."""
    rates = np.linspace(0.05, 0.6, PAGES)
    return np.repeat(np.random.default_rng(3).permutation(rates)[:, np.newaxis], DAYS, axis=1)


def examples_of(chances: FloatArray) -> CollectionExamples:
    """Return the examples of daily looks."""
    looks = daily_looks(chances)
    return examples_of_looks(page_rows(), looks, "bayes-freshness", ignore_progress)


def add_looks(catalog: Catalog, looks: MeasuredLooks) -> list[int]:
    """Add the pages and their looks to an empty catalog; return the ids of the pages."""
    hosts = [f"host{number}.example" for number in HOST_NUMBERS]
    names = [f"https://{host}/{number}" for number, host in enumerate(hosts)]
    new_pages = [
        NewPage(PageKey(name, ""), host, host, f"{host}/")
        for name, host in zip(names, hosts, strict=True)
    ]
    ids = catalog.add_pages(new_pages, from_epoch(float(looks.times[0]))).ids
    columns = zip(looks.pages, looks.times, looks.measured, looks.changed, strict=True)
    catalog.append_visits([
        VisitEntry(
            Visit(number.to_bytes(16, "big"), ids[page - 1], from_epoch(time), Outcome.OK),
            Change(bool(changed)) if measured else None,
        )
        for number, (page, time, measured, changed) in enumerate(columns)
    ])
    return ids
