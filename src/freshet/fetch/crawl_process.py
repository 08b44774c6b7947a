"""Runs a crawl in a process of its own, so that scripts and notebooks can crawl repeatedly.

The network reactor runs only once in a process, in its main thread, and handles its signals; a
notebook already has an event loop. So the library runs this module with ``python -m``.
"""

import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from threading import Thread

from freshet.core.errors import FreshetError, StopRequestedError
from freshet.crawl.fetch_job import CrawlDaySpending
from freshet.fetch.recording_loop import NO_LIMITS, CrawlLimits
from freshet.fetch.run_crawl import run_crawl

MODULE = "freshet.fetch.crawl_process"
STOP = "stop"


@dataclass(frozen=True, slots=True)
class CrawlArguments:
    """The arguments of a crawl, sent to its process."""

    path: Path
    budget: str
    limits: CrawlLimits
    pages: tuple[int, ...]


def crawl_in_process(
    path: Path, *, budget: str = "", limits: CrawlLimits = NO_LIMITS, pages: Sequence[int] = ()
) -> CrawlDaySpending:
    """Crawl in a process of its own and wait for its end; arguments are those of ``run_crawl``.

    The first interrupt ends the crawl after recording the requests under way, a second one at
    once. The crawl also ends when the calling process dies.
    """
    ours, theirs = Pipe()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", MODULE, str(theirs.fileno())],
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
            stdin=subprocess.DEVNULL,
        )
    with ours:
        try:
            ours.send(sys.path)
            ours.send(CrawlArguments(path.absolute(), budget, limits, tuple(pages)))
            return _wait(ours)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            code = process.wait()
            raise FreshetError(
                f"the crawl's process ended with status {code}; acknowledged visits are kept"
            ) from None
        except KeyboardInterrupt:
            process.kill()
            raise StopRequestedError("stopped at once; acknowledged visits are kept") from None
        finally:
            ours.close()
            process.wait()


def _wait(connection: Connection) -> CrawlDaySpending:
    try:
        answer = connection.recv()
    except KeyboardInterrupt:
        connection.send(STOP)
        answer = connection.recv()
    if isinstance(answer, BaseException):
        raise answer
    spending: CrawlDaySpending = answer
    return spending


def serve_crawl(connection: Connection) -> None:
    """Run one crawl for the process at the other end of a connection, and send the result."""
    sys.path[:] = connection.recv()
    request: CrawlArguments = connection.recv()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # until the crawl handles it
    Thread(target=_await_stop, args=(connection,), daemon=True).start()
    try:
        answer: object = run_crawl(
            request.path, budget=request.budget, limits=request.limits, pages=request.pages
        )
    except FreshetError as error:
        answer = error
    except KeyboardInterrupt:
        answer = StopRequestedError("stopped before the crawl began")
    except Exception as error:  # noqa: BLE001 - the process that waits for the answer raises it
        failure = FreshetError(f"the crawl failed: {type(error).__name__}: {error}")
        failure.add_note(traceback.format_exc())
        answer = failure
    connection.send(answer)


def _await_stop(connection: Connection) -> None:
    """End the crawl in order on request, or when the calling process dies."""
    with suppress(EOFError, OSError):
        connection.recv()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    serve_crawl(Connection(int(sys.argv[1])))
