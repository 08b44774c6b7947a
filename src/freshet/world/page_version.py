"""What a page of the living web is at a moment: whose words it uses, its version, its blocks."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from freshet.core.clock import from_epoch
from freshet.core.types import FloatArray
from freshet.world.vocabulary import TopicWords

OWN_HOST = -1


@dataclass(frozen=True, slots=True)
class PageBlock:
    """A piece of a page as its visitors read it: a heading, paragraph, item, post or row.

    ``href`` is where the text links to: a path on ``host``, the page's own where that is
    ``OWN_HOST``. ``text_after`` follows the link. A tab in the text of a row stands between its cells.
    """

    role: str
    text: str
    href: str = ""
    text_after: str = ""
    host: int = OWN_HOST


@dataclass(frozen=True, slots=True)
class PageVersion:
    """A page at a version; everything that it shows is drawn from its subject, a 64-bit key."""

    page_key: int
    topic: TopicWords
    path: str
    title: str
    version: int
    change_times: FloatArray
    start: float
    host_count: int = 1

    def rng(self, part: int, of: int = 0) -> Random:
        """Return the chance by which one part of the page was made."""
        return Random(self.page_key | (part & 0xFFFFFFFF) << 64 | of << 96)

    def change_time(self, change: int) -> datetime:
        """Return when a change came; those before the world's start are a day apart."""
        if change > 0:
            return from_epoch(float(self.change_times[change - 1]))
        return from_epoch(self.start) - timedelta(days=1 - change)

    def change_date(self, change: int) -> str:
        """Return when a change came, as a page would say it."""
        return f"{self.change_time(change):%d %B %Y, %H:%M}"
