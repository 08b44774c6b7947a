"""Logs as JSON lines in plain ASCII, so that page content cannot forge lines or control a terminal.

An event is one line: time, level, event and its fields. Freshet's own events are logged from level
INFO, those of other libraries from WARNING.
"""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any

from freshet.cli.terminal import TerminalLogHandler
from freshet.core.clock import from_epoch
from freshet.core.redaction import redact_user_info
from freshet.core.strict_json import to_json_value

ROOT_LOGGER = "freshet"
STANDARD_ERROR = Path("-")


def to_json_line(document: Any) -> str:
    r"""Return a document as one line of printable ASCII.

    >>> to_json_line({"title": "a\n\x1b[31m\x7f\u202e"})
    '{"title": "a\\n\\u001b[31m\\u007f\\u202e"}'
    """
    return json.dumps(to_json_value(document)).replace("\x7f", "\\u007f")


def log_event(event: str, **fields: Any) -> None:
    """Log an event with its fields."""
    logging.getLogger(ROOT_LOGGER).info(event, extra={"fields": fields})


class JsonLogFormatter(logging.Formatter):
    """Formats an event as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for an event."""
        document = {
            "time": from_epoch(record.created),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "from": record.name,
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            document["trace"] = self.formatException(record.exc_info)
        return redact_user_info(to_json_line(document))


class LogFileHandler(WatchedFileHandler):
    """A log file that can be moved while it is written; write errors are ignored."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Ignore an event that could not be written."""


@contextmanager
def log_to_file(file: Path | None) -> Iterator[None]:
    """Write events to a file, or to standard error for ``-``; warnings are always printed."""
    handlers = [] if file is None else [_open_handler(file)]
    if file != STANDARD_ERROR:
        handlers.append(TerminalLogHandler())
    root, own_logger = logging.getLogger(), logging.getLogger(ROOT_LOGGER)
    level, previous_handlers = own_logger.level, root.handlers[:]
    own_logger.setLevel(logging.INFO)
    root.handlers = [
        item for item in previous_handlers if not isinstance(item, TerminalLogHandler)
    ] + handlers
    try:
        yield
    finally:
        own_logger.setLevel(level)
        root.handlers = previous_handlers
        for handler in handlers:
            handler.close()


def _open_handler(file: Path) -> logging.Handler:
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    if file != STANDARD_ERROR:
        handler = LogFileHandler(file, encoding="ascii")
    handler.setFormatter(JsonLogFormatter())
    handler.addFilter(_is_logged)
    return handler


def _is_logged(record: logging.LogRecord) -> bool:
    is_own = record.name.partition(".")[0] == ROOT_LOGGER
    return record.levelno >= (logging.INFO if is_own else logging.WARNING)
