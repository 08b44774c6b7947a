"""Freshet learns how each web page changes, and visits where it finds the most that is new."""

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from freshet.core.compiled import choose_cache, home_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from freshet.flow.errands import DaySpending
    from freshet.flow.opened import OpenedCollection
    from freshet.flow.watch import Sighting

__version__ = "0.1.0"

choose_cache(Path(__file__).parent, home_folder(), os.environ)


def open(path: "str | Path") -> "OpenedCollection":
    """Open a collection; its methods do what the commands do.

    The parts that do the work are loaded only now, so that ``freshet --help`` stays quick.
    """
    return _collections().open(Path(path))


def create(path: "str | Path", *, contact: str) -> "OpenedCollection":
    """Make a collection in a folder that has none, and open it."""
    return _collections().create(Path(path), contact=contact)


def crawl(
    path: "str | Path", *, budget: str = "", visits: int | None = None, seconds: float | None = None
) -> "DaySpending":
    """Keep a collection's pages fresh until a limit or a signal; once in a process."""
    fetch = import_module("freshet.fetch.crawl")
    limits = fetch.Limits(visits, seconds)
    return cast("DaySpending", fetch.crawl(Path(path), budget=budget, limits=limits))


def watch(path: "str | Path", urls: "Sequence[str]") -> "list[Sighting]":
    """Add pages to a collection and fetch them now; once in a process."""
    found = import_module("freshet.fetch.watch").watch(Path(path), urls)
    return cast("list[Sighting]", found)


def _collections() -> "type[OpenedCollection]":
    opened = import_module("freshet.flow.opened").OpenedCollection
    return cast("type[OpenedCollection]", opened)
