"""The setting ``counts_as``: what counts as a change of a page."""

import re
from dataclasses import dataclass
from enum import StrEnum

from freshet.core.errors import SettingsError
from freshet.core.own_classes import is_own_class

COUNTS_AS_FORMS = (
    "text, words:N with N of 1 or more (such as words:10), significant, links, structure,"
    " or a measure of your own (module:Class)"
)
_WORD_COUNT = re.compile(r"[1-9][0-9]{0,8}")


class ChangeAspect(StrEnum):
    """The aspect of a page that must differ for the page to count as changed."""

    TEXT = "text"
    WORDS = "words"
    SIGNIFICANT = "significant"
    LINKS = "links"
    STRUCTURE = "structure"


@dataclass(frozen=True, slots=True)
class CountsAsRule:
    """A parsed ``counts_as`` setting; ``words`` is the N of ``words:N``.

    ``own_measure`` names a class that decides whether a text that differs counts.
    """

    aspect: ChangeAspect
    words: int = 0
    own_measure: str = ""


def parse_counts_as(setting: str) -> CountsAsRule:
    """Parse a ``counts_as`` setting.

    >>> parse_counts_as("words:10")
    CountsAsRule(aspect=<ChangeAspect.WORDS: 'words'>, words=10, own_measure='')
    """
    name, colon, number = setting.strip().partition(":")
    if name == ChangeAspect.WORDS and _WORD_COUNT.fullmatch(number):
        return CountsAsRule(ChangeAspect.WORDS, int(number))
    if name in frozenset(ChangeAspect) - {ChangeAspect.WORDS} and not colon:
        return CountsAsRule(ChangeAspect(name))
    if name != ChangeAspect.WORDS and is_own_class(setting.strip(), "freshet.measures"):
        return CountsAsRule(ChangeAspect.TEXT, own_measure=setting.strip())
    raise SettingsError(f"counts_as = {setting!r} is not known; use {COUNTS_AS_FORMS}")
