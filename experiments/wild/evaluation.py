"""The figures of the experiment as rows with intervals, printed as a table or as JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from experiments.wild.experiment import CrawlResult
from experiments.wild.variants import DEFAULTS, RULES
from freshet.backtest.page_bootstrap import PageBootstrap, PageIntervals


@dataclass(frozen=True, slots=True)
class WildRow:
    """Figures of a policy on a trace with one budget, means over seeds.

    ``start`` is warm or cold. ``changerate`` is the share of visits that found a change.
    ``freshness`` is the mean share of time in which copies equal their pages. The bounds are those
    of 95 % bootstrap intervals over pages.
    """

    trace: str
    start: str
    budget: float
    policy: str
    changerate: float
    changerate_low: float
    changerate_high: float
    freshness: float
    freshness_low: float
    freshness_high: float


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """How much higher the figures of a policy are than those of a rule, with intervals."""

    trace: str
    start: str
    budget: float
    policy: str
    rule: str
    changerate: float
    changerate_low: float
    changerate_high: float
    freshness: float
    freshness_low: float
    freshness_high: float


def wild_rows(results: Sequence[CrawlResult], bootstrap: PageBootstrap) -> Iterator[WildRow]:
    """Yield the row of every simulated crawl of one trace."""
    for result in results:
        task = result.task
        changerate, freshness = round(result.changerate, 5), round(result.freshness, 5)
        bounds = _bounds(bootstrap.intervals(result.page_figures))
        yield WildRow(
            task.source, task.start, task.budget, task.policy,
            changerate, *bounds[:2], freshness, *bounds[2:],
        )  # fmt: skip


def difference_rows(
    results: Sequence[CrawlResult], bootstrap: PageBootstrap
) -> Iterator[DifferenceRow]:
    """Yield the differences between the default policies and the rules on one trace."""
    by_setting = {
        (result.task.start, result.task.budget, result.task.policy): result for result in results
    }
    settings = dict.fromkeys((result.task.start, result.task.budget) for result in results)
    for setting, policy, rule in product(settings, DEFAULTS, RULES):
        ours, theirs = by_setting.get((*setting, policy)), by_setting.get((*setting, rule))
        if ours is None or theirs is None:
            continue
        bounds = _bounds(bootstrap.differences(ours.page_figures, theirs.page_figures))
        yield DifferenceRow(
            ours.task.source, *setting, policy, rule,
            round(ours.changerate - theirs.changerate, 5), *bounds[:2],
            round(ours.freshness - theirs.freshness, 5), *bounds[2:],
        )  # fmt: skip


def _bounds(intervals: PageIntervals) -> list[float]:
    """Return the bounds of ChangeRate and of freshness."""
    return [
        round(bound, 5)
        for interval in (intervals.changerate, intervals.freshness)
        for bound in (interval.low, interval.high)
    ]


def as_json(data: str, rows: Sequence[Any]) -> str:
    """Return the experiment's JSON document."""
    return json.dumps({"name": "wild", "data": data, "rows": [asdict(row) for row in rows]})


def as_text(rows: Sequence[WildRow]) -> str:
    """Return a line for each row."""
    header = (
        f"{'trace':<14}{'start':<7}{'budget':>7}  {'policy':<28}{'changerate':>11}{'freshness':>11}"
    )
    return "\n".join([
        header,
        *(
            f"{row.trace:<14}{row.start:<7}{row.budget:>7.0%}  {row.policy:<28}"
            f"{row.changerate:>11.3f}{row.freshness:>11.3f}"
            for row in rows
        ),
    ])
