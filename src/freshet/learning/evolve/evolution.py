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

from freshet.backtest.gpu.device import ArrayDevice, open_device
from freshet.backtest.trace import Trace
from freshet.core.errors import NoSpaceError, UsageError
from freshet.learning.evolve import checkpoint as checkpoints
from freshet.learning.evolve.checkpoint import EvolutionCheckpoint
from freshet.learning.evolve.checkpoint_lock import lock_checkpoint
from freshet.learning.evolve.fold_evaluator import (
    FinishedSearch,
    FoldEvaluator,
    run_search,
    split_fold,
)
from freshet.learning.evolve.genetic_search import Generation
from freshet.learning.evolve.result import (
    EvolutionResult,
    SearchResult,
    combine_folds,
    evaluate_fold,
)
from freshet.learning.evolve.task import (
    ESTIMATE_KINDS,
    FITNESS_MEASURES,
    EstimateKind,
    EvolutionTask,
    check_task,
)
from freshet.schedule.model_file import is_model_path, may_replace_model

__all__ = [
    "ESTIMATE_KINDS",
    "FITNESS_MEASURES",
    "EstimateKind",
    "EvolutionFiles",
    "EvolutionProgress",
    "EvolutionResult",
    "EvolutionTask",
    "FinishedSearch",
    "SearchResult",
    "check_output_files",
    "check_task",
    "evolve",
    "run_search",
]


@dataclass(frozen=True, slots=True)
class EvolutionFiles:
    """Where the model goes, and where an evolution that is under way is kept."""

    model_path: Path
    checkpoint_path: Path
    resume: bool = False


@dataclass(frozen=True, slots=True)
class EvolutionProgress:
    """How far an evolution has come: ``steps_done`` of ``steps_total`` steps, and what is best so far.

    A step is a generation. When all searches are over, the test of each fold's choice is a step
    too: that of the search that found it, after its last generation.
    """

    fold: int
    seed: int
    generation: int
    best_fitness: float
    steps_done: int
    steps_total: int
    is_test: bool = False


EvolutionCallback = Callable[[EvolutionProgress], None]


def evolve(
    trace: Trace,
    task: EvolutionTask,
    *,
    files: EvolutionFiles | None = None,
    workers: int = 1,
    device: str = "cpu",
    watch: EvolutionCallback = lambda step: None,
) -> EvolutionResult:
    """Learn a formula from a trace and save it; after a stop it goes on where it was.

    On the device ``cpu`` every formula is tried by itself, on ``cuda`` many at once; ``arrays`` is
    what a GPU does, done by numpy.
    """
    check_task(task)
    opened = _opened(device, task)
    shares = [split_fold(trace, task, fold) for fold in range(max(1, task.folds))]
    if files is not None:
        check_output_files(files)
    folds = []
    with lock_checkpoint(files.checkpoint_path if files else None), _pool(workers) as pool:
        log = _CheckpointLog(trace, task, files, device)
        for fold, share in enumerate(shares):
            _FoldSearch(fold, task, FoldEvaluator(trace, task, share, pool, opened)).search(
                log, watch
            )
        for fold, share in enumerate(shares):
            folds.append(evaluate_fold(trace, task, share, log.searches(fold), pool))
            watch(_test_step(task, fold, folds[-1].search.seed, folds[-1].choice.training))
        evolved = combine_folds(trace, task, shares, folds)
        if files is not None:
            evolved.model.save(files.model_path)
            files.checkpoint_path.unlink(missing_ok=True)
    return evolved


def _opened(device: str, task: EvolutionTask) -> ArrayDevice | None:
    """Return a device that tries formulas at once; None where the processor tries each."""
    if device == "cpu":
        return None
    if task.terminals == "extended":
        raise UsageError(f"device {device!r} tries no extended names; use the device cpu")
    return open_device("cpu" if device == "arrays" else device)


def check_output_files(files: EvolutionFiles) -> None:
    """Refuse, before the work and not after it, files that could not be written."""
    if not is_model_path(str(files.model_path)):
        raise UsageError(f"{files.model_path}: the name of a model file ends in .json; call it so")
    if files.model_path.resolve() == files.checkpoint_path.resolve():
        raise UsageError(
            f"{files.checkpoint_path}: the checkpoint goes when the model is written, and cannot be the "
            "same file; give another --checkpoint"
        )
    for path in (files.model_path, files.checkpoint_path):
        _require_writable(path)
    if not may_replace_model(files.model_path):
        raise UsageError(
            f"{files.model_path}: is there already and is no model; give another --out"
        )
    with lock_checkpoint(files.checkpoint_path):
        pass
    if files.checkpoint_path.exists() and not files.resume:
        raise UsageError(
            f"{files.checkpoint_path}: an evolution was stopped here; go on with --resume, or delete it"
        )


def _require_writable(path: Path) -> None:
    trying = path.with_name(f".{path.name}.trying")
    try:
        if path.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        trying.touch()
        trying.unlink()
    except OSError as error:
        raise NoSpaceError(
            f"{path}: cannot be written ({error.strerror}); choose another"
        ) from error


@contextmanager
def _pool(workers: int) -> Iterator[Executor]:
    """Give threads; what is left to do when something goes wrong is not done."""
    pool = ThreadPoolExecutor(max(1, workers), thread_name_prefix="evolve")
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


class _CheckpointLog:
    """How far an evolution has come, in a file where there is one."""

    def __init__(
        self, trace: Trace, task: EvolutionTask, files: EvolutionFiles | None, device: str
    ) -> None:
        self._path = files.checkpoint_path if files else None
        self._purpose = checkpoints.evolution_purpose(trace, task, device)
        self.checkpoint = EvolutionCheckpoint()
        if files is not None and files.resume:
            self.checkpoint = checkpoints.read_checkpoint(
                files.checkpoint_path, self._purpose, task
            )

    def save(self, journey: EvolutionCheckpoint) -> None:
        """Keep how far it has come."""
        self.checkpoint = journey
        if self._path is not None:
            checkpoints.write_checkpoint(self._path, self._purpose, journey)

    def searches(self, fold: int) -> list[FinishedSearch]:
        """Return the searches of a fold that are over."""
        return [each for each in self.checkpoint.finished_searches if each.fold == fold]


class _FoldSearch:
    """The searches of one fold, a seed each."""

    def __init__(self, number: int, task: EvolutionTask, ground: FoldEvaluator) -> None:
        self._number = number
        self._task = task
        self._ground = ground

    def search(self, log: _CheckpointLog, watch: EvolutionCallback) -> None:
        """Run every search that is not over yet."""
        over = {each.seed for each in log.searches(self._number)}
        for seed in range(self._task.seed, self._task.seed + self._task.seeds):
            if seed not in over:
                self._search(seed, log, watch)

    def _search(self, seed: int, log: _CheckpointLog, watch: EvolutionCallback) -> None:
        for stand in self._ground.generations(seed, log.checkpoint.current_generation):
            is_last = stand.number + 1 >= self._task.ways.generations
            journey = log.checkpoint
            if is_last:
                over = FinishedSearch(self._number, seed, self._ground.validate(stand))
                journey = EvolutionCheckpoint((*journey.finished_searches, over))
            else:
                journey = replace(journey, current_generation=stand)
            log.save(journey)
            watch(self._step(seed, stand))

    def _step(self, seed: int, stand: Generation) -> EvolutionProgress:
        task, generation = self._task, stand.number + 1
        before = self._number * task.seeds + seed - task.seed
        return EvolutionProgress(
            fold=self._number + 1,
            seed=seed,
            generation=generation,
            best_fitness=stand.best[0].fitness,
            steps_done=before * task.ways.generations + generation,
            steps_total=_steps(task),
        )


def _test_step(task: EvolutionTask, fold: int, seed: int, best: float) -> EvolutionProgress:
    total = _steps(task)
    done = total - max(1, task.folds) + fold + 1
    return EvolutionProgress(fold + 1, seed, task.ways.generations, best, done, total, is_test=True)


def _steps(task: EvolutionTask) -> int:
    """Return how many steps an evolution has: its generations, and a test of every fold."""
    return max(1, task.folds) * (task.seeds * task.ways.generations + 1)
