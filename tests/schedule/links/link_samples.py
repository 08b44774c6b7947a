"""Pages and looks with new links for the tests of link policies."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from freshet.core.clock import to_epoch
from freshet.core.tables import PageTable, VisitTable
from freshet.schedule.cadence import CONTINUOUS_CADENCE
from freshet.schedule.links.link_policy import LinkPolicy

START = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def pages(hosts: Sequence[int]) -> PageTable:
    """Return a page for every host given."""
    keys = np.array(hosts, np.uint64)
    count = len(keys)
    return PageTable(
        np.arange(count), keys, keys, keys, np.ones(count), np.full(count, np.nan)
    )  # fmt: skip


def look(page_ids: Sequence[int], day: float, links: Sequence[int]) -> VisitTable:
    """Return looks at pages that found so many new links; -1: not known."""
    count = len(page_ids)
    return VisitTable(
        np.array(page_ids, np.int64),
        np.full(count, to_epoch(START + day * DAY)),
        np.ones(count, np.bool_),
        np.ones(count, np.bool_),
        np.array(links) > 0,
        np.array(links, np.int32),
    )


def link_policy(hosts: Sequence[int]) -> LinkPolicy:
    """Return a live policy with a page for every host given."""
    policy = LinkPolicy("bayes-links", cadence=CONTINUOUS_CADENCE)
    policy.add(pages(hosts))
    return policy
