"""The rounds of one page: visits that lie minutes apart, in time order."""

from itertools import groupby
from typing import NamedTuple

from freshet.archive.catalog.catalog import Catalog
from freshet.core.bursts import BurstKind, BurstSample


class PageBurst(NamedTuple):
    """One round of a page: its visits in time order; an instant one may have them apart."""

    kind: BurstKind
    visits: list[int]
    is_spaced: bool


def page_bursts(catalog: Catalog, page_id: int) -> list[PageBurst]:
    """Return a page's rounds as far as they were taken, the first one first."""
    by_round = groupby(catalog.burst_samples(page_id), key=lambda sample: sample.first)
    return [_round(list(samples)) for _, samples in by_round]


def _round(samples: list[BurstSample]) -> PageBurst:
    apart = any(sample.apart for sample in samples)
    return PageBurst(samples[0].kind, [sample.visit for sample in samples], apart)
