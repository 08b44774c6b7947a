"""Decides which hosts' rules stay in memory: the most recently used, up to a total length."""


class RulesEviction:
    """The lengths of hosts' rules, the least recently used first."""

    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars
        self._sizes: dict[str, int] = {}
        self._chars = 0

    def add(self, host: str, chars: int) -> list[str]:
        """Add the length of a host's rules; return the hosts whose rules must be dropped.

        >>> rules = RulesEviction(10)
        >>> rules.add("a", 6), rules.add("b", 4), rules.touch("a"), rules.add("c", 1)
        ([], [], None, ['b'])
        """
        self.drop(host)
        if chars:
            self._sizes[host] = chars
            self._chars += chars
        evicted_hosts = []
        while self._chars > self._max_chars and len(self._sizes) > 1:
            oldest = next(iter(self._sizes))
            self.drop(oldest)
            evicted_hosts.append(oldest)
        return evicted_hosts

    def touch(self, host: str) -> None:
        """Mark a host's rules as used."""
        if host in self._sizes:
            self._sizes[host] = self._sizes.pop(host)

    def drop(self, host: str) -> None:
        """Remove a host's rules."""
        self._chars -= self._sizes.pop(host, 0)
