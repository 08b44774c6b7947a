"""A process of the local engine: takes batches from whoever started it, and gives results back.

It is started by name, not as a copy of the process that starts it: compiled code and threads of
other libraries do not outlive a fork, and a script that uses Freshet is not run a second time.
"""

import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection

from freshet.core.errors import FreshetError
from freshet.engine.base import BatchFunction
from freshet.engine.result_cache import Columns

BatchResult = Columns | FreshetError


def run_batch(work: BatchFunction, number: int, batch: Columns) -> BatchResult:
    """Return the result of a batch, or what went wrong in it."""
    try:
        return work(batch)
    except FreshetError as error:
        return error
    except Exception as error:  # noqa: BLE001 - the process that waits for the answer raises it
        told = FreshetError(f"batch {number} failed: {type(error).__name__}: {error}")
        told.add_note(traceback.format_exc())
        return told


def serve_batches(desk: Connection) -> None:
    """Answer every batch until nobody is at the other end of the connection any more."""
    paths: Sequence[str] = desk.recv()
    sys.path[:] = paths
    work: BatchFunction = desk.recv()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            number, batch = desk.recv()
            desk.send(run_batch(work, number, batch))


if __name__ == "__main__":
    serve_batches(Connection(int(sys.argv[1])))
