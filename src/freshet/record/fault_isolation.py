"""Isolates the faults that a single page causes: they are logged and do not stop the others."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from freshet.core.errors import OwnClassError, OwnMeasureError, StopRequestedError, StorageError

# Errors of the machine, of the collection's own files or of a user's class are no page's fault and
# are raised.
SYSTEM_ERRORS = (StorageError, StopRequestedError, OwnClassError, OSError)

log = logging.getLogger(__name__)


@contextmanager
def isolate_faults(task: str, page: object) -> Iterator[None]:
    """Log an exception that the task of one page raises, and go on; system errors are raised."""
    try:
        yield
    except SYSTEM_ERRORS:
        raise
    except OwnMeasureError as error:
        log.warning("%s: %s failed: %s", page, task, error)
    except Exception:
        log.exception("%s: %s failed, a fault of Freshet", page, task)


def describe_fault(error: BaseException, stage: str) -> str:
    """Return a short text about the fault that ended a visit.

    >>> describe_fault(ValueError("bad"), "while it was read")
    'a fault of Freshet while it was read: ValueError: bad'
    >>> describe_fault(OwnMeasureError("measure method mine:Price.is_change failed"), "with it")
    'measure method mine:Price.is_change failed'
    """
    text = "".join(char if char.isprintable() else " " for char in str(error))
    if isinstance(error, OwnMeasureError):
        return text
    return f"a fault of Freshet {stage}: {type(error).__name__}" + (f": {text}" if text else "")
