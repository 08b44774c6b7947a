"""Resources and actions: what the dashboard shows and does, each described once.

A resource is a page of the dashboard and its JSON document. An action is a write, which a form of
the dashboard and a client of the API send to the same address.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from freshet.serve.dashboard import Dashboard
from freshet.serve.parameters import ParameterValues, QueryParameter

API_ROOT = "/api/v1"


@dataclass(frozen=True, slots=True)
class DashboardResource:
    """A page of the dashboard; its JSON document has the same path under ``/api/v1``.

    ``document`` is the type of what ``read`` returns.
    """

    name: str
    path: str
    summary: str
    document: type
    read: Callable[[Dashboard, ParameterValues], Any]
    parameters: tuple[QueryParameter, ...] = ()

    @property
    def api_path(self) -> str:
        """The path of the JSON document."""
        return API_ROOT + ("/overview" if self.path == "/" else self.path)


@dataclass(frozen=True, slots=True)
class ActionField:
    """A value that an action takes in its body: a text, or a list of texts."""

    name: str
    meaning: str
    is_list: bool = False
    is_required: bool = True


@dataclass(frozen=True, slots=True)
class DashboardAction:
    """A write; ``run`` takes the values of the path and of the body."""

    name: str
    path: str
    summary: str
    document: type
    run: Callable[[Dashboard, ParameterValues], Any]
    fields: tuple[ActionField, ...] = ()

    @property
    def api_path(self) -> str:
        """The path to which the action is posted."""
        return API_ROOT + self.path


def path_names(path: str) -> Mapping[str, str]:
    """Return the parameters of a path with their types.

    >>> path_names("/pages/{page_id:int}/versions/{number:int}")
    {'page_id': 'int', 'number': 'int'}
    """
    parts = (part.strip("{}").partition(":") for part in path.split("/") if part.startswith("{"))
    return {name: kind or "str" for name, _, kind in parts}
