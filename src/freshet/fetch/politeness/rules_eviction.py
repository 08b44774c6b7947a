"""Which hosts' rules stay in memory: those used last, up to a number of characters in all."""


class RulesEviction:
    """The sizes of hosts' rules, the least recently used first."""

    def __init__(self, most_chars: int) -> None:
        self._most_chars = most_chars
        self._sizes: dict[str, int] = {}
        self._chars = 0

    def add(self, host: str, chars: int) -> list[str]:
        """Note the size of a host's rules; return the hosts whose rules are one too many now.

        >>> kept = RulesEviction(10)
        >>> kept.add("a", 6), kept.add("b", 4), kept.touch("a"), kept.add("c", 1)
        ([], [], None, ['b'])
        """
        self.drop(host)
        if chars:
            self._sizes[host] = chars
            self._chars += chars
        too_many = []
        while self._chars > self._most_chars and len(self._sizes) > 1:
            oldest = next(iter(self._sizes))
            self.drop(oldest)
            too_many.append(oldest)
        return too_many

    def touch(self, host: str) -> None:
        """Note that a host's rules were used."""
        if host in self._sizes:
            self._sizes[host] = self._sizes.pop(host)

    def drop(self, host: str) -> None:
        """Note that a host's rules are gone."""
        self._chars -= self._sizes.pop(host, 0)
