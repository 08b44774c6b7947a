"""Faults that a single page causes are logged with their traceback, and kept from the others."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from freshet.core.errors import StopRequestedError, StorageError

# What the machine or the collection's own files raise is no page's fault: it keeps its meaning.
SYSTEM_ERRORS = (StorageError, StopRequestedError, OSError)

log = logging.getLogger(__name__)


@contextmanager
def isolate_faults(what: str, page: object) -> Iterator[None]:
    """Log whatever one page's work raises, and go on; errors of the system are raised."""
    try:
        yield
    except SYSTEM_ERRORS:
        raise
    except Exception:
        log.exception("%s: %s failed, a fault of Freshet", page, what)


def describe_fault(error: BaseException, doing: str) -> str:
    """Say in a few words which fault ended a visit.

    >>> describe_fault(ValueError("bad"), "while it was read")
    'a fault of Freshet while it was read: ValueError: bad'
    """
    text = "".join(char if char.isprintable() else " " for char in str(error))
    return f"a fault of Freshet {doing}: {type(error).__name__}" + (f": {text}" if text else "")
