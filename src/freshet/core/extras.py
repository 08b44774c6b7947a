"""Packages that an extra of the distribution installs, imported at their first use."""

from importlib import import_module
from typing import Any

from freshet.core.errors import UsageError


def installation_advice(extra: str) -> str:
    """Say how the packages of an extra are installed.

    >>> installation_advice("charts")
    "install it with: pip install '.[charts]' in the checkout of Freshet"
    """
    return f"install it with: pip install '.[{extra}]' in the checkout of Freshet"


class OptionalPackage:
    """A package of an extra, or a module of ours that needs one.

    It is imported when one of its attributes is first used.

    >>> OptionalPackage("math", extra="numbers").sqrt(4)
    2.0
    """

    def __init__(self, name: str, *, extra: str) -> None:
        self._name = name
        self._extra = extra

    def __getattr__(self, attribute: str) -> Any:
        """Return an attribute of the package; raise UsageError if the package is not installed."""
        return getattr(self._package(), attribute)

    def _package(self) -> Any:
        try:
            return import_module(self._name)
        except ModuleNotFoundError as error:
            raise UsageError(
                f"this needs the package {error.name}, which is not installed;"
                f" {installation_advice(self._extra)}"
            ) from error
