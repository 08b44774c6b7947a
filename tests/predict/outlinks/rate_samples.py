"""Examples for estimators of new links: rates differ by site and by page."""

from typing import NamedTuple

import numpy as np

from freshet.core.types import FloatArray, IndexArray

NAMES = ("own_hits_all", "own_links_all", "own_intervals_all", "site_rate", "noise")


class RateSample(NamedTuple):
    rows: FloatArray
    counts: FloatArray
    sites: IndexArray


def rate_sample(size: int = 600, *, seed: int = 0, history: int = 8) -> RateSample:
    rng = np.random.default_rng(seed)
    sites = rng.integers(0, 40, size).astype(np.int32)
    site_rates = rng.gamma(0.8, 0.5, 40)
    rates = site_rates[sites] * rng.gamma(1.0, 1.0, size)
    past = rng.poisson(rates[:, None], (size, history))
    rows = np.column_stack([
        (past > 0).sum(axis=1),
        past.sum(axis=1),
        np.full(size, history),
        site_rates[sites] + rng.normal(0, 0.1, size),
        rng.normal(size=size),
    ])
    return RateSample(rows, rng.poisson(rates).astype(float), sites)
