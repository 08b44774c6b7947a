"""What a page of the living web is at a moment: whose words it uses, its version, its blocks."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from freshet.core.clock import from_epoch
from freshet.core.types import Floats
from freshet.world.vocabulary import Topic

NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a page as its visitors read it: a heading, paragraph, item, post or row.

    ``href`` is where the text links to: a path on ``host``, the page's own where that is
    ``NOWHERE``. ``more`` follows the link. A tab in the text of a row stands between its cells.
    """

    role: str
    text: str
    href: str = ""
    more: str = ""
    host: int = NOWHERE


@dataclass(frozen=True, slots=True)
class Scene:
    """A page at a version; everything that it shows is drawn from its subject, a 64-bit key."""

    subject: int
    topic: Topic
    path: str
    title: str
    version: int
    times: Floats
    start: float
    hosts: int = 1

    def rng(self, part: int, of: int = 0) -> Random:
        """Return the chance by which one part of the page was made."""
        return Random(self.subject | (part & 0xFFFFFFFF) << 64 | of << 96)

    def when(self, change: int) -> datetime:
        """Return when a change came; those before the world's start are a day apart."""
        if change > 0:
            return from_epoch(float(self.times[change - 1]))
        return from_epoch(self.start) - timedelta(days=1 - change)

    def date(self, change: int) -> str:
        """Return when a change came, as a page would say it."""
        return f"{self.when(change):%d %B %Y, %H:%M}"
