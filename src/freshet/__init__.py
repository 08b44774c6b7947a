"""Freshet learns how each web page changes, and visits where it finds the most that is new."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from freshet.flow.opened import OpenedCollection

__version__ = "0.1.0"


def open(path: "str | Path") -> "OpenedCollection":
    """Open a collection; its methods do what the commands do.

    The parts that do the work are loaded only now, so that ``freshet --help`` stays quick.
    """
    collection = import_module("freshet.flow.opened").OpenedCollection
    return cast("OpenedCollection", collection.open(Path(path)))
