"""The place of a learned formula among the usual rules, on pages that it was not learnt from."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from freshet.backtest.cycle_crawl import Chooser, crawl, visits_per_cycle
from freshet.backtest.cycle_oracles import ORACLES
from freshet.backtest.metrics import Score, score
from freshet.backtest.selectors import contender
from freshet.backtest.significance import interval
from freshet.backtest.trace import Trace
from freshet.formula.variables import Clock
from freshet.schedule import policies
from freshet.schedule.model_file import Standing
from freshet.schedule.policies import Ranking

LEARNED = "learned"
OTHERS = ("rand", "age", "cg", "nad", "sad", "aad", "gad", "t * X", *policies.BAYES, *ORACLES)
SEEDS = 3
FEWEST_FOLDS = 3
MEASURES = ("changerate", "ndcg", "freshness")


@dataclass(frozen=True, slots=True)
class Place:
    """What a policy reached in the mean over folds; the margins are those of 95 % intervals.

    One or two folds have no margins: those of two would be wider than the measures.
    """

    policy: str
    changerate: float
    changerate_ci: float | None
    ndcg: float
    ndcg_ci: float | None
    freshness: float
    freshness_ci: float | None


def others(clock: Clock) -> tuple[str, ...]:
    """Return whom a learned formula is held against: by cycle, those that weigh so as well.

    >>> others("cycle")[-4:]
    ('nad-cycle', 'sad-cycle', 'aad-cycle', 'gad-cycle')
    """
    return (*OTHERS, *policies.VARIANTS) if clock == "cycle" else OTHERS


def standings(
    trace: Trace, learned: Ranking, budget: float, pool: Executor
) -> tuple[Standing, ...]:
    """Let a learned formula, the classic rules and the ceilings crawl the same pages."""
    k = visits_per_cycle(budget, len(trace.pages))
    makers: dict[str, Callable[[int], Chooser]] = {
        LEARNED: lambda seed: policies.make(learned, seed=seed)
    }
    for name in others(learned.clock):
        makers[name] = partial(contender, name, trace)
    runs = [(make, seed) for make in makers.values() for seed in range(1, SEEDS + 1)]
    scores = list(pool.map(lambda run: _score(trace, run[0](run[1]), k), runs))
    return tuple(
        _standing(name, scores[number * SEEDS : (number + 1) * SEEDS])
        for number, name in enumerate(makers)
    )


def _score(trace: Trace, chooser: Chooser, k: int) -> Score:
    return score(crawl(trace, chooser, k), trace.pages.importance, k)


def _standing(name: str, scores: Sequence[Score]) -> Standing:
    return Standing(name, *(fmean(getattr(each, of) for each in scores) for of in MEASURES))


def places(folds: Sequence[Sequence[Standing]], measure: str) -> tuple[Place, ...]:
    """Return the mean place of every policy over folds, the best by a measure first."""
    found = [_place(name, each) for name, each in _by_policy(folds)]
    return tuple(sorted(found, key=lambda place: -getattr(place, measure)))


def _by_policy(
    folds: Sequence[Sequence[Standing]],
) -> list[tuple[str, tuple[Standing, ...]]]:
    return [(each[0].policy, each) for each in zip(*folds, strict=True)]


def _place(policy: str, standings: Sequence[Standing]) -> Place:
    """Return the means of a policy's standings with their margins."""
    figures: list[Any] = []
    for of in MEASURES:
        around = interval(np.array([getattr(each, of) for each in standings]))
        figures += [around.mean, around.margin if len(standings) >= FEWEST_FOLDS else None]
    return Place(policy, *figures)
