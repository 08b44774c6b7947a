"""The language of a text: the declared one, or a guess."""

import re

from resiliparse.parse.lang import detect_fast

_MIN_CHARS, _MAX_CHARS = 200, 4_000
_PRIMARY_TAG = re.compile(r"\s*([a-zA-Z]{2,3})(?:[-_].*)?\s*")


def detect_language(declared: str, text: str) -> str:
    """Return the declared primary language tag, else a guess; empty if the text is too short.

    >>> detect_language("en-GB", ""), detect_language("", "too short"), detect_language("C", "")
    ('en', '', '')
    """
    match = _PRIMARY_TAG.fullmatch(declared)
    if match:
        return match[1].lower()
    if len(text) < _MIN_CHARS:
        return ""
    guess = str(detect_fast(text[:_MAX_CHARS])[0])
    return "" if guess == "unknown" else guess
