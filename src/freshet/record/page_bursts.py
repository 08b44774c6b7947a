"""The rounds of one page: visits that lie minutes apart, in time order."""

from itertools import groupby
from typing import NamedTuple

from freshet.archive.catalog.catalog import Catalog
from freshet.core.bursts import RoundKind, Sample


class PageRound(NamedTuple):
    """One round of a page: its visits in time order; an instant one may have them apart."""

    kind: RoundKind
    visits: list[int]
    apart: bool


def rounds_of(catalog: Catalog, page_id: int) -> list[PageRound]:
    """Return a page's rounds as far as they were taken, the first one first."""
    by_round = groupby(catalog.samples(page_id), key=lambda sample: sample.first)
    return [_round(list(samples)) for _, samples in by_round]


def _round(samples: list[Sample]) -> PageRound:
    apart = any(sample.apart for sample in samples)
    return PageRound(samples[0].kind, [sample.visit for sample in samples], apart)
