"""Learn, from a trace, the formula by which a crawl ranks its pages.

Santos et al. 2015, sections 4 and 5.2: formulas are bred on some pages, the best of all generations
and seeds are tried on others, and the one that is chosen is tested on pages that no search saw.
What is found depends on the seed alone, not on how many formulas are tried at once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from freshet.core.errors import BadInput, NoSpace, UsageError
from freshet.core.formula import Formula
from freshet.core.ranking.known import Clock
from freshet.flow.evolve import checkpoints
from freshet.flow.evolve.checkpoints import Journey, Searched
from freshet.flow.evolve.standings import Place, places, standings
from freshet.flow.evolve.trials import Trial
from freshet.flow.models import Model, Standing, is_model_path
from freshet.schedule.evolve.chances import written_out
from freshet.schedule.evolve.search import Search, Stand, Ways
from freshet.schedule.evolve.select import SELECTIONS, Judged, Selection, chosen
from freshet.schedule.evolve.trees import Language
from freshet.schedule.policies import Ranking
from freshet.schedule.ranked import NAMES
from freshet.simulate.arrays.device import Device, open_device
from freshet.simulate.fitness import Measure
from freshet.simulate.folds import FOLDS, Shares, halved, shared_out
from freshet.simulate.loop import WARM_UP
from freshet.simulate.trace import Trace

Terminals = Literal["basic", "all", "extended"]
Estimates = Literal["rates", "chances"]

ESTIMATES: tuple[Estimates, ...] = ("rates", "chances")
MEASURES: tuple[Measure, ...] = ("ndcg", "changerate")


@dataclass(frozen=True, slots=True)
class Task:
    """What to learn, and how.

    ``estimates`` says what NAD to GAD stand for while formulas are bred: rates of change, or the
    chances that follow from them. ``folds`` says how many of the five folds have their turn as the
    test; 0 is none: then all pages are for training and validation, and the place is taken on the
    pages for validation.
    """

    terminals: Terminals = "all"
    estimates: Estimates = "rates"
    measure: Measure = "ndcg"
    budget: float = 0.05
    clock: Clock = "visit"
    selection: Selection = "best"
    seed: int = 1
    seeds: int = 5
    folds: int = 1
    ways: Ways = field(default_factory=Ways)

    @property
    def names(self) -> tuple[str, ...]:
        """Return what formulas may know of a page."""
        return NAMES[self.terminals]

    @property
    def first(self) -> tuple[Formula, ...]:
        """Return what a search begins with: names that are good formulas by themselves."""
        return tuple(Formula((name,)) for name in self.names if self.terminals == "extended")

    def written_out(self, formula: Formula) -> Formula:
        """Return a bred formula as others read it, every estimate a rate."""
        return written_out(formula) if self.estimates == "chances" else formula


@dataclass(frozen=True, slots=True)
class Files:
    """Where the model goes, and where an evolution that is under way is kept."""

    model: Path
    checkpoint: Path
    resume: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """How far an evolution has come: ``done`` of ``total`` generations, and what is best so far."""

    fold: int
    seed: int
    generation: int
    best: float
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Found:
    """The formula chosen from one search, and its fitness on the pages for each use."""

    fold: int
    seed: int
    formula: Formula
    training: float
    validation: float
    test: float | None


@dataclass(frozen=True, slots=True)
class Evolved:
    """What was learnt: the model, what each search found, and the model's place among the rules.

    ``training``, ``validation`` and ``test`` count the pages of the model's fold.
    """

    model: Model
    searches: tuple[Found, ...]
    places: tuple[Place, ...]
    training: int
    validation: int
    test: int


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
    """Learn a formula from a trace and save it; after a stop it goes on where it was."""
    check(task)
    graphics = _opened(device, task)
    shares = [_shares(trace, task, fold) for fold in range(max(1, task.folds))]
    log = _Log(trace, task, files)
    with _pool(workers) as pool:
        for fold, share in enumerate(shares):
            trials = _trials(trace, task, share, graphics)
            _Fold(fold, task, trials, pool).search(log, watch)
        evolved = _result(trace, task, shares, log.journey.over)
    if files is not None:
        evolved.model.save(files.model)
        files.checkpoint.unlink(missing_ok=True)
    return evolved


def check(task: Task) -> None:
    """Refuse what cannot be learnt."""
    _require(task.terminals in NAMES, f"terminals {task.terminals!r}", " or ".join(NAMES))
    _require(task.estimates in ESTIMATES, f"estimates {task.estimates!r}", " or ".join(ESTIMATES))
    _require(task.measure in MEASURES, f"fitness {task.measure!r}", " or ".join(MEASURES))
    _require(task.selection in SELECTIONS, f"selection {task.selection!r}", " or ".join(SELECTIONS))
    _require(0 < task.budget <= 1, f"budget {task.budget:.4g}", "above 0 and at most 1")
    _require(0 <= task.folds <= FOLDS, f"{task.folds} folds", f"from 0 to {FOLDS}")
    _require(task.seeds >= 1, f"{task.seeds} seeds", "at least 1")
    _require(task.ways.population >= 2, f"population {task.ways.population}", "at least 2")
    _require(task.ways.generations >= 1, f"{task.ways.generations} generations", "at least 1")
    _require(task.ways.kept >= 1, f"{task.ways.kept} kept formulas", "at least 1")


def _opened(device: str, task: Task) -> Device | None:
    """Return a device that tries formulas at once; None where the processor tries each."""
    if device == "cpu":
        return None
    if task.terminals == "extended":
        raise UsageError(f"device {device!r} tries no extended names; use the device cpu")
    return open_device(device)


def _require(holds: bool, what: str, wanted: str) -> None:
    if not holds:
        raise UsageError(f"{what}: it must be {wanted}")


def check_files(files: Files) -> None:
    """Refuse, before the work and not after it, files that could not be written."""
    if not is_model_path(str(files.model)):
        raise UsageError(f"{files.model}: the name of a model file ends in .json; call it so")
    for path in (files.model, files.checkpoint):
        _require_writable(path)
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


def _shares(trace: Trace, task: Task, fold: int) -> Shares:
    """Share the pages of a trace out, each use having something to find."""
    pages = len(trace.pages)
    shares = (
        shared_out(pages, fold, seed=task.seed) if task.folds else halved(pages, seed=task.seed)
    )
    uses = {"training": shares.training, "validation": shares.validation}
    if task.folds:
        uses["test"] = shares.test
    for use, some in uses.items():
        what = f"the trace {trace.name!r}, shared out: {len(some)} of {pages} pages for {use}"
        if len(some) < 2:
            raise BadInput(f"{what} leave nothing to choose; bring more pages")
        if not trace.only(some).changed_bits[WARM_UP:].any():
            raise BadInput(f"{what} have no change after the warm-up; bring more pages or days")
    return shares


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

    def __init__(self, trace: Trace, task: Task, files: Files | None) -> None:
        self._path = files.checkpoint if files else None
        self._purpose: Mapping[str, Any] = {
            "trace": trace.name,
            "digest": trace.digest,
            **asdict(task),
        }
        self.journey = Journey()
        if files is None:
            return
        check_files(files)
        if files.resume:
            self.journey = checkpoints.read(files.checkpoint, self._purpose, task.names)

    def note(self, journey: Journey) -> None:
        """Keep how far it has come."""
        self.journey = journey
        if self._path is not None:
            checkpoints.write(self._path, self._purpose, journey)


class _Fold:
    """The searches of one fold, a seed each."""

    def __init__(
        self, number: int, task: Task, trials: tuple[Trial, Trial], pool: Executor
    ) -> None:
        self._number = number
        self._task = task
        self._training, self._validation = trials
        self._pool = pool

    def search(self, log: _Log, watch: Watch) -> None:
        """Run every search that is not over yet."""
        over = {(each.fold, each.seed) for each in log.journey.over}
        for seed in range(self._task.seed, self._task.seed + self._task.seeds):
            if (self._number, seed) not in over:
                self._search(seed, log, watch)

    def _search(self, seed: int, log: _Log, watch: Watch) -> None:
        for stand in self._stands(seed, log.journey.under_way):
            is_last = stand.generation + 1 >= self._task.ways.generations
            journey = log.journey
            if is_last:
                searched = Searched(self._number, seed, self._judged(stand))
                journey = Journey((*journey.over, searched))
            else:
                journey = replace(journey, under_way=stand)
            log.note(journey)
            watch(self._step(seed, stand))

    def _stands(self, seed: int, stand: Stand | None) -> Iterator[Stand]:
        """Yield where the search stands after each generation that is still to come."""
        task = self._task
        search = Search(Language(task.names), self._fitness, seed, task.ways, task.first)
        if stand is None:
            stand = search.begin()
            yield stand
        while stand.generation + 1 < task.ways.generations:
            stand = search.step(stand)
            yield stand

    def _fitness(self, formulas: Sequence[Formula], floor: float) -> list[float]:
        written = [self._task.written_out(formula) for formula in formulas]
        return self._training.all(self._pool, written, floor)

    def _judged(self, stand: Stand) -> tuple[Judged, ...]:
        """Try the formulas that were kept on the pages for validation."""
        formulas = [self._task.written_out(each.formula) for each in stand.best]
        found = self._validation.all(self._pool, formulas)
        return tuple(
            Judged(formula, each.fitness, fitness)
            for formula, each, fitness in zip(formulas, stand.best, found, strict=True)
        )

    def _step(self, seed: int, stand: Stand) -> Step:
        task, generation = self._task, stand.generation + 1
        before = self._number * task.seeds + seed - task.seed
        return Step(
            fold=self._number + 1,
            seed=seed,
            generation=generation,
            best=stand.best[0].fitness,
            done=before * task.ways.generations + generation,
            total=max(1, task.folds) * task.seeds * task.ways.generations,
        )


def _trials(trace: Trace, task: Task, shares: Shares, device: Device | None) -> tuple[Trial, Trial]:
    """Return where formulas are bred, and where those that are kept are tried."""
    uses = (shares.training, shares.validation)
    training, validation = (_trial(trace.only(places), task, device) for places in uses)
    return training, validation


def _trial(trace: Trace, task: Task, device: Device | None = None) -> Trial:
    return Trial(trace, task.budget, task.measure, clock=task.clock, seed=task.seed, device=device)


def _result(
    trace: Trace, task: Task, shares: Sequence[Shares], over: Sequence[Searched]
) -> Evolved:
    """Choose in every fold, test what was chosen, and make the model of the best choice."""
    searches: list[Found] = []
    choices: list[Judged] = []
    tested: list[tuple[Standing, ...]] = []
    for fold, share in enumerate(shares):
        ours = [each for each in over if each.fold == fold]
        pages = trace.only(share.test if task.folds else share.validation)
        searches += _found(ours, task, pages)
        choices.append(chosen((each for one in ours for each in one.kept), task.selection))
        tested.append(standings(pages, Ranking(choices[-1].formula, task.clock), task.budget))
    best = max(range(len(choices)), key=lambda fold: choices[fold].validation)
    by = next(each for each in over if each.fold == best and choices[best] in each.kept)
    return Evolved(
        model=_model(trace, replace(task, seed=by.seed), choices[best], tested[best]),
        searches=tuple(searches),
        places=places(tested, task.measure),
        training=len(shares[best].training),
        validation=len(shares[best].validation),
        test=len(shares[best].test),
    )


def _found(searches: Sequence[Searched], task: Task, pages: Trace) -> list[Found]:
    """Return what each search of a fold chose, tried on the pages for the test."""
    trial = _trial(pages, task)
    found = []
    for search in searches:
        best = chosen(search.kept, task.selection)
        test = trial.fitness(best.formula) if task.folds else None
        found.append(Found(search.fold + 1, search.seed, *_figures(best), test))
    return found


def _figures(judged: Judged) -> tuple[Formula, float, float]:
    return judged.formula, judged.training, judged.validation


def _model(trace: Trace, task: Task, best: Judged, tested: tuple[Standing, ...]) -> Model:
    return Model(
        formula=best.formula,
        terminals=task.terminals,
        clock=task.clock,
        fitness=task.measure,
        budget=task.budget,
        trace=trace.name,
        digest=trace.digest,
        selection=task.selection,
        training=best.training,
        validation=best.validation,
        seed=task.seed,
        standings=tested,
    )
