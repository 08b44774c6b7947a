"""What counts as a change of a page."""

import re
from dataclasses import dataclass
from enum import StrEnum

from freshet.core.errors import SettingsError

COUNTS_AS_FORMS = (
    "text, words:N with N of 1 or more (such as words:10), significant, links or structure"
)
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


class ChangeAspect(StrEnum):
    """What of a page must differ for it to count as changed."""

    TEXT = "text"
    WORDS = "words"
    SIGNIFICANT = "significant"
    LINKS = "links"
    STRUCTURE = "structure"


_PLAIN = frozenset(ChangeAspect) - {ChangeAspect.WORDS}


@dataclass(frozen=True, slots=True)
class CountsAsRule:
    """A ``counts_as`` setting, understood; ``words`` is the N of ``words:N``."""

    aspect: ChangeAspect
    words: int = 0


def parse_counts_as(setting: str) -> CountsAsRule:
    """Understand a ``counts_as`` setting.

    >>> parse_counts_as("words:10")
    CountsAsRule(aspect=<ChangeAspect.WORDS: 'words'>, words=10)
    """
    name, colon, number = setting.strip().partition(":")
    if name == ChangeAspect.WORDS and _NUMBER.fullmatch(number):
        return CountsAsRule(ChangeAspect.WORDS, int(number))
    if name in _PLAIN and not colon:
        return CountsAsRule(ChangeAspect(name))
    raise SettingsError(f"counts_as = {setting!r} is not known; use {COUNTS_AS_FORMS}")
