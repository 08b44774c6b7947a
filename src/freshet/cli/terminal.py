"""Text that is safe to print on a terminal, also in messages of libraries."""

import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from freshet.core.redaction import redact_user_info

ALLOWED_INVISIBLE = frozenset("\u200c\u200d")


def safe_text(text: str) -> str:
    """Return text on one line without control characters, so that it cannot control a terminal.

    Joiners of Persian and Indic scripts are kept; other invisible characters become "?".

    >>> safe_text("a\\x1b[31mb\\nc\\xa0d")
    'a?[31mb c d'
    """
    if text.isprintable():
        return text
    return "".join(_safe(char) for char in text)


def _safe(char: str) -> str:
    if char.isprintable() or char in ALLOWED_INVISIBLE:
        return char
    return " " if char.isspace() else "?"


class PlainLogFormatter(logging.Formatter):
    """Formats a log event as a line for people."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for an event."""
        return f"freshet: {safe_text(redact_user_info(record.getMessage()))}"


class TerminalLogHandler(logging.StreamHandler[Any]):
    """Prints warnings of all libraries to the current standard error."""

    def __init__(self) -> None:
        logging.Handler.__init__(self, logging.WARNING)
        self.setFormatter(PlainLogFormatter())

    @property
    def stream(self) -> Any:
        """Return the current standard error."""
        return sys.stderr


@contextmanager
def print_warnings_safely() -> Iterator[None]:
    """Send the warnings of all libraries through one handler that makes them safe."""
    root, handler = logging.getLogger(), TerminalLogHandler()
    root.addHandler(handler)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.removeHandler(handler)


def print_traceback(error: BaseException) -> None:
    """Print the traceback of an error on standard error."""
    for text in traceback.format_exception(error):
        for line in text.splitlines():
            sys.stderr.write(safe_text(line).rstrip() + "\n")
