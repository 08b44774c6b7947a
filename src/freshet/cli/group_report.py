"""The report on groups of pages: totals, a table of groups, tests and bursts."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

from freshet.analysis.collection_analysis import CollectionAnalysis
from freshet.cli.output import print_table, print_text
from freshet.core.humanize import count_text, duration_text
from freshet.core.strict_json import to_json_value
from freshet.measure.dynamics.structure.survival import SURVIVAL_HORIZONS
from freshet.measure.statistics.burst_table import BurstInterval
from freshet.measure.statistics.groups import GroupSummary, GroupTest, Histogram, MeanEstimate

COLUMNS = (
    "pages",
    "never changed",
    "hours between",
    "by rate",
    "Dice",
    "curves",
    "knotted",
    "knot, h",
    "words stay",
)
BURST_COLUMNS = (
    "within",
    "pages in bursts",
    "every time",
    "at least once",
    "Dice",
    "median",
    "one host delay apart",
)
FIGURE_NAMES = {
    "interval_hours": "time between changes",
    "dice_mean": "Dice given change",
    "knot_hours": "time of the knot",
    "knot_dice": "Dice at the knot",
}
SIGNIFICANCE_LEVEL = 0.05
MAX_LISTED_PAIRS = 10
MANY_HOURS = 10


def print_group_report(analysis: CollectionAnalysis, limit: int) -> None:
    """Print totals, one row per group (at most ``limit``), the tests and the bursts."""
    if not analysis.pages:
        print_text("There are no pages to analyse.")
        return
    for line in _totals(analysis):
        print_text(line)
    print_text("")
    largest = sorted(analysis.groups, key=lambda row: -row.pages)[: limit or None]
    rows = [row for row in analysis.groups if any(row is group for group in largest)]
    groups = len(analysis.groups) + analysis.left_out_groups
    selection = "" if len(rows) == groups else f", the {len(rows)} largest"
    title = f"{count_text(groups, 'group')} by {analysis.by}{selection}"
    print_table((analysis.by, *COLUMNS), [_cells(row) for row in (*rows, analysis.total)], title)
    print_text("")
    for test in analysis.tests:
        for line in describe_group_test(test):
            print_text(line)
    if analysis.bursts:
        print_text("")
        print_table(BURST_COLUMNS, map(_burst_cells, analysis.bursts), "change within the hour")


def _burst_cells(row: BurstInterval) -> tuple[Any, ...]:
    """Return a row of the burst table: the share of pages that change within an interval."""
    interval = "at once" if row.minutes == 0 else f"{row.minutes} minutes"
    dice = (None if isnan(value) else value for value in (row.mean_dice, row.median_dice))
    return (interval, row.pages, f"{row.all:.1%}", f"{row.any:.1%}", *dice, row.apart or None)


def _totals(analysis: CollectionAnalysis) -> Iterator[str]:
    total = analysis.total
    sample = f", figures from a sample of {len(analysis.page_ids):,}" if analysis.is_sample else ""
    pages = count_text(analysis.pages, "page")
    yield f"{pages}, {total.compared:,} with two or more looks{sample}."
    if total.never_changed is not None:
        yield f"{total.never_changed:.1%} of them never changed."
    if total.interval_hours.mean is not None and total.interval_hours.median is not None:
        mean = duration_text(total.interval_hours.mean / 24)
        median = duration_text(total.interval_hours.median / 24)
        pages = count_text(total.interval_hours.pages, "page")
        yield f"Mean time between changes {mean}, median {median} ({pages})."
    if total.dice.mean is not None:
        pages = count_text(total.dice.pages, "page")
        yield f"Mean Dice given change {total.dice.mean:.3f} ({pages})."
    for text, estimates in (
        ("Elements still there", total.survival),
        ("Elements never absent", total.unbroken_survival),
    ):
        if shares := ", ".join(_survival_shares(estimates)):
            yield f"{text}: {shares}."


def _survival_shares(survival: Sequence[MeanEstimate]) -> Iterator[str]:
    """Yield the share of surviving elements at each time with data, and the number of pages."""
    for seconds, share in zip(SURVIVAL_HORIZONS, survival, strict=False):
        if share.mean is not None:
            pages = count_text(share.pages, "page")
            yield f"{share.mean:.1%} after {duration_text(seconds / 86_400)} ({pages})"


def _cells(row: GroupSummary) -> tuple[Any, ...]:
    return (
        row.name,
        row.pages,
        None if row.never_changed is None else f"{row.never_changed:.1%}",
        _round_hours(row.interval_hours),
        _round_hours(row.expected_hours),
        row.dice.mean,
        row.curves or None,
        f"{row.shapes[2]:.0%}" if row.shapes else None,
        _round_hours(row.knot_hours),
        None if row.stay.mean is None else f"{row.stay.mean:.0%}",
    )


def _round_hours(mean: MeanEstimate) -> str | None:
    """Return hours as a whole number, or with digits if they are few.

    >>> [_round_hours(MeanEstimate(hours, hours, 1)) for hours in (906.4, 4.44, 0.135)]
    ['906', '4.4', '0.14']
    """
    if mean.mean is None:
        return None
    if mean.mean >= MANY_HOURS:
        return f"{mean.mean:,.0f}"
    return f"{mean.mean:.1f}" if mean.mean >= 1 else f"{mean.mean:.2g}"


def describe_group_test(test: GroupTest) -> Iterator[str]:
    """Yield lines that say whether groups differ in a figure, and which of them."""
    name = FIGURE_NAMES.get(test.figure, test.figure)
    if test.p is None:
        yield f"{name}: not tested, {test.why}."
        return
    verdict = (
        "the groups differ" if test.p < SIGNIFICANCE_LEVEL else "the groups do not clearly differ"
    )
    yield f"{name}: {verdict} (Kruskal-Wallis, {len(test.tested)} groups, p = {test.p:.2g})."
    significant_pairs = sorted(
        (pair for pair in test.pairs if pair.corrected < SIGNIFICANCE_LEVEL),
        key=lambda p: p.corrected,
    )
    for pair in significant_pairs[:MAX_LISTED_PAIRS]:
        yield f"  {' and '.join(pair.groups)} differ (Mann-Whitney, Holm, p = {pair.corrected:.2g})"
    if len(significant_pairs) > MAX_LISTED_PAIRS:
        yield f"  and {len(significant_pairs) - MAX_LISTED_PAIRS} more pairs; --json lists all"
    if test.untested:
        untested_groups = count_text(len(test.untested), "group")
        yield f"  {untested_groups} with data for fewer than five pages: not tested"


def group_report_document(analysis: CollectionAnalysis) -> dict[str, Any]:
    """Return an analysis for JSON."""
    return {
        "by": analysis.by,
        "pages": analysis.pages,
        "sampled": analysis.is_sample,
        "left_out": analysis.left_out_groups,
        "horizons_hours": [seconds / 3600 for seconds in SURVIVAL_HORIZONS],
        "total": to_json_value(analysis.total),
        "groups": to_json_value(analysis.groups),
        "tests": to_json_value(analysis.tests),
        "intervals": _histogram(analysis.intervals),
        "dice": _histogram(analysis.dice),
        "rounds": to_json_value(analysis.bursts),
    }


def _histogram(histogram: Histogram) -> dict[str, Any]:
    return {
        "edges": histogram.edges.tolist(),
        "counts": histogram.counts.tolist(),
        "lacking": histogram.lacking,
    }
