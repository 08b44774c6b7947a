"""Measures of users: classes that decide whether a difference of two versions is a change."""

from functools import cache
from typing import Protocol, cast

from freshet.core.own_classes import load_class
from freshet.core.types import View


class ChangeMeasure(Protocol):
    """Decides which differences of a page count; the class is called without arguments."""

    def is_change(self, old: View, new: View) -> bool:
        """Whether the difference counts; it is asked only if the visible text differs.

        The texts of the views are what the mask of the page leaves visible.
        """
        ...


@cache
def load_measure(name: str) -> ChangeMeasure:
    """Return the measure of an entry point or a ``module:Class``."""
    return cast("ChangeMeasure", load_class(name, "freshet.measures", ("is_change",))())
