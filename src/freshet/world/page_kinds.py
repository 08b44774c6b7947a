"""Kinds of pages: change process, content, noise and troubles.

Add an entry to PAGE_KINDS for a new kind.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from freshet.world.change_processes import (
    ChangeProcess,
    bursty_changes,
    no_changes,
    regular_changes,
    rhythmic_changes,
)
from freshet.world.content import (
    ContentWriter,
    articles,
    chapters,
    goods,
    stories,
    table,
    thread,
)

PageTrouble = Literal["gone", "captcha", "down", "redesigned"]
PageMedium = Literal["html", "feed", "script"]


@dataclass(frozen=True, slots=True)
class TroubleSpell:
    """A trouble that lasts from one share of the world's time to another."""

    trouble: PageTrouble
    begins: float
    ends: float


@dataclass(frozen=True, slots=True)
class PageKind:
    """Properties of all pages of a kind.

    Each event of the directory's process (``directory_changes``) changes a page with
    ``join_probability``. A feed changes with the page that it follows and lists its links.
    """

    own_changes: ChangeProcess
    write_content: ContentWriter
    size: int
    noise: tuple[str, ...] = ()
    has_token: bool = False
    directory_changes: ChangeProcess = no_changes
    join_probability: float = 0.0
    spells: tuple[TroubleSpell, ...] = ()
    medium: PageMedium = "html"


_MONTHLY = rhythmic_changes(1 / 30, night=0.05, weekend=0.2)
_WEEKLY = regular_changes(7, hour=17, jitter_hours=3, missed=0.1)

PAGE_KINDS: Mapping[str, PageKind] = {
    "news": PageKind(rhythmic_changes(10, night=0.05, weekend=0.4), stories, 14),
    "section": PageKind(rhythmic_changes(2.5, night=0.05, weekend=0.5), stories, 10),
    "feed": PageKind(no_changes, stories, 0, medium="feed"),
    "blog": PageKind(_WEEKLY, articles, 5),
    "thread": PageKind(
        bursty_changes(1.5, branching=0.75, delay_hours=2), thread, 25, has_token=True
    ),
    "docs": PageKind(
        _MONTHLY,
        chapters,
        14,
        directory_changes=rhythmic_changes(1 / 12, weekend=0.1),
        join_probability=0.8,
    ),
    "shop": PageKind(rhythmic_changes(1.2, night=0.1), goods, 30, has_token=True),
    "table": PageKind(
        no_changes,
        table,
        18,
        directory_changes=regular_changes(1, hour=22, jitter_hours=0.5, missed=0.25),
        join_probability=0.95,
    ),
    "status": PageKind(no_changes, chapters, 4, noise=("stamp",)),
    "adverts": PageKind(no_changes, chapters, 8, noise=("advert-above", "advert-between")),
    "redesigned": PageKind(_WEEKLY, chapters, 12, spells=(TroubleSpell("redesigned", 0.45, 1.0),)),
    "returning": PageKind(
        rhythmic_changes(0.25, night=0.2), chapters, 9, spells=(TroubleSpell("gone", 0.35, 0.5),)
    ),
    "guarded": PageKind(_WEEKLY, articles, 4, spells=(TroubleSpell("captcha", 0.55, 0.68),)),
    "static": PageKind(no_changes, chapters, 7),
    "script": PageKind(no_changes, chapters, 1, medium="script"),
}
