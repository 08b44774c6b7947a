"""Recognise random identifiers of each visit: nonces, session ids, request numbers."""

import re
from collections.abc import Sequence
from itertools import pairwise

from freshet.measure.noise.line_pattern import differing_parts

MIN_TEXTS = 5
_RANDOM_ID = re.compile(r"(?=(?:.*\d){3})[0-9A-Za-z_-]{8,}")


def are_random_ids(texts: Sequence[str]) -> bool:
    """Return whether lines differ by a long identifier without an order.

    >>> ids = (3595443870, 7508350143, 753033716, 8049847912, 38044782)
    >>> are_random_ids([f"guest{n}" for n in ids])
    True
    >>> are_random_ids([f"visitor {n}" for n in range(3595443870, 3595443880)])
    False
    """
    identifiers = differing_parts(texts)
    if len(identifiers) < MIN_TEXTS or not all(
        _RANDOM_ID.fullmatch(identifier) for identifier in identifiers
    ):
        return False
    if not all(identifier.isdigit() for identifier in identifiers):
        return True
    is_increasing = [
        _numeric_order(new) > _numeric_order(old) for old, new in pairwise(identifiers)
    ]
    return any(is_increasing) and not all(is_increasing)


def _numeric_order(digits: str) -> tuple[int, str]:
    """Return a sort key that orders digit strings of any length by value."""
    plain = digits.lstrip("0")
    return len(plain), plain
