"""The language of a text: as it is declared, or as it looks."""

import re

from resiliparse.parse.lang import detect_fast

_LEAST, _MOST = 200, 4_000
_PRIMARY = re.compile(r"\s*([a-zA-Z]{2,3})(?:[-_].*)?\s*")


def detect_language(declared: str, text: str) -> str:
    """Return the primary language tag that is declared, else a guess; empty for too little text.

    >>> detect_language("en-GB", ""), detect_language("", "too short"), detect_language("C", "")
    ('en', '', '')
    """
    known = _PRIMARY.fullmatch(declared)
    if known:
        return known[1].lower()
    if len(text) < _LEAST:
        return ""
    guess = str(detect_fast(text[:_MOST])[0])
    return "" if guess == "unknown" else guess
