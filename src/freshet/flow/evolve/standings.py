"""The place of a learned formula among the usual rules, on pages that it was not learnt from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from freshet.flow.contenders import contender
from freshet.flow.models import Standing
from freshet.schedule import policies
from freshet.schedule.policies import Ranking
from freshet.simulate.loop import Chooser, crawl, visits_per_cycle
from freshet.simulate.metrics import score
from freshet.simulate.oracle import ORACLES
from freshet.simulate.statistics import interval
from freshet.simulate.trace import Trace

LEARNED = "learned"
OTHERS = ("rand", "age", "cg", "nad", "sad", "aad", "gad", "t * X", *ORACLES)
SEEDS = 3
MEASURES = ("changerate", "ndcg", "freshness")


@dataclass(frozen=True, slots=True)
class Place:
    """What a policy reached in the mean over folds; the margins are those of 95 % intervals.

    One fold alone has no margins.
    """

    policy: str
    changerate: float
    changerate_ci: float | None
    ndcg: float
    ndcg_ci: float | None
    freshness: float
    freshness_ci: float | None


def standings(trace: Trace, learned: Ranking, budget: float) -> tuple[Standing, ...]:
    """Let a learned formula, the classic rules and the ceilings crawl the same pages."""
    k = visits_per_cycle(budget, len(trace.pages))
    named = (_standing(trace, name, partial(contender, name, trace), k) for name in OTHERS)
    return (_standing(trace, LEARNED, partial(_made, learned), k), *named)


def _made(learned: Ranking, seed: int) -> Chooser:
    return policies.make(learned, seed=seed)


def _standing(trace: Trace, name: str, make: Callable[[int], Chooser], k: int) -> Standing:
    scores = [
        score(crawl(trace, make(seed), k), trace.pages.importance, k)
        for seed in range(1, SEEDS + 1)
    ]
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
        figures += [around.mean, around.margin if len(standings) > 1 else None]
    return Place(policy, *figures)
