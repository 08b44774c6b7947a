"""Back-test policies: let each crawl the same trace within the same budgets, and score them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

import numpy as np

from freshet.archive.importers.days import read_days
from freshet.core.errors import BadInput, UsageError
from freshet.core.progress import Progress, silent
from freshet.core.tables import DayTable, keys_of
from freshet.core.types import Indices
from freshet.schedule import policies
from freshet.simulate.loop import WARM_UP, Chooser, Cycle, crawl, visits_per_cycle
from freshet.simulate.metrics import Score, score
from freshet.simulate.oracle import ORACLES
from freshet.simulate.trace import SOURCES, Keys, Trace, cells, packed, source_of
from freshet.simulate.world.population import population
from freshet.simulate.world.presets import PRESETS
from freshet.view.url import canonical, place

EVERY = (*policies.NAMES, *ORACLES)
KNOWN = (*EVERY, *policies.VARIANTS)


@dataclass(frozen=True, slots=True)
class Row:
    """How one policy did on a trace with one budget, in means over seeds.

    ``budget`` is the share of the pages visited in a cycle; the measures are those of ``Score``.
    """

    policy: str
    trace: str
    budget: float
    seeds: int
    changerate: float
    ndcg: float
    freshness: float
    weighted_freshness: float
    stale_age: float
    pages: int
    cycles: int


def load(folder: Path, name: str) -> Trace:
    """Make a named trace of the daily observations in a folder."""
    _require_one_of(SOURCES, name, f"of {folder}")
    table = read_days(folder)
    found = cells(table, name)
    trace = packed(name, _keys(table, found.pages), found.changed, unknown=found.unknown)
    _require_something_to_find(trace, f"{folder}: ")
    return trace


def generate(name: str, pages: int, cycles: int, *, seed: int = 1) -> Trace:
    """Make a trace of a generated population whose statistics are published ones."""
    _require_one_of(PRESETS, name, "without a folder")
    drawn = population(PRESETS[name], pages, cycles, seed)
    trace = packed(name, Keys(drawn.hosts, drawn.sites, drawn.directories), drawn.changed)
    _require_something_to_find(trace, "")
    return trace


def back_test(
    trace: Trace,
    names: Sequence[str],
    budgets: Sequence[float],
    *,
    seeds: int = 3,
    progress: Progress = silent,
) -> Iterator[Row]:
    """Yield a row for every budget and policy, the seeds being 1, 2, 3 and so on."""
    check(names, budgets, seeds)
    measured = trace.cycles - WARM_UP
    total = len(budgets) * len(names) * seeds * measured
    for number, (budget, name) in enumerate((each, name) for each in budgets for name in names):
        begun = number * seeds * measured
        scores = []
        for seed in range(1, seeds + 1):
            told = partial(_tell, progress, begun + (seed - 1) * measured, total)
            scores.append(run(trace, contender(name, trace, seed), budget, watch=told))
        yield _row(trace, name, budget, scores)


def check(names: Sequence[str], budgets: Sequence[float], seeds: int) -> None:
    """Refuse policies that do not exist and budgets that cannot be spent."""
    for name in names:
        if name not in KNOWN:
            raise UsageError(policies.unknown(name, KNOWN))
    for budget in budgets:
        if not 0.0 < budget <= 1.0:
            raise UsageError(f"budget {budget:.4g} of the pages: it must be above 0 and at most 1")
    if seeds < 1:
        raise UsageError(f"{seeds} seeds: at least 1 is needed")


def contender(name: str, trace: Trace, seed: int) -> Chooser:
    """Return the policy of that name, or the one that looks at the truth of the trace."""
    return ORACLES[name](trace, seed=seed) if name in ORACLES else policies.make(name, seed=seed)


def run(
    trace: Trace,
    policy: Chooser,
    budget: float,
    *,
    watch: Callable[[Cycle], None] = lambda cycle: None,
) -> Score:
    """Let a policy crawl a trace and score it; ``watch`` is shown every cycle."""
    k = visits_per_cycle(budget, len(trace.pages))
    return score(_watched(crawl(trace, policy, k), watch), trace.pages.importance, k)


def _watched(cycles: Iterator[Cycle], watch: Callable[[Cycle], None]) -> Iterator[Cycle]:
    for cycle in cycles:
        watch(cycle)
        yield cycle


def _tell(progress: Progress, begun: int, total: int, cycle: Cycle) -> None:
    progress(begun + cycle.number - WARM_UP + 1, total)


def _row(trace: Trace, name: str, budget: float, scores: Sequence[Score]) -> Row:
    means: Mapping[str, float] = {
        field: fmean(getattr(each, field) for each in scores)
        for field in ("changerate", "ndcg", "freshness", "weighted_freshness", "stale_age")
    }
    return Row(
        policy=name,
        trace=trace.name,
        budget=budget,
        seeds=len(scores),
        pages=len(trace.pages),
        cycles=trace.cycles,
        **means,
    )


def _keys(table: DayTable, pages: Indices) -> Keys:
    """Return where pages lie; what a live page's site is, is the source of a recorded one."""
    places = [place(canonical(table.urls[page]) or table.urls[page]) for page in pages]
    return Keys(
        hosts=keys_of([each.host for each in places]),
        sites=keys_of([source_of(table.parts[page]) for page in pages]),
        directories=keys_of([each.directory for each in places]),
    )


def _require_one_of(names: Iterable[str], name: str, where: str) -> None:
    if name not in names:
        raise UsageError(f"{name!r} is no trace {where}; choose {' or '.join(names)}")


def _require_something_to_find(trace: Trace, where: str) -> None:
    """Refuse a trace on which all policies are equal."""
    what = f"{where}the trace {trace.name!r}"
    if not len(trace.pages):
        raise BadInput(f"{what} has no page whose days are known well enough; look for more days")
    if trace.cycles <= WARM_UP:
        raise BadInput(f"{what} has {trace.cycles} cycles, and the first {WARM_UP} only warm up")
    if len(trace.pages) == 1:
        raise BadInput(f"{what} has one page: there is nothing to choose; bring more pages")
    if not np.any(trace.change_counts()):
        raise BadInput(f"{what} has no change: there is nothing to find; bring more days")
