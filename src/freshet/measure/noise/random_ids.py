"""Identifiers that are drawn anew for each visit: nonces, sessions, numbers of requests."""

import re
from collections.abc import Sequence
from itertools import pairwise

from freshet.measure.noise.line_pattern import differing_parts

MIN_TEXTS = 5
_DRAWN = re.compile(r"(?=(?:.*\d){3})[0-9A-Za-z_-]{8,}")


def are_random_ids(texts: Sequence[str]) -> bool:
    """Say whether lines differ by a long identifier that follows no order.

    >>> are_random_ids([f"guest{n}" for n in (3595443870, 7508350143, 753033716, 8049847912, 38044782)])
    True
    >>> are_random_ids([f"visitor {n}" for n in range(3595443870, 3595443880)])
    False
    """
    parts = differing_parts(texts)
    if len(parts) < MIN_TEXTS or not all(_DRAWN.fullmatch(part) for part in parts):
        return False
    if not all(part.isdigit() for part in parts):
        return True
    rises = [_size(new) > _size(old) for old, new in pairwise(parts)]
    return any(rises) and not all(rises)


def _size(digits: str) -> tuple[int, str]:
    """Return what orders numbers of any length as their values do."""
    plain = digits.lstrip("0")
    return len(plain), plain
