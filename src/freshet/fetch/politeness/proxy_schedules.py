"""What answers say that came through a proxy over plain http.

The proxy can write such an answer itself, so it says nothing sure of the host: robots.txt and
back-offs of this kind hold for requests through the same proxy alone, and for this crawl alone.
"""

from freshet.core.settings import PolitenessSettings
from freshet.fetch.politeness.host_schedule import HostSchedule


class ProxySchedules:
    """The hosts as each proxy shows them; delays are kept with those of direct requests."""

    def __init__(self, politeness: PolitenessSettings) -> None:
        self._politeness = politeness
        self._by_proxy: dict[str, HostSchedule] = {}

    def for_proxy(self, proxy: str) -> HostSchedule:
        """Return what is known of hosts through a proxy."""
        if proxy not in self._by_proxy:
            self._by_proxy[proxy] = HostSchedule(self._politeness)
        return self._by_proxy[proxy]

    def forget_unused(self, now: float) -> None:
        """Forget hosts that pages were only sent on to."""
        for hosts in self._by_proxy.values():
            hosts.take_unsaved()
            hosts.forget_unused(now, {})
