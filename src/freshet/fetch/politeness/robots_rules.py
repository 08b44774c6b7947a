"""The rules of a robots.txt for one crawler: parsed by RFC 9309, matched by Protego."""

import codecs
import re
from collections.abc import Iterator

from protego import Protego

MAX_ROBOTS_BYTES = 500 * 1024
# Parsed rules take up to forty times as much memory as their text.
MAX_PARSED_CHARS = 2_000_000

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# With common misspellings; the colon is optional.
_LINE = re.compile(
    r"\s*(?:(?P<agent>user[- ]?agent)|(?P<allow>allow)|(?P<delay>crawl[- ]delay)"
    r"|(?P<disallow>dis+al+ow|diasllow|disallaw))\s*(?::|\s)(?P<value>[^#]*)",
    re.IGNORECASE,
)
_NAMES = {"agent": "User-agent", "allow": "Allow", "delay": "Crawl-delay", "disallow": "Disallow"}
_EVERYONE = "User-agent: *"


def decode_robots(body: bytes) -> str:
    r"""Decode a robots.txt, cut after the last whole line within the limit.

    >>> decode_robots(b"\xff\xfeA\x00l\x00l\x00")
    'All'
    """
    if len(body) > MAX_ROBOTS_BYTES:
        body = body[:MAX_ROBOTS_BYTES].rpartition(b"\n")[0]
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return body.removeprefix(mark).decode(encoding, "replace")
    return body.decode("utf-8", "replace")


def select_rules(text: str, token: str) -> str:
    r"""Return the rules of the groups that name a product token, else those for all crawlers.

    >>> select_rules("User-agent: a\nUser-agent: Freshet/2\nDisallow: /x\nUser-agent: *", "Freshet")
    'User-agent: *\nDisallow: /x'
    """
    general_rules: list[str] = []
    own_rules: list[str] = []
    is_named = False
    groups: list[list[str]] = []
    is_head = False
    for name, value in _lines(text):
        if name != "agent":
            is_head = False
            for group in groups:
                group.append(f"{_NAMES[name]}: {value}")
            continue
        groups = groups if is_head else []
        is_head = True
        if _names(value, token):
            is_named = True
            groups.append(own_rules)
        elif value == "*" or value.startswith("* "):
            groups.append(general_rules)
    return "\n".join([_EVERYONE, *dict.fromkeys(own_rules if is_named else general_rules)])


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the value of each line that is a rule or names a crawler."""
    for line in text.splitlines():
        match = _LINE.match(line)
        if match:
            kind = next(kind for kind in _NAMES if match[kind])
            yield kind, match["value"].strip()


def _names(value: str, token: str) -> bool:
    """Whether a line names a crawler; a version or remark may follow."""
    suffix = value[len(token) :]
    is_longer = suffix[:1].isalnum() or suffix[:1] in ("-", "_")
    return value[: len(token)].lower() == token.lower() and not is_longer


class ParsedRules:
    """A cache of parsed rules, bounded by their length."""

    def __init__(self) -> None:
        self._parsed: dict[str, Protego] = {}
        self._chars = 0

    def allows(self, rules: str, url: str) -> bool:
        """Whether rules let a URL be fetched.

        >>> ParsedRules().allows("User-agent: *\\nDisallow: /a", "https://example.org/ab")
        False
        """
        return self._of(rules).can_fetch(url, "*")

    def delay(self, rules: str) -> float | None:
        """Return the Crawl-delay of rules in seconds, None if there is none."""
        return self._of(rules).crawl_delay("*")

    def _of(self, rules: str) -> Protego:
        parsed = self._parsed.pop(rules, None)
        if parsed is None:
            parsed = Protego.parse(rules)
            self._chars += len(rules)
        self._parsed[rules] = parsed
        while self._chars > MAX_PARSED_CHARS and len(self._parsed) > 1:
            oldest = next(iter(self._parsed))
            del self._parsed[oldest]
            self._chars -= len(oldest)
        return parsed
