"""Progress reports of long operations."""

from typing import Protocol


class ProgressCallback(Protocol):
    """Is called repeatedly with the work done so far."""

    def __call__(self, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` is done."""
        ...


def ignore_progress(done: int, total: int) -> None:
    """Report nothing."""
