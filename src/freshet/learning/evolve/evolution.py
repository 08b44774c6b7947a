"""Learning, from a trace, the formula by which a crawl ranks its pages.

Santos et al. 2015, sections 4 and 5.2: formulas are bred on training pages, the best of all
generations and seeds are evaluated on validation pages, and the selected one is tested on pages
that no search used. The result depends on the seed alone, not on the number of threads.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from freshet.backtest.devices import open_device
from freshet.backtest.fitness import parse_fitness
from freshet.backtest.trace import Trace
from freshet.core.errors import NoSpaceError, UsageError
from freshet.learning.evolve.checkpoint import (
    EvolutionCheckpoint,
    evolution_purpose,
    read_checkpoint,
    write_checkpoint,
)
from freshet.learning.evolve.checkpoint_lock import lock_checkpoint
from freshet.learning.evolve.fold_evaluator import (
    FinishedSearch,
    FoldEvaluator,
    split_fold,
)
from freshet.learning.evolve.genetic_search import Generation
from freshet.learning.evolve.result import (
    EvolutionResult,
    FoldResult,
    combine_folds,
    evaluate_fold,
)
from freshet.learning.evolve.task import (
    EvolutionTask,
    check_task,
)
from freshet.schedule.model_file import is_model_path, may_replace_model

if TYPE_CHECKING:
    from freshet.backtest.gpu.device import ArrayDevice


@dataclass(frozen=True, slots=True)
class EvolutionFiles:
    """The path of the model, and of the checkpoint while the evolution runs."""

    model_path: Path
    checkpoint_path: Path
    resume: bool = False


@dataclass(frozen=True, slots=True)
class EvolutionProgress:
    """The progress of an evolution: steps done of all steps, and the best fitness so far.

    A step is a generation. After all searches, the test of each fold's formula is a step too; it
    has the seed and the last generation of the search that found the formula.
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
    on_progress: EvolutionCallback = lambda progress: None,
) -> EvolutionResult:
    """Learn a formula from a trace and save it as a model; a stopped evolution can be resumed.

    The device ``cpu`` evaluates formulas one by one on threads, ``cuda`` many at once on a GPU,
    those of all seeds of a fold together; ``arrays`` runs the code of the GPU on numpy.
    """
    check_task(task)
    array_device = _open_array_device(device, task)
    splits = [split_fold(trace, task, fold) for fold in range(max(1, task.folds))]
    if files is not None:
        check_output_files(files)
    folds = []
    with lock_checkpoint(files.checkpoint_path if files else None), _thread_pool(workers) as pool:
        log = _CheckpointLog(trace, task, files, device)
        for fold, split in enumerate(splits):
            evaluator = FoldEvaluator(trace, task, split, pool, array_device)
            side_by_side = task.seeds if array_device else 1
            _FoldSearch(fold, task, evaluator, side_by_side).search(log, on_progress)
        for fold, split in enumerate(splits):
            folds.append(evaluate_fold(trace, task, split, log.searches(fold), pool))
            on_progress(_test_progress(task, fold, folds[-1]))
        result = combine_folds(trace, task, splits, folds)
        if files is not None:
            result.model.save(files.model_path)
            files.checkpoint_path.unlink(missing_ok=True)
    return result


def _open_array_device(device: str, task: EvolutionTask) -> "ArrayDevice | None":
    """Return the device that evaluates many formulas at once, None for ``cpu``."""
    if device == "cpu":
        return None
    if task.terminals == "extended":
        raise UsageError(f"device {device!r} does not support extended names; use the device cpu")
    if parse_fitness(task.measure).needs_pages:
        raise UsageError(
            f"device {device!r} does not support the fitness {task.measure}; use the device cpu"
        )
    return open_device("cpu" if device == "arrays" else device)


def check_output_files(files: EvolutionFiles) -> None:
    """Refuse files that could not be written, before the work begins."""
    if not is_model_path(str(files.model_path)):
        raise UsageError(
            f"{files.model_path}: the name of a model file must end in .json; rename it"
        )
    if files.model_path.resolve() == files.checkpoint_path.resolve():
        raise UsageError(
            f"{files.checkpoint_path}: the checkpoint is deleted when the model is written, so it "
            "cannot be the same file; give another --checkpoint"
        )
    for path in (files.model_path, files.checkpoint_path):
        _require_writable(path)
    if not may_replace_model(files.model_path):
        raise UsageError(f"{files.model_path}: exists and is not a model; give another --out")
    with lock_checkpoint(files.checkpoint_path):
        pass
    if files.checkpoint_path.exists() and not files.resume:
        raise UsageError(
            f"{files.checkpoint_path}: the checkpoint of a stopped evolution; continue it with "
            "--resume, or delete the file"
        )


def _require_writable(path: Path) -> None:
    probe = path.with_name(f".{path.name}.trying")
    try:
        if path.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise NoSpaceError(
            f"{path}: cannot be written ({error.strerror}); choose another"
        ) from error


@contextmanager
def _thread_pool(workers: int) -> Iterator[Executor]:
    """Yield a pool of threads; an error cancels the calls that have not begun."""
    pool = ThreadPoolExecutor(max(1, workers), thread_name_prefix="evolve")
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


class _CheckpointLog:
    """The checkpoint of an evolution, written to a file if there is one."""

    def __init__(
        self, trace: Trace, task: EvolutionTask, files: EvolutionFiles | None, device: str
    ) -> None:
        self._path = files.checkpoint_path if files else None
        self._purpose = evolution_purpose(trace, task, device)
        self.checkpoint = EvolutionCheckpoint()
        if files is not None and files.resume:
            self.checkpoint = read_checkpoint(files.checkpoint_path, self._purpose, task)

    def save(self, checkpoint: EvolutionCheckpoint) -> None:
        """Replace the checkpoint."""
        self.checkpoint = checkpoint
        if self._path is not None:
            write_checkpoint(self._path, self._purpose, checkpoint)

    def searches(self, fold: int) -> list[FinishedSearch]:
        """Return the finished searches of a fold."""
        return [search for search in self.checkpoint.finished_searches if search.fold == fold]


class _FoldSearch:
    """The searches of one fold, one per seed, so many of them side by side."""

    def __init__(
        self, fold: int, task: EvolutionTask, evaluator: FoldEvaluator, side_by_side: int
    ) -> None:
        self._side_by_side = side_by_side
        self._fold = fold
        self._task = task
        self._evaluator = evaluator

    def search(self, log: _CheckpointLog, on_progress: EvolutionCallback) -> None:
        """Run every search that is not finished yet."""
        finished_seeds = {search.seed for search in log.searches(self._fold)}
        first, seeds = self._task.seed, self._task.seeds
        for start in range(first, first + seeds, self._side_by_side):
            if start not in finished_seeds:
                self._search(range(start, start + self._side_by_side), log, on_progress)

    def _search(
        self, seeds: Sequence[int], log: _CheckpointLog, on_progress: EvolutionCallback
    ) -> None:
        lasts = log.checkpoint.current_generations
        for generations in self._evaluator.generations(seeds, lasts):
            checkpoint = replace(log.checkpoint, current_generations=generations)
            if generations[0].number + 1 >= self._task.config.generations:
                searches = [
                    FinishedSearch(self._fold, seed, formulas)
                    for seed, formulas in zip(
                        seeds, self._evaluator.validate(generations), strict=True
                    )
                ]
                checkpoint = EvolutionCheckpoint((*checkpoint.finished_searches, *searches))
            log.save(checkpoint)
            on_progress(self._progress(seeds, generations))

    def _progress(
        self, seeds: Sequence[int], generations: Sequence[Generation]
    ) -> EvolutionProgress:
        """Return the progress of searches; of several, the best one is named."""
        task, generations_done = self._task, generations[0].number + 1
        searches_before = self._fold * task.seeds + seeds[0] - task.seed
        best = max(range(len(seeds)), key=lambda index: generations[index].best[0].fitness)
        return EvolutionProgress(
            fold=self._fold + 1,
            seed=seeds[best],
            generation=generations_done,
            best_fitness=generations[best].best[0].fitness,
            steps_done=searches_before * task.config.generations + len(seeds) * generations_done,
            steps_total=_step_count(task),
        )


def _test_progress(task: EvolutionTask, fold: int, result: FoldResult) -> EvolutionProgress:
    """Return the progress after the test of a fold's formula."""
    total = _step_count(task)
    return EvolutionProgress(
        fold=fold + 1,
        seed=result.search.seed,
        generation=task.config.generations,
        best_fitness=result.choice.training,
        steps_done=total - max(1, task.folds) + fold + 1,
        steps_total=total,
        is_test=True,
    )


def _step_count(task: EvolutionTask) -> int:
    """Return the number of steps of an evolution: its generations, and a test per fold."""
    return max(1, task.folds) * (task.seeds * task.config.generations + 1)
