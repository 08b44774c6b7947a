"""A whole collection's analysis in tables: the groups of its pages, and whether they differ."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

from freshet.analysis.collection_analysis import CollectionAnalysis
from freshet.cli.output import format_count, print_table, print_text, to_json_value
from freshet.core.humanize import duration_text
from freshet.measure.dynamics.structure.survival import SURVIVAL_HORIZONS
from freshet.measure.statistics.burst_table import BurstInterval
from freshet.measure.statistics.groups import GroupSummary, GroupTest, Histogram, MeanEstimate

COLUMNS = (
    "pages", "never changed", "hours between", "by rate", "Dice", "curves", "knotted", "knot, h",
    "words stay",
)  # fmt: skip
BURST_COLUMNS = (
    "within", "pages in rounds", "every time", "at least once", "Dice", "median",
    "a host's delay apart",
)  # fmt: skip
FIGURE_NAMES = {"interval_hours": "time between changes", "dice_mean": "Dice given change"}
SIGNIFICANCE_LEVEL = 0.05
MAX_LISTED_PAIRS = 10
MANY_HOURS = 10


def print_group_report(found: CollectionAnalysis, limit: int) -> None:
    """Print the totals, a row a group, and what the tests say; ``limit`` bounds the groups."""
    if not found.pages:
        print_text("There are no pages to analyse.")
        return
    for line in _totals(found):
        print_text(line)
    print_text("")
    largest = sorted(found.groups, key=lambda row: -row.pages)[: limit or None]
    rows = [row for row in found.groups if any(row is each for each in largest)]
    groups = len(found.groups) + found.left_out_groups
    which = "" if len(rows) == groups else f", the {len(rows)} largest"
    title = f"{format_count(groups, 'group')} by {found.by}{which}"
    print_table((found.by, *COLUMNS), [_cells(row) for row in (*rows, found.total)], title)
    print_text("")
    for test in found.tests:
        for line in describe_group_test(test):
            print_text(line)
    if found.bursts:
        print_text("")
        print_table(BURST_COLUMNS, map(_round_cells, found.bursts), "change within the hour")


def _round_cells(row: BurstInterval) -> tuple[Any, ...]:
    """Return a row of the table of rounds: which share of the pages changes so soon."""
    soon = "at once" if row.minutes == 0 else f"{row.minutes} minutes"
    dice = (None if isnan(value) else value for value in (row.mean_dice, row.median_dice))
    return (soon, row.pages, f"{row.all:.1%}", f"{row.any:.1%}", *dice, row.apart or None)


def _totals(found: CollectionAnalysis) -> Iterator[str]:
    total = found.total
    sample = f", figures of a sample of {len(found.page_ids):,}" if found.is_sample else ""
    yield f"{format_count(found.pages, 'page')}, {total.compared:,} looked at twice or more{sample}."
    if total.never_changed is not None:
        yield f"{total.never_changed:.1%} of those never changed."
    if total.interval_hours.mean is not None and total.interval_hours.median is not None:
        mean, median = total.interval_hours.mean / 24, total.interval_hours.median / 24
        pages = format_count(total.interval_hours.pages, "page")
        yield f"Mean time between changes {duration_text(mean)}, median {duration_text(median)} ({pages})."
    if total.dice.mean is not None:
        yield f"Mean Dice given change {total.dice.mean:.3f} ({format_count(total.dice.pages, 'page')})."
    lives = ", ".join(_survivals(total.survival))
    if lives:
        yield f"Elements still there: {lives}."


def _survivals(survival: Sequence[MeanEstimate]) -> Iterator[str]:
    """Yield the share at each time of which any page tells, and how many pages do."""
    for at, share in zip(SURVIVAL_HORIZONS, survival, strict=False):
        if share.mean is not None:
            pages = format_count(share.pages, "page")
            yield f"{share.mean:.1%} after {duration_text(at / 86_400)} ({pages})"


def _cells(row: GroupSummary) -> tuple[Any, ...]:
    return (
        row.name, row.pages, None if row.never_changed is None else f"{row.never_changed:.1%}",
        _rounded(row.interval_hours), _rounded(row.expected_hours), row.dice.mean,
        row.curves or None, f"{row.shapes[2]:.0%}" if row.shapes else None,
        _rounded(row.knot_hours), None if row.stay.mean is None else f"{row.stay.mean:.0%}",
    )  # fmt: skip


def _rounded(mean: MeanEstimate) -> str | None:
    """Write hours as whole ones, unless there are few.

    >>> [_rounded(MeanEstimate(hours, hours, 1)) for hours in (906.4, 4.44, 0.135)]
    ['906', '4.4', '0.14']
    """
    if mean.mean is None:
        return None
    if mean.mean >= MANY_HOURS:
        return f"{mean.mean:,.0f}"
    return f"{mean.mean:.1f}" if mean.mean >= 1 else f"{mean.mean:.2g}"


def describe_group_test(test: GroupTest) -> Iterator[str]:
    """Say in words whether groups differ in a figure, and which of them."""
    name = FIGURE_NAMES.get(test.figure, test.figure)
    if test.p is None:
        yield f"{name}: not tested, {test.why}."
        return
    differ = (
        "the groups differ" if test.p < SIGNIFICANCE_LEVEL else "the groups do not clearly differ"
    )
    yield f"{name}: {differ} (Kruskal-Wallis, {len(test.tested)} groups, p = {test.p:.2g})."
    sure = sorted(
        (pair for pair in test.pairs if pair.corrected < SIGNIFICANCE_LEVEL),
        key=lambda p: p.corrected,
    )
    for pair in sure[:MAX_LISTED_PAIRS]:
        yield f"  {' and '.join(pair.groups)} differ (Mann-Whitney, Holm, p = {pair.corrected:.2g})"
    if len(sure) > MAX_LISTED_PAIRS:
        yield f"  and {len(sure) - MAX_LISTED_PAIRS} more pairs; --json lists all"
    if test.untested:
        few = format_count(len(test.untested), "group")
        yield f"  {few} with fewer than five pages to measure: not tested"


def group_report_document(found: CollectionAnalysis) -> dict[str, Any]:
    """Return an analysis for JSON."""
    return {
        "by": found.by, "pages": found.pages, "sampled": found.is_sample, "left_out": found.left_out_groups,
        "horizons_hours": [seconds / 3600 for seconds in SURVIVAL_HORIZONS],
        "total": to_json_value(found.total), "groups": to_json_value(found.groups), "tests": to_json_value(found.tests),
        "intervals": _histogram(found.intervals), "dice": _histogram(found.dice),
        "rounds": to_json_value(found.bursts),
    }  # fmt: skip


def _histogram(found: Histogram) -> dict[str, Any]:
    return {
        "edges": found.edges.tolist(), "counts": found.counts.tolist(), "lacking": found.lacking,
    }  # fmt: skip
