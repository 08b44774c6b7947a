"""Work on one machine: in this process, or in several with a core each."""

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
from freshet.engine.base import BatchFunction
from freshet.engine.result_cache import Columns, ResultCache
from freshet.engine.worker import BatchResult, run_batch

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
    """Maps work over batches in processes of this machine; one process means this one.

    No more than two batches a process are held, done or not.
    """

    def __init__(self, processes: int = 0) -> None:
        self.processes = processes or _cores()

    def map(
        self,
        function: BatchFunction,
        batches: Iterable[Columns],
        *,
        cache: ResultCache | None = None,
        total: int = 0,
        progress: ProgressCallback = ignore_progress,
    ) -> Iterator[Columns]:
        """Yield the result of every batch, in the order of the batches."""
        if self.processes > 1 and function.__module__ == "__main__":
            raise UsageError(f"{function} is in the script itself; put it into a module to import")
        run = _here if self.processes == 1 else self._beside
        for done, result in enumerate(run(function, enumerate(batches, 1), cache), 1):
            progress(done, max(done, total))
            yield result

    def _beside(
        self, work: BatchFunction, tasks: Iterator[NumberedBatch], kept: ResultCache | None
    ) -> Iterator[Columns]:
        due, done = 1, dict[int, Columns]()
        with _WorkerPool(work, self.processes) as crew:
            while self._hand_out(crew, tasks, done, kept) or crew.busy or done:
                if crew.busy and due not in done:
                    number, batch, found = crew.take()
                    done[number] = _keep(kept, batch, found)
                while due in done:
                    yield done.pop(due)
                    due += 1

    def _hand_out(
        self,
        crew: "_WorkerPool",
        tasks: Iterator[NumberedBatch],
        done: dict[int, Columns],
        kept: ResultCache | None,
    ) -> bool:
        """Give out batches while anybody is free; return whether any was left."""
        handed = False
        while crew.free and len(crew.busy) + len(done) < BATCHES_PER_PROCESS * self.processes:
            task = next(tasks, None)
            if task is None:
                break
            found, handed = _find(kept, task[1]), True
            if found is None:
                crew.give(*task)
            else:
                done[task[0]] = found
        return handed


def _cores() -> int:
    """Return how many cores this process may use; not every system tells apart what it has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _here(
    work: BatchFunction, tasks: Iterator[NumberedBatch], kept: ResultCache | None
) -> Iterator[Columns]:
    for number, batch in tasks:
        found = _find(kept, batch)
        yield _keep(kept, batch, run_batch(work, number, batch)) if found is None else found


def _find(kept: ResultCache | None, batch: Columns) -> Columns | None:
    return kept.get(batch) if kept else None


def _keep(kept: ResultCache | None, batch: Columns, found: BatchResult) -> Columns:
    if isinstance(found, FreshetError):
        raise found
    if kept:
        kept.put(batch, found)
    return found


@dataclass(frozen=True, slots=True)
class _WorkerProcess:
    """A process, and the connection to it."""

    process: subprocess.Popen[bytes]
    desk: Connection


class _WorkerPool:
    """Processes that are started when they are needed, and ended together."""

    def __init__(self, work: BatchFunction, size: int) -> None:
        self.busy: dict[Connection, tuple[_WorkerProcess, NumberedBatch]] = {}
        self._work = work
        self._size = size
        self._idle: list[_WorkerProcess] = []

    @property
    def free(self) -> bool:
        """Whether a batch can be given out."""
        return len(self.busy) < self._size

    def give(self, number: int, batch: Columns) -> None:
        """Let somebody work on a batch."""
        worker = self._idle.pop() if self._idle else _start(self._work)
        self.busy[worker.desk] = (worker, (number, batch))
        try:
            worker.desk.send((number, batch))
        except (BrokenPipeError, ConnectionResetError):
            raise _died(worker, number) from None

    def take(self) -> tuple[int, Columns, BatchResult]:
        """Wait for an answer, and return it with the batch that it belongs to."""
        desk = wait(self.busy)[0]
        worker, (number, batch) = self.busy[desk]  # type: ignore[index]
        try:
            found: BatchResult = worker.desk.recv()
        except (EOFError, ConnectionResetError):
            raise _died(worker, number) from None
        del self.busy[worker.desk]
        self._idle.append(worker)
        return number, batch, found

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
            worker.desk.close()


def _start(work: BatchFunction) -> _WorkerProcess:
    """Start a process of its own session, so that a Ctrl-C reaches only the one that waits."""
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
    ours.send(work)
    return _WorkerProcess(process, ours)


def _died(worker: _WorkerProcess, number: int) -> FreshetError:
    code = worker.process.wait()
    how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
    return FreshetError(
        f"batch {number}: the process that worked on it {how}; with too little memory try fewer"
        " processes, and run it again: finished batches are kept where a folder was given"
    )
