"""Waiting for what another process or thread does."""

from collections.abc import Callable
from time import sleep
from typing import TypeVar

from freshet.core.clock import monotonic_seconds

PATIENCE = 60.0
T = TypeVar("T")


def until(condition: Callable[[], T]) -> T:
    """Wait for something to become true, and return it."""
    end = monotonic_seconds() + PATIENCE
    while not (result := condition()):
        assert monotonic_seconds() < end, "it did not come true"
        sleep(0.05)
    return result
