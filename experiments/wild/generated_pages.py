"""Generated pages of a few sites, with days on which most pages of a site change together."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from experiments.wild.page_history import PageHistory
from freshet.core.clock import to_epoch
from freshet.core.tables import DAY_SECONDS

DAYS_BEFORE = 30
MEDIAN_DAYS, LOG_SPREAD = 60.0, 1.5
MIN_EVENT_SHARE, MAX_EVENT_SHARE = 0.3, 0.95
SITE_WORDS = ("harbour", "garden", "archive", "market", "station", "library", "theatre", "mill")


@dataclass(frozen=True, slots=True)
class GeneratedSites:
    """The size of the generated sites; a site-wide day comes every ``event_days`` on average."""

    sites: int = 4
    pages_per_site: int = 100
    event_days: float = 30.0
    seed: int = 1


def generate_histories(size: GeneratedSites, start: datetime, days: float) -> list[PageHistory]:
    """Generate pages with a version by ``start`` and changes of their own and of their sites.

    The pages' own rates are lognormal. A site publishes at an hour of its own.
    """
    span = (to_epoch(start) - DAYS_BEFORE * DAY_SECONDS, to_epoch(start) + days * DAY_SECONDS)
    return [history for site in range(size.sites) for history in _generate_site(site, size, span)]


def _generate_site(
    site: int, size: GeneratedSites, span: tuple[float, float]
) -> Iterator[PageHistory]:
    rng = np.random.default_rng([size.seed, site])
    start, end = span
    name = f"{SITE_WORDS[site % len(SITE_WORDS)]}{site}"
    all_days = (end - start) / DAY_SECONDS
    publishing_time = rng.uniform(0, DAY_SECONDS)
    event_days = rng.integers(0, max(1, int(all_days)), rng.poisson(all_days / size.event_days))
    events = start + np.unique(event_days) * DAY_SECONDS + publishing_time
    event_shares = rng.uniform(MIN_EVENT_SHARE, MAX_EVENT_SHARE, len(events))
    for page in range(size.pages_per_site):
        rate = 1 / (MEDIAN_DAYS * np.exp(LOG_SPREAD * rng.standard_normal()))
        own_changes = rng.uniform(start, end, rng.poisson(rate * all_days))
        shared_changes = events[rng.random(len(events)) < event_shares]
        times = (start, *np.sort(np.concatenate([own_changes, shared_changes])))
        bodies = (_body(name, page, version) for version in range(len(times)))
        yield PageHistory(
            name,
            f"https://{name}.example/{page % 5}/{page}.html",
            tuple(map(float, times)),
            tuple(map(str, range(len(times)))),
            tuple(bodies),
        )


def _body(site: str, page: int, version: int) -> bytes:
    rng = np.random.default_rng([page, version])
    words = " ".join(rng.choice(SITE_WORDS, 40))
    return (
        f"<html><head><title>{site} {page}</title></head><body><h1>{site}</h1>"
        f"<p>Edition {version} of page {page}.</p><p>{words}</p></body></html>"
    ).encode()
