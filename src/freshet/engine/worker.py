"""A worker process of the local engine: it receives batches and sends results back.

The process is started by module name, not forked: compiled code and threads of other libraries do
not survive a fork, and a script that uses Freshet is not run a second time.
"""

import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection

from freshet.core.errors import FreshetError
from freshet.engine.result_cache import Columns

BatchFunction = Callable[[Columns], Columns]
"""A pure function of a batch that another process can import by its name."""

BatchResult = Columns | FreshetError


def run_batch(function: BatchFunction, number: int, batch: Columns) -> BatchResult:
    """Return the result of a batch, or the error that it raised."""
    try:
        return function(batch)
    except FreshetError as error:
        return error
    except Exception as error:  # noqa: BLE001 - the process that waits for the answer raises it
        failure = FreshetError(f"batch {number} failed: {type(error).__name__}: {error}")
        failure.add_note(traceback.format_exc())
        return failure


def serve_batches(connection: Connection) -> None:
    """Work on batches until the other end closes the connection."""
    paths: Sequence[str] = connection.recv()
    sys.path[:] = paths
    function: BatchFunction = connection.recv()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            number, batch = connection.recv()
            connection.send(run_batch(function, number, batch))


if __name__ == "__main__":
    serve_batches(Connection(int(sys.argv[1])))
