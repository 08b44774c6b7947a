"""Map a function over batches on one machine, in this process or in several."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from types import TracebackType
from typing import Self

from freshet.core.errors import FreshetError, UsageError
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.engine.result_cache import Columns, ResultCache
from freshet.engine.worker import BatchFunction, BatchResult, run_batch

WORKER_MODULE = "freshet.engine.worker"
BATCHES_PER_PROCESS = 2
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
}
NumberedBatch = tuple[int, Columns]


class LocalEngine:
    """Maps a function over batches in worker processes; one process means this process.

    At most two batches for each process are in memory, finished or not.
    """

    def __init__(self, processes: int = 0) -> None:
        self.processes = processes or _available_cores()

    def map(
        self,
        function: BatchFunction,
        batches: Iterable[Columns],
        *,
        cache: ResultCache | None = None,
        total: int = 0,
        progress: ProgressCallback = ignore_progress,
    ) -> Iterator[Columns]:
        """Yield the result of every batch, in the order of the batches.

        Batches are drawn as they are needed. With ``cache``, results of finished batches are read
        from it and written to it.
        """
        if self.processes > 1 and function.__module__ == "__main__":
            raise UsageError(f"{function} is in the script itself; put it into a module to import")
        run = _map_here if self.processes == 1 else self._map_in_workers
        for done, result in enumerate(run(function, enumerate(batches, 1), cache), 1):
            progress(done, max(done, total))
            yield result

    def _map_in_workers(
        self, function: BatchFunction, tasks: Iterator[NumberedBatch], cache: ResultCache | None
    ) -> Iterator[Columns]:
        next_number, finished = 1, dict[int, Columns]()
        with _WorkerPool(function, self.processes) as pool:
            while self._hand_out(pool, tasks, finished, cache) or pool.busy or finished:
                if pool.busy and next_number not in finished:
                    number, batch, result = pool.receive()
                    finished[number] = _checked(cache, batch, result)
                while next_number in finished:
                    yield finished.pop(next_number)
                    next_number += 1

    def _hand_out(
        self,
        pool: "_WorkerPool",
        tasks: Iterator[NumberedBatch],
        finished: dict[int, Columns],
        cache: ResultCache | None,
    ) -> bool:
        """Hand out batches while a worker is free; return whether there was any."""
        has_batch = False
        while pool.has_room and len(pool.busy) + len(finished) < (
            BATCHES_PER_PROCESS * self.processes
        ):
            task = next(tasks, None)
            if task is None:
                break
            number, batch = task
            has_batch = True
            cached = cache.get(batch) if cache else None
            if cached is None:
                pool.send(number, batch)
            else:
                finished[number] = cached
        return has_batch


def _available_cores() -> int:
    """Return the number of cores that this process may use, or that the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _map_here(
    function: BatchFunction, tasks: Iterator[NumberedBatch], cache: ResultCache | None
) -> Iterator[Columns]:
    for number, batch in tasks:
        cached = cache.get(batch) if cache else None
        if cached is None:
            yield _checked(cache, batch, run_batch(function, number, batch))
        else:
            yield cached


def _checked(cache: ResultCache | None, batch: Columns, result: BatchResult) -> Columns:
    """Return a result and put it into the cache; raise it where it is an error."""
    if isinstance(result, FreshetError):
        raise result
    if cache:
        cache.put(batch, result)
    return result


@dataclass(frozen=True, slots=True)
class _WorkerProcess:
    """A worker process and the connection to it."""

    process: subprocess.Popen[bytes]
    connection: Connection


class _WorkerPool:
    """Worker processes that are started when they are needed, and ended together."""

    def __init__(self, function: BatchFunction, size: int) -> None:
        self.busy: dict[Connection, tuple[_WorkerProcess, NumberedBatch]] = {}
        self._function = function
        self._size = size
        self._idle: list[_WorkerProcess] = []

    @property
    def has_room(self) -> bool:
        """Whether another batch can be handed out."""
        return len(self.busy) < self._size

    def send(self, number: int, batch: Columns) -> None:
        """Give a batch to an idle worker, or to a new one."""
        worker = self._idle.pop() if self._idle else _start_worker(self._function)
        self.busy[worker.connection] = (worker, (number, batch))
        try:
            worker.connection.send((number, batch))
        except (BrokenPipeError, ConnectionResetError):
            raise _worker_error(worker, number) from None

    def receive(self) -> tuple[int, Columns, BatchResult]:
        """Wait for a result, and return it with its batch."""
        connection = wait(self.busy)[0]
        worker, (number, batch) = self.busy[connection]  # type: ignore[index]
        try:
            result: BatchResult = worker.connection.recv()
        except (EOFError, ConnectionResetError):
            raise _worker_error(worker, number) from None
        del self.busy[worker.connection]
        self._idle.append(worker)
        return number, batch, result

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        workers = [*self._idle, *(worker for worker, _ in self.busy.values())]
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.process.wait()
            worker.connection.close()


def _start_worker(function: BatchFunction) -> _WorkerProcess:
    """Start a worker in its own session, so that Ctrl-C reaches only this process."""
    ours, theirs = Pipe()
    handle = theirs.fileno()
    process = subprocess.Popen(
        [sys.executable, "-m", WORKER_MODULE, str(handle)],
        pass_fds=(handle,),
        env=os.environ | ONE_THREAD,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
    )
    theirs.close()
    ours.send(sys.path)
    ours.send(function)
    return _WorkerProcess(process, ours)


def _worker_error(worker: _WorkerProcess, number: int) -> FreshetError:
    code = worker.process.wait()
    how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
    return FreshetError(
        f"batch {number}: the process that worked on it {how}; with too little memory try fewer"
        " processes, and run it again: finished batches are kept where a folder was given"
    )
