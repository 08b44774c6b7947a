"""Checks of headers and cookies that are to be sent; each returns what is wrong, or nothing."""

import re
from collections.abc import Mapping

# RFC 9110, section 5.6.2.
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def one_line(value: str) -> str:
    r"""Refuse a text that does not fit on one line.

    >>> one_line("me@example.org"), one_line("a\nb")
    ('', 'must be printable, on one line')
    """
    return "" if value.isprintable() else "must be printable, on one line"


def header_table(value: Mapping[str, str]) -> str:
    """Refuse headers that cannot be sent.

    >>> header_table({"X-Key": "k"}), header_table({"X Key": "k"})[:27]
    ('', "'X Key' is no valid name: l")
    """
    for name, text in value.items():
        if not _TOKEN.fullmatch(name):
            return f"{name!r} is no valid name: letters, digits and !#$%&'*+-.^_`|~ are"
        if problem := one_line(text):
            return f"{name!r} {problem}"
    return ""


def cookie_table(value: Mapping[str, str]) -> str:
    """Refuse cookies that cannot be sent, or would be read as several.

    >>> cookie_table({"session": "a; path=/"})
    "'session' must be without a semicolon"
    """
    cut = next((name for name, text in value.items() if ";" in text), None)
    return header_table(value) if cut is None else f"{cut!r} must be without a semicolon"
