"""How long work tells how far it has come."""

from typing import Protocol


class ProgressCallback(Protocol):
    """Is told, again and again, how much of the work is done."""

    def __call__(self, done: int, total: int) -> None:
        """Take note that ``done`` of ``total`` is done."""
        ...


def ignore_progress(done: int, total: int) -> None:
    """Show nothing."""
