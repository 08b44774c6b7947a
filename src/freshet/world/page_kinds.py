"""The kinds of pages: when each changes, what it shows, what about it is noise, what befalls it.

A new kind is one entry here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from freshet.world.change_processes import Times, bursts, never, regular, rhythmic
from freshet.world.content import (
    Show,
    articles,
    chapters,
    goods,
    stories,
    table,
    thread,
)

Trouble = Literal["gone", "captcha", "down", "redesigned"]
Medium = Literal["html", "feed", "script"]


@dataclass(frozen=True, slots=True)
class Spell:
    """A trouble that lasts from one share of the world's time to another."""

    trouble: Trouble
    begins: float
    ends: float


@dataclass(frozen=True, slots=True)
class Kind:
    """What pages of a kind have in common.

    ``turnover`` is after how many changes nothing that can change is left of what a page showed:
    its size, unless given. Events that its directory shares (``shared``) change a page with
    probability ``joins`` each. A feed changes with the page that it follows, and tells its links.
    """

    times: Times
    show: Show
    size: int
    turnover: int = 0
    noise: tuple[str, ...] = ()
    token: bool = False
    shared: Times = never
    joins: float = 0.0
    spells: tuple[Spell, ...] = ()
    medium: Medium = "html"


_MONTHLY = rhythmic(1 / 30, night=0.05, weekend=0.2)
_WEEKLY = regular(7, hour=17, jitter_hours=3, missed=0.1)

KINDS: Mapping[str, Kind] = {
    "news": Kind(rhythmic(10, night=0.05, weekend=0.4), stories, 14),
    "section": Kind(rhythmic(2.5, night=0.05, weekend=0.5), stories, 10),
    "feed": Kind(never, stories, 0, medium="feed"),
    "blog": Kind(_WEEKLY, articles, 5),
    "thread": Kind(bursts(1.5, branching=0.75, delay_hours=2), thread, 25, token=True),
    "docs": Kind(_MONTHLY, chapters, 14, shared=rhythmic(1 / 12, weekend=0.1), joins=0.8),
    "shop": Kind(rhythmic(1.2, night=0.1), goods, 30, turnover=90, token=True),
    "table": Kind(
        never,
        table,
        18,
        turnover=3,
        shared=regular(1, hour=22, jitter_hours=0.5, missed=0.25),
        joins=0.95,
    ),
    "status": Kind(never, chapters, 4, noise=("stamp",)),
    "adverts": Kind(never, chapters, 8, noise=("advert-above", "advert-between")),
    "redesigned": Kind(_WEEKLY, chapters, 12, spells=(Spell("redesigned", 0.45, 1.0),)),
    "returning": Kind(rhythmic(0.25, night=0.2), chapters, 9, spells=(Spell("gone", 0.35, 0.5),)),
    "guarded": Kind(_WEEKLY, articles, 4, spells=(Spell("captcha", 0.55, 0.68),)),
    "static": Kind(never, chapters, 7),
    "script": Kind(never, chapters, 1, medium="script"),
}
