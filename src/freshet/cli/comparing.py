"""A whole collection's analysis in tables: the groups of its pages, and whether they differ."""

from collections.abc import Iterator
from typing import Any

from freshet.cli.output import counted, plain, print_table, say
from freshet.core.spans import span
from freshet.flow.analyse import Analysis
from freshet.measure.groups import Group, GroupTest, Histogram, Mean
from freshet.measure.structure.survival import HORIZONS

COLUMNS = (
    "pages", "never changed", "hours between", "by rate", "Dice", "curves", "knotted", "knot, h",
    "words stay",
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
    known = [(seconds, each.mean) for seconds, each in zip(HORIZONS, total.survival, strict=False)]
    lives = [f"{share:.1%} after {span(at / 86_400)}" for at, share in known if share is not None]
    if lives:
        yield f"Elements still there: {', '.join(lives)}."


def _cells(row: Group) -> tuple[Any, ...]:
    return (
        row.name, row.pages, None if row.never_changed is None else f"{row.never_changed:.1%}",
        _rounded(row.interval_hours), _rounded(row.expected_hours), row.dice.mean,
        row.curves or None, f"{row.shapes[2]:.0%}" if row.shapes else None,
        _rounded(row.knot_hours), None if row.stay.mean is None else f"{row.stay.mean:.0%}",
    )  # fmt: skip


def _rounded(mean: Mean) -> float | None:
    """Return hours as whole ones, unless there are few."""
    if mean.mean is None:
        return None
    return round(mean.mean) if mean.mean >= MANY_HOURS else round(mean.mean, 1)


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
    }  # fmt: skip


def _histogram(found: Histogram) -> dict[str, Any]:
    return {
        "edges": found.edges.tolist(), "counts": found.counts.tolist(), "lacking": found.lacking,
    }  # fmt: skip
