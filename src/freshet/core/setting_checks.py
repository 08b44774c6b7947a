"""Checks of headers and cookies that are to be sent; each returns what is wrong, or nothing."""

import re
from collections.abc import Mapping

# RFC 9110, section 5.6.2.
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def check_one_line(value: str) -> str:
    r"""Refuse a text that does not fit on one line.

    >>> check_one_line("me@example.org"), check_one_line("a\nb")
    ('', 'must be printable, on one line')
    """
    return "" if value.isprintable() else "must be printable, on one line"


def check_headers(value: Mapping[str, str]) -> str:
    """Refuse headers that cannot be sent.

    >>> check_headers({"X-Key": "k"}), check_headers({"X Key": "k"})[:27]
    ('', "'X Key' is no valid name: l")
    """
    for name, text in value.items():
        if not _TOKEN.fullmatch(name):
            return f"{name!r} is no valid name: letters, digits and !#$%&'*+-.^_`|~ are"
        if problem := check_one_line(text):
            return f"{name!r} {problem}"
    return ""


def check_cookies(value: Mapping[str, str]) -> str:
    """Refuse cookies that cannot be sent, or would be read as several.

    >>> check_cookies({"session": "a; path=/"})
    "'session' must be without a semicolon"
    """
    cut = next((name for name, text in value.items() if ";" in text), None)
    return check_headers(value) if cut is None else f"{cut!r} must be without a semicolon"
