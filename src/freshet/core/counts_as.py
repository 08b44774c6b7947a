"""What counts as a change of a page."""

import re
from dataclasses import dataclass
from enum import StrEnum

from freshet.core.errors import SettingsError

ALLOWED = "text, words:N with N of 1 or more (such as words:10), significant, links or structure"
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


class Aspect(StrEnum):
    """What of a page must differ for it to count as changed."""

    TEXT = "text"
    WORDS = "words"
    SIGNIFICANT = "significant"
    LINKS = "links"
    STRUCTURE = "structure"


_PLAIN = frozenset(Aspect) - {Aspect.WORDS}


@dataclass(frozen=True, slots=True)
class Criterion:
    """A ``counts_as`` setting, understood; ``words`` is the N of ``words:N``."""

    aspect: Aspect
    words: int = 0


def parse_counts_as(setting: str) -> Criterion:
    """Understand a ``counts_as`` setting.

    >>> parse_counts_as("words:10")
    Criterion(aspect=<Aspect.WORDS: 'words'>, words=10)
    """
    name, colon, number = setting.strip().partition(":")
    if name == Aspect.WORDS and _NUMBER.fullmatch(number):
        return Criterion(Aspect.WORDS, int(number))
    if name in _PLAIN and not colon:
        return Criterion(Aspect(name))
    raise SettingsError(f"counts_as = {setting!r} is not known; use {ALLOWED}")
