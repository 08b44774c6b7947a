"""Chart of groups of pages: a dot for each mean, a line for its confidence interval."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from freshet.core.humanize import duration_text
from freshet.draw.axes import duration_axis, duration_scale, share_axis
from freshet.draw.chart_library import alt
from freshet.draw.theme import (
    BLUE,
    INK,
    PAPER,
    WIDTH,
    Chart,
    EmptyChartError,
    chart_rows,
    shorten,
    with_title,
)
from freshet.measure.statistics.groups import (
    MIN_TESTED_PAGES,
    GroupSummary,
    GroupTest,
    MeanEstimate,
)

MAX_ROWS = 40
ROW_HEIGHT = 22
CONFIDENCE_LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class _GroupMean:
    """A group with the mean of one figure, and the ends of its interval as they are drawn."""

    group: str
    pages: int
    mean: float
    low: float
    high: float

    @property
    def label(self) -> str:
        """Return the name of the group with its number of pages.

        >>> _GroupMean("org", 12, 1.0, 0.5, 2.0).label
        'org (12)'
        """
        return f"{shorten(self.group, 40)} ({self.pages:,})"

    @property
    def is_large(self) -> bool:
        return self.pages >= MIN_TESTED_PAGES


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure of groups: its name, its text form, its scale and its axis."""

    name: str
    text: Callable[[float], str]
    scale: alt.Scale
    axis: alt.Axis


def group_intervals_chart(
    groups: Sequence[GroupSummary], *, by: str, test: GroupTest | None = None
) -> Chart:
    """Draw the mean time between changes of groups; ``test`` says whether the groups differ."""
    means = _largest_means(groups, lambda group: group.interval_hours)
    hours = [value for mean in means for value in (mean.mean, mean.low, mean.high) if value > 0]
    figure = _Figure(
        "Time between changes",
        lambda mean: duration_text(mean / 24),
        duration_scale(hours),
        duration_axis("mean time between changes (log scale)"),
    )
    return _dot_chart(means, len(groups), figure, by, test)


def group_similarities_chart(
    groups: Sequence[GroupSummary], *, by: str, test: GroupTest | None = None
) -> Chart:
    """Draw the mean Dice given change of groups; ``test`` says whether the groups differ."""
    means = _largest_means(groups, lambda group: group.dice, max_bound=1.0)
    axis = share_axis("mean Dice given change (1: the same words)")
    scale = alt.Scale(zero=False, domainMax=1.0)
    figure = _Figure("Dice given change", lambda mean: f"{mean:.2f}", scale, axis)
    return _dot_chart(means, len(groups), figure, by, test)


def _largest_means(
    groups: Sequence[GroupSummary],
    figure: Callable[[GroupSummary], MeanEstimate],
    max_bound: float = float("inf"),
) -> list[_GroupMean]:
    """Return the means of the largest groups.

    The mean takes the place of a bound that is unknown, or that a log scale cannot show.
    """
    means = []
    for group in groups:
        estimate = figure(group)
        if estimate.mean is not None:
            low = estimate.low or estimate.mean
            high = min(estimate.high or estimate.mean, max_bound)
            means.append(_GroupMean(group.name, estimate.pages, estimate.mean, low, high))
    if not means:
        raise EmptyChartError("no chart of groups: none of them has changes to measure")
    return sorted(means, key=lambda mean: -mean.pages)[:MAX_ROWS]


def _dot_chart(
    means: Sequence[_GroupMean], groups: int, figure: _Figure, by: str, test: GroupTest | None
) -> Chart:
    ordered = sorted(means, key=lambda mean: mean.mean)
    data = chart_rows(
        group=[mean.label for mean in means], mean=[mean.mean for mean in means],
        low=[mean.low for mean in means], high=[mean.high for mean in means],
        fill=[BLUE if mean.is_large else PAPER for mean in means],
    )  # fmt: skip
    y = alt.Y(
        "group:N", sort=[mean.label for mean in ordered], title=None,
        axis=alt.Axis(labelLimit=280, labelFontSize=12, labelColor=INK, ticks=False, domain=False),
    )  # fmt: skip
    base = alt.Chart(data).encode(y=y)
    bars = base.mark_rule(color=BLUE, strokeWidth=3, opacity=0.4).encode(
        x=alt.X("low:Q", scale=figure.scale, axis=figure.axis), x2="high:Q"
    )
    dots = base.mark_point(stroke=BLUE, size=90, opacity=1, strokeWidth=2).encode(
        x=alt.X("mean:Q", scale=figure.scale, axis=figure.axis), fill=alt.Fill("fill:N", scale=None)
    )
    chart = alt.layer(bars, dots).properties(width=WIDTH, height=ROW_HEIGHT * len(means))
    some = "" if len(means) == groups else f"; {len(means)} of {groups} groups"
    legend = f"by {by}, (pages), 95 % intervals; hollow: fewer than {MIN_TESTED_PAGES} pages{some}"
    return with_title(chart, _title(ordered, figure, by), legend, *_test_lines(test))


def _title(ordered: Sequence[_GroupMean], figure: _Figure, by: str) -> str:
    """Name the groups with the lowest and the highest mean among those with enough pages."""
    large = [mean for mean in ordered if mean.is_large]
    if len(large) < 2:
        return f"{figure.name}, by {by}"
    ends = (large[0], large[-1])
    low, high = (f"{figure.text(mean.mean)} ({shorten(mean.group, 24)})" for mean in ends)
    return f"{figure.name}: {low} to {high}"


def _test_lines(test: GroupTest | None) -> list[str]:
    """Return the result of the test of the groups as a line; none where nothing was tested."""
    if test is None or test.p is None:
        return []
    is_different = test.p < CONFIDENCE_LEVEL
    differ = "the groups differ" if is_different else "the groups do not clearly differ"
    return [f"{differ} (Kruskal-Wallis, p = {test.p:.2g})"]
