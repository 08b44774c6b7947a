"""The figures of the experiment as rows, printed as a table or as JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from experiments.wild.experiment import CrawlResult


@dataclass(frozen=True, slots=True)
class WildRow:
    """Figures of a policy on a trace with one budget, means over seeds.

    ``start`` is warm or cold. ``changerate`` is the share of visits that found a change.
    ``freshness`` is the mean share of time in which copies equal their pages.
    """

    trace: str
    start: str
    budget: float
    policy: str
    changerate: float
    freshness: float


def wild_rows(results: Sequence[CrawlResult]) -> Iterator[WildRow]:
    """Yield the row of every simulated crawl."""
    for result in results:
        task = result.task
        yield WildRow(
            trace=task.source,
            start=task.start,
            budget=task.budget,
            policy=task.policy,
            changerate=round(fmean(result.changerate), 5),
            freshness=round(fmean(result.freshness), 5),
        )


def as_json(data: str, rows: Sequence[WildRow]) -> str:
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
