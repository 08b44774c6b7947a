"""Counts, durations, intervals, slopes and shares as people read them."""

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


def count_text(number: int, noun: str) -> str:
    """Return a number with its noun in singular or plural.

    >>> count_text(1, "page"), count_text(2000, "page")
    ('1 page', '2,000 pages')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def quantity_text(number: float) -> str:
    """Return a number with two digits, or in whole numbers from ten on.

    >>> quantity_text(0.0312), quantity_text(4.25), quantity_text(15_210.4)
    ('0.031', '4.2', '15,210')
    """
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def duration_text(days: float) -> str:
    """Format a duration, given in days, in the unit that suits it.

    >>> duration_text(0.002), duration_text(1), duration_text(800), duration_text(1 / 86400)
    ('2.9 minutes', '1 day', '2.2 years', '1 second')
    """
    duration = timedelta(days=min(days, MAX_DAYS))
    for unit, name in TIME_UNITS:
        if duration >= unit:
            number = f"{duration / unit:.1f}".removesuffix(".0")
            return f"{number} {name}" if number == "1" else f"{number} {name}s"
    number = f"{duration / timedelta(seconds=1):.0f}"
    return "1 second" if number == "1" else f"{number} seconds"


def interval_text(days: float) -> str:
    """Format a duration as it follows the word "every".

    >>> interval_text(1), interval_text(2)
    ('day', '2 days')
    """
    return duration_text(days).removeprefix("1 ")


def change_interval_text(days: float) -> str:
    """Say how often a page changes, given the days between two changes.

    Intervals below five minutes, and intervals above five years, are not told apart.

    >>> change_interval_text(2), change_interval_text(1 / 24)
    ('about every 2 days', 'about every hour')
    >>> change_interval_text(0.001), change_interval_text(5000)
    ('every 5 minutes or less', 'every 5 years or more')
    """
    if days <= MIN_INTERVAL_DAYS * BOUND_TOLERANCE:
        return f"every {duration_text(MIN_INTERVAL_DAYS)} or less"
    if days >= MAX_INTERVAL_DAYS / BOUND_TOLERANCE:
        return f"every {duration_text(MAX_INTERVAL_DAYS)} or more"
    return f"about every {interval_text(days)}"


def slope_text(slope: float, unit: str) -> str:
    """Format a slope per hour as one per day, or per year if it is slight.

    >>> slope_text(-0.01, "Dice"), slope_text(-1e-5, "Dice"), slope_text(-1e-9, "Dice")
    ('-0.240 Dice a day', '-0.088 Dice a year', 'level')
    """
    for period, hours in (("day", 24), ("year", 8766)):
        if abs(hours * slope) >= MIN_SLOPE:
            return f"{hours * slope:+.3f} {unit} a {period}"
    return "level"


def percent_text(share: float) -> str:
    """Format a share of one in per cent; a little is not 0%, and nearly all is not 100%.

    >>> percent_text(0.5), percent_text(0.005), percent_text(0.0), percent_text(0.998)
    ('50%', 'less than 1%', '0%', 'more than 99%')
    """
    if 0 < share < 0.01:
        return "less than 1%"
    return "more than 99%" if 0.99 < share < 1 else f"{share:.0%}"


def percent_text_capitalized(share: float) -> str:
    """Format a share as ``percent_text`` does, for the beginning of a sentence.

    >>> percent_text_capitalized(0.001), percent_text_capitalized(0.5)
    ('Less than 1%', '50%')
    """
    text = percent_text(share)
    return text[0].upper() + text[1:]


def format_size(count: float) -> str:
    """Return a number of bytes with a unit.

    >>> format_size(999), format_size(1_500_000)
    ('999 B', '1.5 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
