"""The bursts of one page: visits minutes apart."""

from itertools import groupby
from typing import NamedTuple

from freshet.archive.catalog.catalog import Catalog
from freshet.core.bursts import BurstKind


class PageBurst(NamedTuple):
    """One burst of a page: its visits in time order.

    The visits of an instant burst are ``is_spaced`` if they could not be made at once.
    """

    kind: BurstKind
    visits: list[int]
    is_spaced: bool


def page_bursts(catalog: Catalog, page_id: int) -> list[PageBurst]:
    """Return a page's bursts in time order, also those that are not complete."""
    bursts = []
    for _, group in groupby(catalog.burst_samples(page_id), key=lambda sample: sample.first):
        samples = list(group)
        is_spaced = any(sample.apart for sample in samples)
        bursts.append(PageBurst(samples[0].kind, [sample.visit for sample in samples], is_spaced))
    return bursts
