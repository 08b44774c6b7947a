"""Counts the functions of Freshet that numba compiles because no compiled version is cached."""

from collections.abc import Callable

from numba.core.event import Event, Listener, register

PACKAGE = "freshet"
COMPILE_EVENT = "numba:compile"


class CompilationCounter(Listener):
    """Counts compilations of Freshet's functions; numba's own functions are not counted."""

    def __init__(self, on_compile: Callable[[int], None]) -> None:
        self.count = 0
        self._on_compile = on_compile

    def on_start(self, event: Event) -> None:
        """Count a function whose compilation begins."""
        if event.data["dispatcher"].py_func.__module__.startswith(PACKAGE):
            self.count += 1
            self._on_compile(self.count)

    def on_end(self, event: Event) -> None:
        """Ignore the end of a compilation."""


def count_compilations(on_compile: Callable[[int], None]) -> CompilationCounter:
    """Call ``on_compile`` with the count so far whenever this process compiles a function.

    Functions that are loaded from the cache are not counted. The call is made in the thread that
    compiles.
    """
    counter = CompilationCounter(on_compile)
    register(COMPILE_EVENT, counter)  # type: ignore[no-untyped-call]
    return counter
