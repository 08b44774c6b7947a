"""Host schedules for answers that came through a proxy over plain http.

The proxy can write such an answer itself. So robots.txt and back-offs from these answers apply only
to requests through the same proxy, and only in this crawl.
"""

from freshet.core.settings import PolitenessSettings
from freshet.fetch.politeness.host_schedule import HostSchedule


class ProxySchedules:
    """One host schedule for each proxy; delays are part of the schedule of direct requests."""

    def __init__(self, politeness: PolitenessSettings) -> None:
        self._politeness = politeness
        self._by_proxy: dict[str, HostSchedule] = {}

    def for_proxy(self, proxy: str) -> HostSchedule:
        """Return the host schedule of a proxy."""
        if proxy not in self._by_proxy:
            self._by_proxy[proxy] = HostSchedule(self._politeness)
        return self._by_proxy[proxy]

    def forget_unused(self, now: float) -> None:
        """Forget unused hosts without pages."""
        for hosts in self._by_proxy.values():
            hosts.take_unsaved()
            hosts.forget_unused(now, {})
