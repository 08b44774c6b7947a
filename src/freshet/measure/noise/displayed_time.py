"""Lines that tell the time at which they were asked for."""

import re
from collections.abc import Sequence

import numpy as np

HALF_DAY = 720.0
MIN_READINGS = 5
MAX_SPREAD_MINUTES = 3.0
# A share of the time between looks: what happens once between them comes so near by chance rarely.
MAX_SPREAD_SHARE = 0.05
_TIME = re.compile(r"(?<!\d)(\d{1,2})[:.h](\d{2})(?!\d)")


def shows_visit_time(texts: Sequence[tuple[str, ...]], times: Sequence[float]) -> bool:
    """Say whether a line shows the time of each look, whatever its time zone.

    >>> times = [(9 * 60 + minute) * 60.0 for minute in (0, 7, 31, 185, 402, 500)]
    >>> clock = [(f"It is {int(t // 3600) + 2}:{int(t % 3600 // 60):02}",) for t in times]
    >>> shows_visit_time(clock, times), shows_visit_time([("It is 11:00",)] * 6, times)
    (True, False)
    """
    readings = [
        (float(read[1]) * 60 + float(read[2]) - time / 60) % HALF_DAY
        for each, time in zip(texts, times, strict=True)
        if each and (read := _TIME.search(each[0]))
    ]
    if len(readings) < MIN_READINGS:
        return False
    first = readings[0]
    apart = [(reading - first + HALF_DAY / 2) % HALF_DAY - HALF_DAY / 2 for reading in readings]
    usual = float(np.median(np.diff(times))) / 60
    return max(apart) - min(apart) <= max(
        MAX_SPREAD_MINUTES, min(MAX_SPREAD_SHARE * usual, HALF_DAY / 8)
    )
