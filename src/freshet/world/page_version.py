"""One version of a page of the simulated web: its topic, version number and blocks."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from freshet.core.clock import from_epoch
from freshet.core.content.posts import Post
from freshet.core.types import FloatArray
from freshet.world.vocabulary import TopicWords

OWN_HOST = -1


@dataclass(frozen=True, slots=True)
class PageBlock:
    """A visible piece of a page: a heading, paragraph, item, post or row.

    ``href`` is the link target: a path on ``host``, or on the page's own host for ``OWN_HOST``.
    ``text_after`` follows the link. Tabs separate the cells of a row. ``post`` is the post that the
    block shows, if it shows one.
    """

    role: str
    text: str
    href: str = ""
    text_after: str = ""
    host: int = OWN_HOST
    post: Post | None = None


@dataclass(frozen=True, slots=True)
class PageVersion:
    """A page at a version; its content is drawn from ``page_key``, a 64-bit number."""

    page_key: int
    topic: TopicWords
    path: str
    title: str
    number: int
    change_times: FloatArray
    start: float
    host_count: int = 1

    def rng(self, key: int, subkey: int = 0) -> Random:
        """Return the random generator of a part of the page, given by its key."""
        return Random(self.page_key | (key & 0xFFFFFFFF) << 64 | subkey << 96)

    def change_time(self, change: int) -> datetime:
        """Return the time of a change; changes before the start are a day apart."""
        if change > 0:
            return from_epoch(float(self.change_times[change - 1]))
        return from_epoch(self.start) - timedelta(days=1 - change)

    def change_date(self, change: int) -> str:
        """Return the time of a change as the page prints it."""
        return f"{self.change_time(change):%d %B %Y, %H:%M}"
