"""Tells on standard error when functions are being compiled, which happens once per machine."""

from functools import cache

from freshet.cli.output import error_console
from freshet.core.compile_events import CompilationCounter, count_compilations

NOTICE = (
    "freshet: compiling functions for this machine; this happens once and takes up to two minutes"
)


@cache
def announce_compiling() -> CompilationCounter:
    """Print one line when the first function is compiled; nothing where all of them are cached."""
    return count_compilations(_announce)


def _announce(count: int) -> None:
    if count == 1:
        error_console.print(NOTICE)
