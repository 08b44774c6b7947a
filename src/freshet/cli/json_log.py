"""Logs as JSON lines in plain ASCII, so that nothing from a page or a server can forge or steer.

An event is one line: time, level, event, and what belongs to it. Freshet's own events are kept from
INFO on, those of the libraries it stands on from WARNING on.
"""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any

from freshet.cli.output import to_json_value
from freshet.cli.terminal import TerminalLogHandler
from freshet.core.clock import from_epoch
from freshet.core.redaction import redact_user_info

ROOT_LOGGER = "freshet"
STANDARD_ERROR = Path("-")


def to_json_line(document: Any) -> str:
    r"""Write a document as one line of printable ASCII.

    >>> to_json_line({"title": "a\n\x1b[31m\x7f\u202e"})
    '{"title": "a\\n\\u001b[31m\\u007f\\u202e"}'
    """
    return json.dumps(to_json_value(document)).replace("\x7f", "\\u007f")


def log_event(event: str, **facts: Any) -> None:
    """Log an event with what belongs to it."""
    logging.getLogger(ROOT_LOGGER).info(event, extra={"facts": facts})


class JsonLogFormatter(logging.Formatter):
    """Writes an event as one JSON document on one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of an event."""
        document = {
            "time": from_epoch(record.created),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "from": record.name,
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            document["trace"] = self.formatException(record.exc_info)
        return redact_user_info(to_json_line(document))


class LogFileHandler(WatchedFileHandler):
    """A file that may be moved away while it is written; one that cannot be stops nothing."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Pass over an event that could not be written."""


@contextmanager
def log_to_file(file: Path | None) -> Iterator[None]:
    """Keep events in a file, or on standard error where it is ``-``; warnings are always shown."""
    handlers = [] if file is None else [_kept(file)]
    if file != STANDARD_ERROR:
        handlers.append(TerminalLogHandler())
    root, ours = logging.getLogger(), logging.getLogger(ROOT_LOGGER)
    level, before = ours.level, root.handlers[:]
    ours.setLevel(logging.INFO)
    root.handlers = [item for item in before if not isinstance(item, TerminalLogHandler)] + handlers
    try:
        yield
    finally:
        ours.setLevel(level)
        root.handlers = before
        for handler in handlers:
            handler.close()


def _kept(file: Path) -> logging.Handler:
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    if file != STANDARD_ERROR:
        handler = LogFileHandler(file, encoding="ascii")
    handler.setFormatter(JsonLogFormatter())
    handler.addFilter(_matters)
    return handler


def _matters(record: logging.LogRecord) -> bool:
    is_ours = record.name.partition(".")[0] == ROOT_LOGGER
    return record.levelno >= (logging.INFO if is_ours else logging.WARNING)
