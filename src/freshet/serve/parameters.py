"""Parameters of requests: declared once, checked when parsed, described in the API document."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from freshet.core.errors import UsageError

MAX_TEXT_CHARS = 2_000
MAX_NUMBER = (1 << 53) - 1

ParameterValues = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """A parameter of the query: a text, a number, or one of some choices."""

    name: str
    meaning: str
    default: str | int = ""
    choices: tuple[str, ...] = ()
    low: int = 0
    high: int = MAX_NUMBER

    def parse(self, text: str) -> str | int:
        """Return the value of a text; UsageError if it has none."""
        if self.choices and text not in self.choices:
            raise UsageError(f"{self.name} is {text!r:.40}; choose {', '.join(self.choices)}")
        if not isinstance(self.default, int):
            if len(text) > MAX_TEXT_CHARS or not _is_storable(text):
                raise UsageError(f"{self.name} is not a text of up to {MAX_TEXT_CHARS:,} letters")
            return text
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) < 17):
            raise UsageError(f"{self.name} is {text!r:.40}; write a whole number")
        if not self.low <= int(text) <= self.high:
            raise UsageError(f"{self.name} is {text}; write {self.low} to {self.high}")
        return int(text)

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the parameter."""
        if isinstance(self.default, int):
            limits = {"minimum": self.low, "maximum": self.high}
            return {"type": "integer", "default": self.default, **limits}
        if self.choices:
            return {"type": "string", "enum": list(self.choices), "default": self.default}
        return {"type": "string", "maxLength": MAX_TEXT_CHARS}


def parse_query(
    parameters: Sequence[QueryParameter], query: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """Return the values of a query by name; unknown and repeated parameters are refused."""
    known = {parameter.name: parameter for parameter in parameters}
    values: dict[str, Any] = {}
    for name, text in query:
        if name not in known:
            names = ", ".join(known) or "none"
            raise UsageError(f"there is no parameter {name!r:.40}; this address has: {names}")
        if name in values:
            raise UsageError(f"{name} is given twice")
        is_number = isinstance(known[name].default, int)
        values[name] = known[name].parse(text) if text or is_number else known[name].default
    return {name: parameter.default for name, parameter in known.items()} | values


def encode_cursor(order: str, key: Sequence[Any]) -> str:
    """Return the key of a list's last row as a text for addresses.

    >>> decode_cursor(encode_cursor("url", ("https://a.org/", "")), "url")
    ('https://a.org/', '')
    """
    text = json.dumps([order, *key], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_cursor(text: str, order: str) -> tuple[Any, ...]:
    """Return the key of a cursor of a list in this order; empty for an empty text."""
    if not text:
        return ()
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        cursor_order, *key = json.loads(base64.b64decode(padded, b"-_", validate=True))
    except (ValueError, TypeError, binascii.Error, RecursionError):
        cursor_order, key = None, []
    kinds = {"url": [str, str], "host": [str]}.get(order, [int])
    has_kinds = [type(item) for item in key] == kinds
    is_possible = has_kinds and all(
        _is_storable(item) if isinstance(item, str) else abs(item) <= MAX_NUMBER for item in key
    )
    if cursor_order != order or not is_possible:
        raise UsageError("the cursor is not one of this list; begin again without it")
    return tuple(key)


def _is_storable(text: str) -> bool:
    """Whether a text can be encoded and stored: no lone surrogate and no NUL."""
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)
