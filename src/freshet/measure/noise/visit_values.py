"""Recognise values that each visit makes: displayed times, and random identifiers.

Random identifiers are nonces, session ids and request numbers.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from freshet.measure.noise.line_pattern import differing_parts

HALF_DAY = 720.0
MIN_READINGS = 5
MAX_SPREAD_MINUTES = 3.0
# A share of the time between looks; an event between two looks is rarely that near by chance.
MAX_SPREAD_SHARE = 0.05
_TIME = re.compile(r"(?<!\d)(\d{1,2})[:.h](\d{2})(?!\d)")
MIN_TEXTS = 5
_RANDOM_ID = re.compile(r"(?=(?:.*\d){3})[0-9A-Za-z_-]{8,}")


def shows_visit_time(texts: Sequence[tuple[str, ...]], times: Sequence[float]) -> bool:
    """Return whether a line shows the time of each look, in any time zone.

    >>> times = [(9 * 60 + minute) * 60.0 for minute in (0, 7, 31, 185, 402, 500)]
    >>> clock = [(f"It is {int(t // 3600) + 2}:{int(t % 3600 // 60):02}",) for t in times]
    >>> shows_visit_time(clock, times), shows_visit_time([("It is 11:00",)] * 6, times)
    (True, False)
    """
    readings = [
        (float(clock_match[1]) * 60 + float(clock_match[2]) - time / 60) % HALF_DAY
        for look_texts, time in zip(texts, times, strict=True)
        if look_texts and (clock_match := _TIME.search(look_texts[0]))
    ]
    if len(readings) < MIN_READINGS:
        return False
    first = readings[0]
    differences = [
        (reading - first + HALF_DAY / 2) % HALF_DAY - HALF_DAY / 2 for reading in readings
    ]
    median_gap_minutes = float(np.median(np.diff(times))) / 60
    return max(differences) - min(differences) <= max(
        MAX_SPREAD_MINUTES, min(MAX_SPREAD_SHARE * median_gap_minutes, HALF_DAY / 8)
    )


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
