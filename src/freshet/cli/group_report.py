"""A whole collection's analysis in tables: the groups of its pages, and whether they differ."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

from freshet.analysis.collection_analysis import Analysis
from freshet.cli.output import counted, plain, print_table, say
from freshet.core.humanize import span
from freshet.measure.dynamics.structure.survival import HORIZONS
from freshet.measure.statistics.burst_table import Interval
from freshet.measure.statistics.groups import Group, GroupTest, Histogram, Mean

COLUMNS = (
    "pages", "never changed", "hours between", "by rate", "Dice", "curves", "knotted", "knot, h",
    "words stay",
)  # fmt: skip
ROUND_COLUMNS = (
    "within", "pages in rounds", "every time", "at least once", "Dice", "median",
    "a host's delay apart",
)  # fmt: skip
NAMES = {"interval_hours": "time between changes", "dice_mean": "Dice given change"}
SURE = 0.05
MOST_PAIRS = 10
MANY_HOURS = 10


def print_analysis(found: Analysis, limit: int) -> None:
    """Print the totals, a row a group, and what the tests say; ``limit`` bounds the groups."""
    if not found.pages:
        say("There are no pages to analyse.")
        return
    for line in _totals(found):
        say(line)
    say("")
    largest = sorted(found.groups, key=lambda row: -row.pages)[: limit or None]
    rows = [row for row in found.groups if any(row is each for each in largest)]
    groups = len(found.groups) + found.left_out
    which = "" if len(rows) == groups else f", the {len(rows)} largest"
    title = f"{counted(groups, 'group')} by {found.by}{which}"
    print_table((found.by, *COLUMNS), [_cells(row) for row in (*rows, found.total)], title)
    say("")
    for test in found.tests:
        for line in lines_of_test(test):
            say(line)
    if found.rounds:
        say("")
        print_table(ROUND_COLUMNS, map(_round_cells, found.rounds), "change within the hour")


def _round_cells(row: Interval) -> tuple[Any, ...]:
    """Return a row of the table of rounds: which share of the pages changes so soon."""
    soon = "at once" if row.minutes == 0 else f"{row.minutes} minutes"
    dice = (None if isnan(value) else value for value in (row.mean_dice, row.median_dice))
    return (soon, row.pages, f"{row.all:.1%}", f"{row.any:.1%}", *dice, row.apart or None)


def _totals(found: Analysis) -> Iterator[str]:
    total = found.total
    sample = f", figures of a sample of {len(found.page_ids):,}" if found.sampled else ""
    yield f"{counted(found.pages, 'page')}, {total.compared:,} looked at twice or more{sample}."
    if total.never_changed is not None:
        yield f"{total.never_changed:.1%} of those never changed."
    if total.interval_hours.mean is not None and total.interval_hours.median is not None:
        mean, median = total.interval_hours.mean / 24, total.interval_hours.median / 24
        pages = counted(total.interval_hours.pages, "page")
        yield f"Mean time between changes {span(mean)}, median {span(median)} ({pages})."
    if total.dice.mean is not None:
        yield f"Mean Dice given change {total.dice.mean:.3f} ({counted(total.dice.pages, 'page')})."
    lives = ", ".join(_survivals(total.survival))
    if lives:
        yield f"Elements still there: {lives}."


def _survivals(survival: Sequence[Mean]) -> Iterator[str]:
    """Yield the share at each time of which any page tells, and how many pages do."""
    for at, share in zip(HORIZONS, survival, strict=False):
        if share.mean is not None:
            pages = counted(share.pages, "page")
            yield f"{share.mean:.1%} after {span(at / 86_400)} ({pages})"


def _cells(row: Group) -> tuple[Any, ...]:
    return (
        row.name, row.pages, None if row.never_changed is None else f"{row.never_changed:.1%}",
        _rounded(row.interval_hours), _rounded(row.expected_hours), row.dice.mean,
        row.curves or None, f"{row.shapes[2]:.0%}" if row.shapes else None,
        _rounded(row.knot_hours), None if row.stay.mean is None else f"{row.stay.mean:.0%}",
    )  # fmt: skip


def _rounded(mean: Mean) -> str | None:
    """Write hours as whole ones, unless there are few.

    >>> [_rounded(Mean(hours, hours, 1)) for hours in (906.4, 4.44, 0.135)]
    ['906', '4.4', '0.14']
    """
    if mean.mean is None:
        return None
    if mean.mean >= MANY_HOURS:
        return f"{mean.mean:,.0f}"
    return f"{mean.mean:.1f}" if mean.mean >= 1 else f"{mean.mean:.2g}"


def lines_of_test(test: GroupTest) -> Iterator[str]:
    """Say in words whether groups differ in a figure, and which of them."""
    name = NAMES.get(test.figure, test.figure)
    if test.p is None:
        yield f"{name}: not tested, {test.why}."
        return
    differ = "the groups differ" if test.p < SURE else "the groups do not clearly differ"
    yield f"{name}: {differ} (Kruskal-Wallis, {len(test.tested)} groups, p = {test.p:.2g})."
    sure = sorted((pair for pair in test.pairs if pair.corrected < SURE), key=lambda p: p.corrected)
    for pair in sure[:MOST_PAIRS]:
        yield f"  {' and '.join(pair.groups)} differ (Mann-Whitney, Holm, p = {pair.corrected:.2g})"
    if len(sure) > MOST_PAIRS:
        yield f"  and {len(sure) - MOST_PAIRS} more pairs; --json lists all"
    if test.untested:
        few = counted(len(test.untested), "group")
        yield f"  {few} with fewer than five pages to measure: not tested"


def analysis_document(found: Analysis) -> dict[str, Any]:
    """Return an analysis for JSON."""
    return {
        "by": found.by, "pages": found.pages, "sampled": found.sampled, "left_out": found.left_out,
        "horizons_hours": [seconds / 3600 for seconds in HORIZONS],
        "total": plain(found.total), "groups": plain(found.groups), "tests": plain(found.tests),
        "intervals": _histogram(found.intervals), "dice": _histogram(found.dice),
        "rounds": plain(found.rounds),
    }  # fmt: skip


def _histogram(found: Histogram) -> dict[str, Any]:
    return {
        "edges": found.edges.tolist(), "counts": found.counts.tolist(), "lacking": found.lacking,
    }  # fmt: skip
