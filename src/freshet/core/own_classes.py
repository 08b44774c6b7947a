"""Classes of other packages: by the name of an entry point, or as ``module:Class``.

Modules are found as Python finds them: installed, or on PYTHONPATH. Nothing is imported from the
folder of a collection, so that reading somebody's collection runs none of their code.
"""

import re
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Literal

from freshet.core.errors import UsageError

ClassGroup = Literal["freshet.policies", "freshet.measures", "freshet.estimators"]

_CLASS_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_ENTRY_POINT_NAME = re.compile(r"[A-Za-z]\w*([-.]\w+)*")


def is_class_path(name: str) -> bool:
    """Whether a name has the form ``module:Class``.

    >>> is_class_path("mine.rules:Newest"), is_class_path("words:10"), is_class_path("t * X")
    (True, False, False)
    """
    return _CLASS_PATH.fullmatch(name) is not None


def is_own_class(name: str, group: ClassGroup) -> bool:
    """Whether a name is of the form ``module:Class``, or that of an entry point of the group."""
    if is_class_path(name):
        return True
    return _ENTRY_POINT_NAME.fullmatch(name) is not None and bool(
        entry_points(group=group, name=name)
    )


def load_class(name: str, group: ClassGroup, methods: tuple[str, ...]) -> type[Any]:
    """Import the class of a name; it must have the given methods."""
    try:
        if is_class_path(name):
            module_name, _, class_name = name.partition(":")
            found = getattr(import_module(module_name), class_name)
        else:
            found = entry_points(group=group)[name].load()
    except (Exception, SystemExit) as error:
        hint = "; put its folder on PYTHONPATH" if isinstance(error, ModuleNotFoundError) else ""
        raise UsageError(
            f"{name!r} cannot be imported: {type(error).__name__}: {error}{hint}"
        ) from error
    if not isinstance(found, type):
        raise UsageError(f"{name!r} is not a class")
    missing = [method for method in methods if not callable(getattr(found, method, None))]
    if missing:
        raise UsageError(f"{name!r} has no method {', '.join(missing)}")
    return found
