"""What was learnt: the choice of every fold is tested, and the best of them is the model."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from freshet.backtest.folds import Shares
from freshet.backtest.trace import Trace
from freshet.formula.expression import Formula
from freshet.learning.evolve.comparison import Place, places, standings
from freshet.learning.evolve.fold_evaluator import Searched, trial
from freshet.learning.evolve.model_selection import Judged, chosen
from freshet.learning.evolve.task import Task
from freshet.schedule.model_file import Model, Standing
from freshet.schedule.policies import Ranking

SIMPLEST = Formula(("*", "t", "X"))


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

    ``training``, ``validation`` and ``test`` count the pages of the model's fold, ``cycles`` those
    of the trace.
    """

    model: Model
    searches: tuple[Found, ...]
    places: tuple[Place, ...]
    training: int
    validation: int
    test: int
    cycles: int


@dataclass(frozen=True, slots=True)
class Tested:
    """What was chosen in a fold and its lead, what its searches found, and the rules beside it.

    The ``lead`` is by how much it does better than the simplest formula on the pages that chose it.
    """

    choice: Judged
    lead: float
    by: Searched
    searches: tuple[Found, ...]
    standings: tuple[Standing, ...]


def tested(
    trace: Trace, task: Task, shares: Shares, searches: Sequence[Searched], pool: Executor
) -> Tested:
    """Choose among what the searches of a fold kept, and try the choice beside the rules."""
    choice = chosen((each for one in searches for each in one.kept), task.selection)
    validation = trace.only(shares.validation)
    pages = trace.only(shares.test) if task.folds else validation
    return Tested(
        choice=choice,
        lead=choice.validation - trial(validation, task).fitness(SIMPLEST),
        by=next(each for each in searches if choice in each.kept),
        searches=tuple(_found(searches, task, pages)),
        standings=standings(pages, Ranking(choice.formula, task.clock), task.budget, pool),
    )


def _found(searches: Sequence[Searched], task: Task, pages: Trace) -> list[Found]:
    """Return what each search of a fold chose, tried on the pages for the test."""
    trying = trial(pages, task)
    found = []
    for search in searches:
        best = chosen(search.kept, task.selection)
        figures = (best.training, best.validation)
        test = trying.fitness(best.formula) if task.folds else None
        found.append(Found(search.fold + 1, search.seed, best.formula, *figures, test))
    return found


def result(trace: Trace, task: Task, shares: Sequence[Shares], folds: Sequence[Tested]) -> Evolved:
    """Make the model of the choice with the largest lead: some folds' pages are easier."""
    best = max(range(len(folds)), key=lambda fold: folds[fold].lead)
    return Evolved(
        model=_model(trace, task, folds[best]),
        searches=tuple(each for fold in folds for each in fold.searches),
        places=places([fold.standings for fold in folds], task.measure),
        training=len(shares[best].training),
        validation=len(shares[best].validation),
        test=len(shares[best].test),
        cycles=trace.cycles,
    )


def _model(trace: Trace, task: Task, best: Tested) -> Model:
    return Model(
        formula=best.choice.formula,
        terminals=task.terminals,
        clock=task.clock,
        fitness=task.measure,
        budget=task.budget,
        trace=trace.name,
        digest=trace.digest,
        selection=task.selection,
        training=best.choice.training,
        validation=best.choice.validation,
        seed=task.seed,
        search=best.by.seed,
        standings=best.standings,
    )
