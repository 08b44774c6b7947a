"""JSON as its standard defines it: without NaN and Infinity, which Python reads by default."""

import json
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
