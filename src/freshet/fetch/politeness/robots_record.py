"""The state of a host's robots.txt: its rules, or why it is unavailable (RFC 9309)."""

from dataclasses import dataclass

from scrapy.http import Response

from freshet.core.errors import BadInputError
from freshet.crawl.hosts import host_names
from freshet.fetch.politeness.robots_rules import MAX_ROBOTS_BYTES, decode_robots, select_rules
from freshet.view.content_coding import decode_content
from freshet.view.url import page_address

TOO_MANY_REQUESTS = 429
FIRST_RETRY_SECONDS = 300.0
OPEN_AFTER_SECONDS = 30 * 86_400.0
MAX_DECODED_BYTES = 8 * MAX_ROBOTS_BYTES


@dataclass(frozen=True, slots=True)
class RobotsRecord:
    """A host's robots.txt as it was last fetched; times are epoch seconds.

    ``rules`` are the rules for this crawler. ``status`` is None if no answer came. While the file
    is unavailable, ``failing_since`` is set and ``why`` gives the reason. ``unverified`` says that
    the server's certificate was not verified: pages that want verification do not use the record.
    """

    fetched: float
    status: int | None
    rules: str
    expires: float
    failing_since: float | None = None
    why: str = ""
    unverified: bool = False

    @property
    def is_closed(self) -> bool:
        """Whether nothing may be fetched because the rules are unavailable."""
        if self.failing_since is None:
            return False
        return self.fetched - self.failing_since < OPEN_AFTER_SECONDS

    def is_valid(self, now: float, *, allow_unverified: bool = True) -> bool:
        """Whether the record may still be used; a clock that was set back invalidates it."""
        return self.fetched <= now < self.expires and (allow_unverified or not self.unverified)


def robots_record(
    response: Response, token: str, previous: RobotsRecord | None, now: float, lifetime: float
) -> RobotsRecord:
    """Return the record of an answer: its rules, no rules if there is no file, or a failure."""
    status = response.status
    if status < 200 or status >= 500 or status == TOO_MANY_REQUESTS:
        return unavailable_record(status, f"status {status}", previous, now, lifetime)
    if status >= 300:
        return RobotsRecord(now, status, "", now + lifetime)
    codings = (response.headers.get("Content-Encoding") or b"").decode("latin-1")
    try:
        body = decode_content(response.body, codings, MAX_DECODED_BYTES)
    except BadInputError as error:
        return unavailable_record(status, str(error), previous, now, lifetime)
    return RobotsRecord(now, status, select_rules(decode_robots(body), token), now + lifetime)


def unavailable_record(
    status: int | None, why: str, previous: RobotsRecord | None, now: float, lifetime: float
) -> RobotsRecord:
    """Return the record of an unavailable robots.txt; the retry interval grows."""
    since = previous.failing_since if previous else None
    since = now if since is None else min(since, now)
    retry_seconds = min(max(now - since, FIRST_RETRY_SECONDS), lifetime)
    return RobotsRecord(now, status, "", now + retry_seconds, since, why)


def robots_key(url: str) -> str:
    """Return the key of a URL's robots.txt; http and https have separate files.

    >>> robots_key("https://a.example/b"), robots_key("http://a.example/")
    ('a.example', 'a.example:80')
    >>> robots_key("http://a.example:81/")
    'a.example:81'
    """
    host = page_address(url).host
    return host if url.startswith("https:") else host_names(host)[-1]
