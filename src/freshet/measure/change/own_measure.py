"""Measures of users: classes that decide whether a difference of two versions is a change."""

from functools import cache
from typing import Protocol, cast

from freshet.core.counts_as import parse_counts_as
from freshet.core.errors import OwnMeasureError, UsageError
from freshet.core.own_classes import load_class
from freshet.core.types import View


class ChangeMeasure(Protocol):
    """Decides which differences of a page count; the class is called without arguments."""

    def is_change(self, old: View, new: View) -> bool:
        """Whether the difference counts; it is asked only if the visible text differs.

        The texts of the views are what the mask of the page leaves visible.
        """
        ...


def check_measure(counts_as: str) -> None:
    """Raise OwnMeasureError if ``counts_as`` names a measure that cannot be imported or made."""
    name = parse_counts_as(counts_as).own_measure
    if name:
        load_measure(name)


@cache
def load_measure(name: str) -> ChangeMeasure:
    """Return the measure of an entry point or a ``module:Class``."""
    try:
        measure_class = load_class(name, "freshet.measures", ("is_change",))
    except UsageError as error:
        raise OwnMeasureError(f"measure {error}") from error
    try:
        return cast("ChangeMeasure", measure_class())
    except (Exception, SystemExit) as error:
        raise OwnMeasureError(
            f"measure {name!r} cannot be made: {type(error).__name__}: {error}"
        ) from error


def is_own_change(name: str, old: View, new: View) -> bool:
    """Whether the measure of that name counts a difference; its faults name class and method."""
    measure = load_measure(name)
    try:
        return bool(measure.is_change(old, new))
    except (Exception, SystemExit) as error:
        raise OwnMeasureError(
            f"measure method {name}.is_change failed: {type(error).__name__}: {error}"
        ) from error
