"""Runs a policy through what a long crawl of a large site asks of it, to compile all of it.

Some compiled loops are reached only after days: those for the events of a host with thousands of
pages, for looks that are no longer stored, for hours of publication, or for pages that come and go.
"""

from datetime import datetime

import numpy as np

from freshet.core.clock import to_epoch
from freshet.core.policy import CorrectablePolicy, Policy
from freshet.core.settings import Settings
from freshet.core.tables import DAY_SECONDS, HostCaps, PageIdArray, PageTable, VisitTable
from freshet.crawl.live_policy import configured_policy
from freshet.schedule.policies import make_policy
from freshet.schedule.value_threshold import MIN_BOUNDED_PAGES

# Enough pages of one host for bounds of their values, and a few pages on other hosts.
LARGE_HOST_PAGES, OTHER_PAGES = MIN_BOUNDED_PAGES + 4, 8
LARGE_HOST, OTHER_HOST = 7, 3
EVENT_LOOKS, LOOKS_ALONE = 100, 2


def rehearse_policy(settings: Settings, now: datetime) -> None:
    """Let the configured policy learn, choose, forget and restart with made-up pages."""
    policy = make_policy(configured_policy(settings), live=True)
    ids = np.arange(1, LARGE_HOST_PAGES + OTHER_PAGES + 1)
    policy.add(_pages(ids))
    for days in (3.0, 2.5, 2.0, 1.5, 1.0):
        _learn(policy, ids, now, days)
        policy.release(_choose(policy, now, 1))
    _choose_after_an_event(policy, ids, now)
    named = np.array([LARGE_HOST, OTHER_HOST], np.uint64)
    caps = HostCaps(named, np.array([1, 0]), excluded_pages=ids[:1])
    policy.release(policy.choose(now, OTHER_PAGES, caps).pages)
    policy.release(_choose(policy, now, len(ids)))
    if isinstance(policy, CorrectablePolicy):
        policy.change_chances(ids, np.full(len(ids), to_epoch(now)))
        policy.set_value_factors(ids, np.full(len(ids), 0.5))
        policy.reset_value_factors()
    policy.explain(int(ids[0]), now)
    policy.next_time(now)
    _forget_and_restart(policy, ids, now)


def _choose_after_an_event(policy: Policy, ids: PageIdArray, now: datetime) -> None:
    """Learn changes of one host within the hour of the last choice, all at once and one by one."""
    for start in range(0, 3 * EVENT_LOOKS, EVENT_LOOKS):
        _learn(policy, ids[start : start + EVENT_LOOKS], now, 0.0)
        chosen = _choose(policy, now, LOOKS_ALONE)
        for page in chosen:
            _learn(policy, np.array([page]), now, 0.0)
        policy.release(_choose(policy, now, EVENT_LOOKS))


def _forget_and_restart(policy: Policy, ids: PageIdArray, now: datetime) -> None:
    """Forget pages, add them again behind the others, and continue from the state."""
    policy.forget(ids[:2])
    policy.forget(ids[-2:])
    policy.add(_pages(ids))
    _learn(policy, ids, now, 0.0)
    policy.release(_choose(policy, now, 1))
    policy.restore(policy.state())
    policy.release(_choose(policy, now, 1))


def _choose(policy: Policy, now: datetime, k: int) -> PageIdArray:
    """Return the ids of pages that a policy chooses."""
    return policy.choose(now, k, HostCaps()).pages


def _learn(policy: Policy, ids: PageIdArray, now: datetime, days_ago: float) -> None:
    """Let a policy learn looks that found a change."""
    times, flags = np.full(len(ids), to_epoch(now) - days_ago * DAY_SECONDS), ids > 0
    policy.learn(VisitTable(ids, times, flags, flags, flags, np.full(len(ids), -1, np.int32)))


def _pages(ids: PageIdArray) -> PageTable:
    """Return pages of one large host and of other ones, whose hashes are in no order."""
    hosts = np.where(ids <= LARGE_HOST_PAGES, LARGE_HOST, OTHER_HOST).astype(np.uint64)
    return PageTable(ids, hosts, hosts, hosts, np.ones(len(ids)), np.full(len(ids), np.nan))
