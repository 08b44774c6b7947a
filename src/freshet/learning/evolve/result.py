"""What was learnt: the choice of every fold is tested, and the best of them is the model."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from freshet.backtest.folds import PageFolds
from freshet.backtest.trace import Trace
from freshet.formula.expression import Formula
from freshet.learning.evolve.comparison import MeanTestResult, compare_policies, mean_results
from freshet.learning.evolve.fold_evaluator import FinishedSearch, make_trial
from freshet.learning.evolve.model_selection import ValidatedFormula, select_formula
from freshet.learning.evolve.task import EvolutionTask
from freshet.schedule.model_file import FormulaModel, PolicyTestResult
from freshet.schedule.policies import FormulaRanking

BASELINE_FORMULA = Formula(("*", "t", "X"))


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The formula chosen from one search, and its fitness on the pages for each use."""

    fold: int
    seed: int
    formula: Formula
    training: float
    validation: float
    test: float | None


@dataclass(frozen=True, slots=True)
class EvolutionResult:
    """What was learnt: the model, what each search found, and the model's place among the rules.

    ``training``, ``validation`` and ``test`` count the pages of the model's fold, ``cycles`` those
    of the trace.
    """

    model: FormulaModel
    searches: tuple[SearchResult, ...]
    places: tuple[MeanTestResult, ...]
    training: int
    validation: int
    test: int
    cycles: int


@dataclass(frozen=True, slots=True)
class FoldResult:
    """What was chosen in a fold and its lead, what its searches found, and the rules beside it.

    The ``lead`` is by how much it does better than the simplest formula on the pages that chose it.
    """

    choice: ValidatedFormula
    lead: float
    search: FinishedSearch
    search_results: tuple[SearchResult, ...]
    policy_results: tuple[PolicyTestResult, ...]


def evaluate_fold(
    trace: Trace,
    task: EvolutionTask,
    shares: PageFolds,
    searches: Sequence[FinishedSearch],
    pool: Executor,
) -> FoldResult:
    """Choose among what the searches of a fold kept, and try the choice beside the rules."""
    choice = select_formula((each for one in searches for each in one.formulas), task.selection)
    validation = trace.select(shares.validation)
    pages = trace.select(shares.test) if task.folds else validation
    return FoldResult(
        choice=choice,
        lead=choice.validation - make_trial(validation, task).fitness(BASELINE_FORMULA),
        search=next(each for each in searches if choice in each.formulas),
        search_results=tuple(_found(searches, task, pages)),
        policy_results=compare_policies(
            pages, FormulaRanking(choice.formula, task.clock), task.budget, pool
        ),
    )


def _found(
    searches: Sequence[FinishedSearch], task: EvolutionTask, pages: Trace
) -> list[SearchResult]:
    """Return what each search of a fold chose, tried on the pages for the test."""
    trying = make_trial(pages, task)
    found = []
    for search in searches:
        best = select_formula(search.formulas, task.selection)
        figures = (best.training, best.validation)
        test = trying.fitness(best.formula) if task.folds else None
        found.append(SearchResult(search.fold + 1, search.seed, best.formula, *figures, test))
    return found


def combine_folds(
    trace: Trace, task: EvolutionTask, shares: Sequence[PageFolds], folds: Sequence[FoldResult]
) -> EvolutionResult:
    """Make the model of the choice with the largest lead: some folds' pages are easier."""
    best = max(range(len(folds)), key=lambda fold: folds[fold].lead)
    return EvolutionResult(
        model=_model(trace, task, folds[best]),
        searches=tuple(each for fold in folds for each in fold.search_results),
        places=mean_results([fold.policy_results for fold in folds], task.measure),
        training=len(shares[best].training),
        validation=len(shares[best].validation),
        test=len(shares[best].test),
        cycles=trace.cycles,
    )


def _model(trace: Trace, task: EvolutionTask, best: FoldResult) -> FormulaModel:
    return FormulaModel(
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
        search=best.search.seed,
        standings=best.policy_results,
    )
