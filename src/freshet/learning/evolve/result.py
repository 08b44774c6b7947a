"""The result of an evolution: each fold's formula is tested, and the best one is the model."""

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
    """The formula selected from one search, and its fitness on the pages of each split."""

    fold: int
    seed: int
    formula: Formula
    training: float
    validation: float
    test: float | None


@dataclass(frozen=True, slots=True)
class EvolutionResult:
    """The learned model, the result of each search, and the mean test results of all policies.

    ``training``, ``validation`` and ``test`` are page counts of the model's fold; ``cycles`` is the
    length of the trace.
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
    """The formula selected in a fold, the search that found it, and the test results of the fold.

    ``lead`` is the formula's fitness on the validation pages less that of the baseline formula.
    """

    choice: ValidatedFormula
    lead: float
    search: FinishedSearch
    search_results: tuple[SearchResult, ...]
    policy_results: tuple[PolicyTestResult, ...]


def evaluate_fold(
    trace: Trace,
    task: EvolutionTask,
    split: PageFolds,
    searches: Sequence[FinishedSearch],
    pool: Executor,
) -> FoldResult:
    """Select among the formulas of a fold's searches, and test the choice beside other policies."""
    formulas = (formula for search in searches for formula in search.formulas)
    choice = select_formula(formulas, task.selection)
    validation = trace.select(split.validation)
    test_pages = trace.select(split.test) if task.folds else validation
    ranking = FormulaRanking(choice.formula, task.clock)
    return FoldResult(
        choice=choice,
        lead=choice.validation - make_trial(validation, task).fitness(BASELINE_FORMULA),
        search=next(search for search in searches if choice in search.formulas),
        search_results=_search_results(searches, task, test_pages),
        policy_results=compare_policies(test_pages, ranking, task.budget, pool),
    )


def _search_results(
    searches: Sequence[FinishedSearch], task: EvolutionTask, test_pages: Trace
) -> tuple[SearchResult, ...]:
    """Select a formula from each search and test it."""
    trial = make_trial(test_pages, task)
    results = []
    for search in searches:
        best = select_formula(search.formulas, task.selection)
        fitnesses = (best.training, best.validation)
        test = trial.fitness(best.formula) if task.folds else None
        results.append(SearchResult(search.fold + 1, search.seed, best.formula, *fitnesses, test))
    return tuple(results)


def combine_folds(
    trace: Trace, task: EvolutionTask, splits: Sequence[PageFolds], folds: Sequence[FoldResult]
) -> EvolutionResult:
    """Return the result of all folds; the model is the formula with the largest lead.

    The fitnesses of folds cannot be compared, because the pages of some folds are easier.
    """
    best = max(range(len(folds)), key=lambda fold: folds[fold].lead)
    return EvolutionResult(
        model=_model(trace, task, folds[best]),
        searches=tuple(result for fold in folds for result in fold.search_results),
        places=mean_results([fold.policy_results for fold in folds], task.measure),
        training=len(splits[best].training),
        validation=len(splits[best].validation),
        test=len(splits[best].test),
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
