"""JSON that other programs read as it is meant: read strictly, and made of values of all kinds."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn


def load_strict_json(content: bytes | str) -> Any:
    """Parse a JSON document; ValueError if it is none, or has a number that is not finite.

    >>> load_strict_json('{"rate": 0.5}')
    {'rate': 0.5}
    >>> load_strict_json('{"rate": NaN}')
    Traceback (most recent call last):
    ValueError: NaN is not a number
    """
    return json.loads(content, parse_constant=_refuse_constant)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")


def to_json_value(value: Any) -> Any:
    """Convert a value to types that JSON supports.

    >>> to_json_value((date(2026, 1, 1), b"\\x01"))
    ['2026-01-01', '01']
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: to_json_value(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json_value(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, Path):
        return str(value)
    return value
