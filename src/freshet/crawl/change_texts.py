"""Says how often a page changes, by itself and together with its site."""

from collections.abc import Sequence
from datetime import datetime

from freshet.core.clock import from_epoch
from freshet.core.humanize import (
    MIN_INTERVAL_DAYS,
    change_interval_text,
    count_text,
    duration_text,
    percent_text,
    quantity_text,
)
from freshet.core.local_time import format_recent
from freshet.core.tables import PolicyExplanation, SharedEventReport
from freshet.schedule.hosts.kernels.publication_times import DAY_HOURS

# Shared events are worth a line if they come more often than every 10 days.
FREQUENT_EVENT_RATE = 0.1
# Chances of a change that differ by less than this are not told apart.
SAME_CHANCE = 0.1
COUNTS_LESS = "such changes count less for the page's own rate"


def regular_interval_text(rate: float) -> str:
    """Say how often a regular page changes, given its changes a day.

    >>> regular_interval_text(1.0)
    'about every day, regularly'
    """
    return f"{change_interval_text(1 / rate)}, regularly"


def page_changes_text(explanation: PolicyExplanation) -> str:
    """Say how often a page changes by its own looks; empty if the policy has no such figure."""
    if explanation.change_days is None:
        return ""
    if not explanation.looks:
        return "not known yet"
    if not explanation.changes:
        return f"no change seen in {count_text(explanation.looks, 'compared look')}"
    if explanation.is_regular and explanation.rate:
        often = regular_interval_text(explanation.rate)
    else:
        often = change_interval_text(explanation.change_days)
    by_itself = " by itself" if has_frequent_events(explanation) else ""
    return f"{often}{by_itself}{_interval_bounds(explanation)}"


def has_frequent_events(explanation: PolicyExplanation) -> bool:
    """Whether shared events of the page's host are frequent enough to be named."""
    return (explanation.event_rate or 0.0) > FREQUENT_EVENT_RATE


def _interval_bounds(explanation: PolicyExplanation) -> str:
    if not explanation.rate_low or not explanation.rate_high:
        return ""
    if change_interval_text(1 / explanation.rate_high).endswith("or less"):
        return f" (90 %: {duration_text(max(1 / explanation.rate_low, MIN_INTERVAL_DAYS))} or less)"
    shortest = duration_text(1 / explanation.rate_high)
    longest = duration_text(1 / explanation.rate_low)
    return f" (90 %: {shortest} to {longest})"


def shared_event_text(event: SharedEventReport, now: datetime) -> str:
    """Say how many pages of a site a shared event has changed."""
    pages = "page" if event.looked == 1 else "pages"
    since = format_recent(from_epoch(event.since), now)
    return (
        f"{event.changed:,} of {event.looked:,} {pages} of this site looked at since {since} "
        "had changed"
    )


def site_changes_text(event_rate: float, hours: Sequence[int] = ()) -> str:
    """Say how often many pages of a site change together, given the shared events a day.

    >>> site_changes_text(0.5), site_changes_text(1.0, [23, 0])
    ('many pages of this site change together about every 2 days', \
'many pages of this site change together about every day, mostly from 23:00 to 1:00 UTC')
    """
    often = f"many pages of this site change together {change_interval_text(1 / event_rate)}"
    return f"{often}, mostly from {_hours_text(hours)}" if hours else often


def quiet_site_text(looks: int, host_looks: int, host_changes: int) -> str:
    """Say that no page of a site was ever found changed; empty if one was, or only this is known.

    >>> quiet_site_text(99, 1_980, 0), quiet_site_text(99, 1_980, 1), quiet_site_text(99, 99, 0)
    ('no change seen at any page of this site in 1,980 compared looks', '', '')
    """
    if host_changes or host_looks <= looks:
        return ""
    return f"no change seen at any page of this site in {count_text(host_looks, 'compared look')}"


def link_rate_text(rate: float) -> str:
    """Say how often new links appear on a page, given their number a day.

    >>> link_rate_text(4.25), link_rate_text(0.1), link_rate_text(1_440)
    ('about 4.2 a day', 'one about every 10 days', 'about 1,440 a day')
    """
    if rate >= 1:
        return f"about {quantity_text(rate)} a day"
    return f"one {change_interval_text(1 / rate)}" if rate > 0 else "none"


def publication_hours_text(hours: Sequence[int]) -> str:
    """Say at which hours of the day (UTC) the pages of a site mostly change.

    >>> publication_hours_text([12, 13]), publication_hours_text([0, 6, 23])
    ('pages of this site mostly change from 12:00 to 14:00 UTC', \
'pages of this site mostly change from 6:00 to 7:00 and 23:00 to 1:00 UTC')
    """
    return f"pages of this site mostly change from {_hours_text(hours)}"


def _hours_text(hours: Sequence[int]) -> str:
    """Say which hours of the day (UTC) these are.

    >>> _hours_text(range(24))
    '0:00 to 0:00 UTC'
    """
    starts = [hour for hour in hours if (hour - 1) % DAY_HOURS not in hours] or [hours[0]]
    spans = []
    for start in sorted(starts):
        length = next(
            length
            for length in range(1, DAY_HOURS + 1)
            if (start + length) % DAY_HOURS not in hours or length == DAY_HOURS
        )
        spans.append(f"{start}:00 to {(start + length) % DAY_HOURS}:00")
    return f"{' and '.join(spans)} UTC"


def unseen_event_text(event: SharedEventReport) -> str:
    """Say how likely a shared event has changed the page, and that it is no change of its own."""
    if event.is_seen:
        return f"this page has been looked at since; {COUNTS_LESS}"
    return f"{percent_text(event.chance)} likely; {COUNTS_LESS}"
