"""What the tests of the command line share."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

NEWS = "https://news.example/"


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return the one document on standard output."""
        return json.loads(self.out)


Run = Callable[..., CommandResult]
