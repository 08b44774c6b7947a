"""Stopping on request at a moment when nothing is half done."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from freshet.core.errors import StopRequestedError
from freshet.core.progress import ProgressCallback

SIGNALS = (signal.SIGINT, signal.SIGTERM)
STOP_NOTICE = b"\nstopping as soon as this batch is kept; once more stops at once\n"


@contextmanager
def interruptible(advance: ProgressCallback) -> Iterator[ProgressCallback]:
    """Let a signal wait until the work tells how far it is; a second one does not wait."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    asked: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        for each in SIGNALS:
            signal.signal(each, signal.default_int_handler)
        os.write(sys.stderr.fileno(), STOP_NOTICE)

    def go_on(done: int, total: int) -> None:
        advance(done, total)
        if asked:
            raise StopRequestedError("stopped on request; run the same command again to go on")

    for number in SIGNALS:
        signal.signal(number, note)
    try:
        yield go_on
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
