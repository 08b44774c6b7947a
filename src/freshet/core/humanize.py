"""Spans of time in words."""

from datetime import timedelta

MAX_DAYS = 365_250.0
MIN_INTERVAL_DAYS = 5 / 1440
MAX_INTERVAL_DAYS = 5 * 365.25
BOUND_TOLERANCE = 1.02
MIN_SLOPE = 0.0005
TIME_UNITS = (
    (timedelta(days=365.25), "year"),
    (timedelta(days=1), "day"),
    (timedelta(hours=1), "hour"),
    (timedelta(minutes=1), "minute"),
)


def duration_text(days: float) -> str:
    """Write a span of time given in days with the unit that suits it.

    >>> duration_text(0.002), duration_text(1), duration_text(800)
    ('2.9 minutes', '1 day', '2.2 years')
    """
    length = timedelta(days=min(days, MAX_DAYS))
    for unit, name in TIME_UNITS:
        if length >= unit:
            number = f"{length / unit:.1f}".removesuffix(".0")
            return f"{number} {name}" if number == "1" else f"{number} {name}s"
    return f"{length / timedelta(seconds=1):.0f} seconds"


def interval_text(days: float) -> str:
    """Write a span of time as what comes after "every".

    >>> interval_text(1), interval_text(2)
    ('day', '2 days')
    """
    return duration_text(days).removeprefix("1 ")


def slope_text(slope: float, what: str) -> str:
    """Write a slope per hour as one a day, or a year where it is slight.

    >>> slope_text(-0.01, "Dice"), slope_text(-1e-5, "Dice"), slope_text(-1e-9, "Dice")
    ('-0.240 Dice a day', '-0.088 Dice a year', 'level')
    """
    for unit, hours in (("day", 24), ("year", 8766)):
        if abs(hours * slope) >= MIN_SLOPE:
            return f"{hours * slope:+.3f} {what} a {unit}"
    return "level"


def change_interval_text(days: float) -> str:
    """Say how often a page changes, given the days between two changes.

    Change rates outside of five minutes to five years are not told apart.

    >>> change_interval_text(2), change_interval_text(1 / 24), change_interval_text(0.001), change_interval_text(5000)
    ('about every 2 days', 'about every hour', 'every 5 minutes or less', 'every 5 years or more')
    """
    if days <= MIN_INTERVAL_DAYS * BOUND_TOLERANCE:
        return f"every {duration_text(MIN_INTERVAL_DAYS)} or less"
    if days >= MAX_INTERVAL_DAYS / BOUND_TOLERANCE:
        return f"every {duration_text(MAX_INTERVAL_DAYS)} or more"
    return f"about every {interval_text(days)}"
