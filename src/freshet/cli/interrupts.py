"""Interruption of long commands at a point where their state is consistent."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event
from types import FrameType

from freshet.core.errors import StopRequestedError
from freshet.core.progress import ProgressCallback

SIGNALS = (signal.SIGINT, signal.SIGTERM)
STOP_NOTICE = b"\nstopping after the current batch; press again to stop at once\n"


@contextmanager
def interruptible(advance: ProgressCallback) -> Iterator[ProgressCallback]:
    """Delay a signal until the next progress report; a second signal stops at once."""
    previous_handlers = {number: signal.getsignal(number) for number in SIGNALS}
    received_signals: list[int] = []

    def remember_signal(number: int, frame: FrameType | None) -> None:
        received_signals.append(number)
        for signal_number in SIGNALS:
            signal.signal(signal_number, signal.default_int_handler)
        os.write(sys.stderr.fileno(), STOP_NOTICE)

    def report_progress(done: int, total: int) -> None:
        advance(done, total)
        if received_signals:
            raise StopRequestedError("stopped; run the same command again to continue")

    for number in SIGNALS:
        signal.signal(number, remember_signal)
    try:
        yield report_progress
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


def wait_for_interrupt() -> None:
    """Wait until Ctrl-C or SIGTERM."""
    with suppress(KeyboardInterrupt):
        Event().wait()
