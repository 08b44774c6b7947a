"""Learn, from a trace, the formula by which a crawl ranks its pages.

Santos et al. 2015, sections 4 and 5.2: formulas are bred on some pages, the best of all generations
and seeds are tried on others, and the one that is chosen is tested on pages that no search saw.
What is found depends on the seed alone, not on how many formulas are tried at once.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from freshet.backtest.gpu.device import Device, open_device
from freshet.backtest.trace import Trace
from freshet.core.errors import NoSpace, UsageError
from freshet.learning.evolve import checkpoint as checkpoints
from freshet.learning.evolve.checkpoint import Journey
from freshet.learning.evolve.checkpoint_lock import held
from freshet.learning.evolve.fold_evaluator import Ground, Searched, searched, shares_of
from freshet.learning.evolve.genetic_search import Stand
from freshet.learning.evolve.result import Evolved, Found, result, tested
from freshet.learning.evolve.task import ESTIMATES, MEASURES, Estimates, Task, check
from freshet.schedule.model_file import is_model_path, may_be_written

__all__ = [
    "ESTIMATES",
    "MEASURES",
    "Estimates",
    "Evolved",
    "Files",
    "Found",
    "Searched",
    "Step",
    "Task",
    "check",
    "check_files",
    "evolve",
    "searched",
]


@dataclass(frozen=True, slots=True)
class Files:
    """Where the model goes, and where an evolution that is under way is kept."""

    model: Path
    checkpoint: Path
    resume: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """How far an evolution has come: ``done`` of ``total`` steps, and what is best so far.

    A step is a generation. When all searches are over, the test of each fold's choice is a step
    too: that of the search that found it, after its last generation.
    """

    fold: int
    seed: int
    generation: int
    best: float
    done: int
    total: int
    is_test: bool = False


Watch = Callable[[Step], None]


def evolve(
    trace: Trace,
    task: Task,
    *,
    files: Files | None = None,
    workers: int = 1,
    device: str = "cpu",
    watch: Watch = lambda step: None,
) -> Evolved:
    """Learn a formula from a trace and save it; after a stop it goes on where it was.

    On the device ``cpu`` every formula is tried by itself, on ``cuda`` many at once; ``arrays`` is
    what a GPU does, done by numpy.
    """
    check(task)
    opened = _opened(device, task)
    shares = [shares_of(trace, task, fold) for fold in range(max(1, task.folds))]
    if files is not None:
        check_files(files)
    folds = []
    with held(files.checkpoint if files else None), _pool(workers) as pool:
        log = _Log(trace, task, files, device)
        for fold, share in enumerate(shares):
            _Fold(fold, task, Ground(trace, task, share, pool, opened)).search(log, watch)
        for fold, share in enumerate(shares):
            folds.append(tested(trace, task, share, log.searches(fold), pool))
            watch(_test_step(task, fold, folds[-1].by.seed, folds[-1].choice.training))
        evolved = result(trace, task, shares, folds)
        if files is not None:
            evolved.model.save(files.model)
            files.checkpoint.unlink(missing_ok=True)
    return evolved


def _opened(device: str, task: Task) -> Device | None:
    """Return a device that tries formulas at once; None where the processor tries each."""
    if device == "cpu":
        return None
    if task.terminals == "extended":
        raise UsageError(f"device {device!r} tries no extended names; use the device cpu")
    return open_device("cpu" if device == "arrays" else device)


def check_files(files: Files) -> None:
    """Refuse, before the work and not after it, files that could not be written."""
    if not is_model_path(str(files.model)):
        raise UsageError(f"{files.model}: the name of a model file ends in .json; call it so")
    if files.model.resolve() == files.checkpoint.resolve():
        raise UsageError(
            f"{files.checkpoint}: the checkpoint goes when the model is written, and cannot be the "
            "same file; give another --checkpoint"
        )
    for path in (files.model, files.checkpoint):
        _require_writable(path)
    if not may_be_written(files.model):
        raise UsageError(f"{files.model}: is there already and is no model; give another --out")
    with held(files.checkpoint):
        pass
    if files.checkpoint.exists() and not files.resume:
        raise UsageError(
            f"{files.checkpoint}: an evolution was stopped here; go on with --resume, or delete it"
        )


def _require_writable(path: Path) -> None:
    trying = path.with_name(f".{path.name}.trying")
    try:
        if path.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        trying.touch()
        trying.unlink()
    except OSError as error:
        raise NoSpace(f"{path}: cannot be written ({error.strerror}); choose another") from error


@contextmanager
def _pool(workers: int) -> Iterator[Executor]:
    """Give threads; what is left to do when something goes wrong is not done."""
    pool = ThreadPoolExecutor(max(1, workers), thread_name_prefix="evolve")
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


class _Log:
    """How far an evolution has come, in a file where there is one."""

    def __init__(self, trace: Trace, task: Task, files: Files | None, device: str) -> None:
        self._path = files.checkpoint if files else None
        self._purpose = checkpoints.purpose_of(trace, task, device)
        self.journey = Journey()
        if files is not None and files.resume:
            self.journey = checkpoints.read(files.checkpoint, self._purpose, task)

    def note(self, journey: Journey) -> None:
        """Keep how far it has come."""
        self.journey = journey
        if self._path is not None:
            checkpoints.write(self._path, self._purpose, journey)

    def searches(self, fold: int) -> list[Searched]:
        """Return the searches of a fold that are over."""
        return [each for each in self.journey.over if each.fold == fold]


class _Fold:
    """The searches of one fold, a seed each."""

    def __init__(self, number: int, task: Task, ground: Ground) -> None:
        self._number = number
        self._task = task
        self._ground = ground

    def search(self, log: _Log, watch: Watch) -> None:
        """Run every search that is not over yet."""
        over = {each.seed for each in log.searches(self._number)}
        for seed in range(self._task.seed, self._task.seed + self._task.seeds):
            if seed not in over:
                self._search(seed, log, watch)

    def _search(self, seed: int, log: _Log, watch: Watch) -> None:
        for stand in self._ground.stands(seed, log.journey.under_way):
            is_last = stand.generation + 1 >= self._task.ways.generations
            journey = log.journey
            if is_last:
                over = Searched(self._number, seed, self._ground.judged(stand))
                journey = Journey((*journey.over, over))
            else:
                journey = replace(journey, under_way=stand)
            log.note(journey)
            watch(self._step(seed, stand))

    def _step(self, seed: int, stand: Stand) -> Step:
        task, generation = self._task, stand.generation + 1
        before = self._number * task.seeds + seed - task.seed
        return Step(
            fold=self._number + 1,
            seed=seed,
            generation=generation,
            best=stand.best[0].fitness,
            done=before * task.ways.generations + generation,
            total=_steps(task),
        )


def _test_step(task: Task, fold: int, seed: int, best: float) -> Step:
    total = _steps(task)
    done = total - max(1, task.folds) + fold + 1
    return Step(fold + 1, seed, task.ways.generations, best, done, total, is_test=True)


def _steps(task: Task) -> int:
    """Return how many steps an evolution has: its generations, and a test of every fold."""
    return max(1, task.folds) * (task.seeds * task.ways.generations + 1)
