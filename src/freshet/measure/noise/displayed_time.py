"""Recognise lines that show the time of the visit."""

import re
from collections.abc import Sequence

import numpy as np

HALF_DAY = 720.0
MIN_READINGS = 5
MAX_SPREAD_MINUTES = 3.0
# A share of the time between looks; an event between two looks is rarely that near by chance.
MAX_SPREAD_SHARE = 0.05
_TIME = re.compile(r"(?<!\d)(\d{1,2})[:.h](\d{2})(?!\d)")


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
