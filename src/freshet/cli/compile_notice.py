"""Prints a line when functions are compiled because no compiled version is cached."""

from functools import cache

from numba.core.event import Event, Listener, register

from freshet.cli.output import error_console

PACKAGE = "freshet"
COMPILE_EVENT = "numba:compile"
NOTICE = "freshet: compiling functions that were not compiled yet; this takes up to two minutes"


class CompilationCounter(Listener):
    """Counts compilations of Freshet's functions, and prints a line at the first one.

    Functions of numba itself, and functions that are loaded from the cache, are not counted.
    """

    def __init__(self) -> None:
        self.count = 0

    def on_start(self, event: Event) -> None:
        """Count a function whose compilation begins."""
        if event.data["dispatcher"].py_func.__module__.startswith(PACKAGE):
            self.count += 1
            if self.count == 1:
                error_console.print(NOTICE)

    def on_end(self, event: Event) -> None:
        """Ignore the end of a compilation."""


@cache
def announce_compiling() -> CompilationCounter:
    """Print one line when this process compiles its first function."""
    counter = CompilationCounter()
    register(COMPILE_EVENT, counter)  # type: ignore[no-untyped-call]
    return counter
