"""The figures in the sentences of the document, from the stored figures."""

from collections.abc import Callable, Mapping

from experiments.web_changes.evaluation import FigureRow, Key, Value

Figures = Mapping[Key, FigureRow]
NO_VALUE = "\N{EN DASH}"
AGGREGATOR = "https://www.christiandailyreporter.com/"


def format_share(value: Value) -> str:
    """Format a share.

    >>> format_share(0.3475), format_share(None) == NO_VALUE
    ('34.8 %', True)
    """
    return f"{value:.1%}".replace("%", " %") if isinstance(value, float) else NO_VALUE


def whole_span(figures: Figures) -> str:
    """Return how many pages never changed over all observed days, and the mean interval."""
    never = figures["t1_all", "whole span", "never_changed"]
    hours = figures["t1_all", "whole span", "hours"].real
    days = hours / 24 if isinstance(hours, float) else 0.0
    return (
        f"over all the days on which they were observed only {format_share(never.real)} of "
        f"{never.n:,} never changed, and the mean interval is {days:.0f} days"
    )


def changed_once_in_world(figures: Figures) -> str:
    """Return how many curves of pages that changed once are called sloped in the world."""
    row = figures["curves", "changed once", "sloped"]
    return f"{format_share(row.world)} of {row.n_world:,} such pages"


def changed_once_in_reality(figures: Figures) -> str:
    """Return how many real pages changed once, and how many of their curves are called sloped."""
    row, all_curves = (figures["curves", name, "sloped"] for name in ("changed once", "all"))
    return (
        f"{row.n:,} of the {all_curves.n:,} pages changed once ({format_share(row.real)} of these "
        "are called sloped)"
    )


def placed_knots(figures: Figures) -> str:
    """Return how many of the real knotted curves have a knot."""
    knotted, knots = (figures["curves", "all", name] for name in ("knotted", "knot_hours_mean"))
    share = knotted.real if isinstance(knotted.real, float) else 0.0
    return f"{knots.n:,} of {round(share * knotted.n):,} have one"


def lost_half(figures: Figures) -> str:
    """Return how many pages lost more than half of their elements."""
    row = figures["t4", "5 weeks", "less than half left"]
    return (
        f"in the world {format_share(row.world)} of the pages lost more than half, "
        f"of the real ones {format_share(row.real)}"
    )


def unbroken(figures: Figures) -> str:
    """Return the survival after five weeks with and without a break."""
    row, other = (figures["t4", "5 weeks", name] for name in ("mean", "unbroken"))
    return (
        f"after five weeks {format_share(row.real)} of the real ones are still there, and "
        f"{format_share(other.real)} were never absent"
    )


def aggregator(figures: Figures) -> str:
    """Return the survival of elements of one page after four weeks, by both rules."""
    row, other = (figures["t4_page", AGGREGATOR, name] for name in ("4 weeks", "4 weeks, unbroken"))
    return (
        f"{format_share(row.real)} of the elements are still there after four weeks, and "
        f"{format_share(other.real)} were never absent"
    )


SENTENCES: Mapping[str, Callable[[Figures], str]] = {
    "whole_span": whole_span,
    "changed_once_in_world": changed_once_in_world,
    "changed_once_in_reality": changed_once_in_reality,
    "placed_knots": placed_knots,
    "lost_half": lost_half,
    "unbroken": unbroken,
    "aggregator": aggregator,
}
