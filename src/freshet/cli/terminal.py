"""What may reach a terminal: text that cannot steer it, also in the messages of libraries."""

import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from freshet.core.redaction import redact_user_info

ALLOWED_INVISIBLE = frozenset("\u200c\u200d")


def safe_text(text: str) -> str:
    """Return text on one line without control characters, so that it cannot steer a terminal.

    The joiners of Persian and Indic scripts stay, other invisible characters become a mark.

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
    """Writes an event as a line for people."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of an event."""
        return f"freshet: {safe_text(redact_user_info(record.getMessage()))}"


class TerminalLogHandler(logging.StreamHandler[Any]):
    """Shows warnings of every library on standard error, as it is at that moment."""

    def __init__(self) -> None:
        logging.Handler.__init__(self, logging.WARNING)
        self.setFormatter(PlainLogFormatter())

    @property
    def stream(self) -> Any:
        """Return where lines go."""
        return sys.stderr


@contextmanager
def print_warnings_safely() -> Iterator[None]:
    """Let no library print warnings by itself: they go through one handler that makes them safe."""
    root, handler = logging.getLogger(), TerminalLogHandler()
    root.addHandler(handler)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.removeHandler(handler)


def print_traceback(error: BaseException) -> None:
    """Print where an error came from, line by line, on standard error."""
    for part in traceback.format_exception(error):
        for line in part.splitlines():
            sys.stderr.write(safe_text(line).rstrip() + "\n")
