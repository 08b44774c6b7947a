"""Spans of time in words."""

from datetime import timedelta

LONGEST_DAYS = 365_250.0
SHORTEST_INTERVAL_DAYS = 5 / 1440
LONGEST_INTERVAL_DAYS = 5 * 365.25
NEAR_A_BOUND = 1.02
LEVEL = 0.0005
UNITS = (
    (timedelta(days=365.25), "year"),
    (timedelta(days=1), "day"),
    (timedelta(hours=1), "hour"),
    (timedelta(minutes=1), "minute"),
)


def span(days: float) -> str:
    """Write a span of time given in days with the unit that suits it.

    >>> span(0.002), span(1), span(800)
    ('2.9 minutes', '1 day', '2.2 years')
    """
    length = timedelta(days=min(days, LONGEST_DAYS))
    for unit, name in UNITS:
        if length >= unit:
            number = f"{length / unit:.1f}".removesuffix(".0")
            return f"{number} {name}" if number == "1" else f"{number} {name}s"
    return f"{length / timedelta(seconds=1):.0f} seconds"


def each(days: float) -> str:
    """Write a span of time as what comes after "every".

    >>> each(1), each(2)
    ('day', '2 days')
    """
    return span(days).removeprefix("1 ")


def per_day(slope: float, what: str) -> str:
    """Write a slope per hour as one a day, or a year where it is slight.

    >>> per_day(-0.01, "Dice"), per_day(-1e-5, "Dice"), per_day(-1e-9, "Dice")
    ('-0.240 Dice a day', '-0.088 Dice a year', 'level')
    """
    for unit, hours in (("day", 24), ("year", 8766)):
        if abs(hours * slope) >= LEVEL:
            return f"{hours * slope:+.3f} {what} a {unit}"
    return "level"


def every(days: float) -> str:
    """Say how often a page changes, given the days between two changes.

    Change rates outside of five minutes to five years are not told apart.

    >>> every(2), every(1 / 24), every(0.001), every(5000)
    ('about every 2 days', 'about every hour', 'every 5 minutes or less', 'every 5 years or more')
    """
    if days <= SHORTEST_INTERVAL_DAYS * NEAR_A_BOUND:
        return f"every {span(SHORTEST_INTERVAL_DAYS)} or less"
    if days >= LONGEST_INTERVAL_DAYS / NEAR_A_BOUND:
        return f"every {span(LONGEST_INTERVAL_DAYS)} or more"
    return f"about every {each(days)}"
