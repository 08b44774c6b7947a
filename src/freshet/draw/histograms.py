"""Histograms of pages (Adar et al. 2009, Fig. 3) and of the staying power of words (Fig. 6)."""

import numpy as np

from freshet.core.humanize import count_text, duration_text, interval_text
from freshet.core.types import FloatArray
from freshet.draw.axes import clip_to_a_minute, duration_axis, share_axis
from freshet.draw.chart_library import alt
from freshet.draw.theme import (
    BLUE,
    INK,
    ORANGE,
    PAPER,
    SKY,
    WIDTH,
    Chart,
    EmptyChartError,
    chart_rows,
    shorten,
    with_title,
)
from freshet.draw.word_lifespans import staying_power_title
from freshet.measure.dynamics.terms.term_table import HIGH_STAYING_POWER, LOW_STAYING_POWER

HEIGHT = 280
BIN_COUNT = 24
KINDS = ("passes (below 0.2)", "between", "stays (above 0.8)")


def interval_histogram(hours: FloatArray) -> Chart:
    """Draw the distribution of pages over the mean time between changes."""
    hours = clip_to_a_minute(_finite(hours, "intervals: no page has changed"))
    edges = np.geomspace(hours.min() / 1.05, hours.max() * 1.05, BIN_COUNT + 1)
    scale = alt.Scale(type="log", domain=[edges[0].item(), edges[-1].item()], nice=False)
    axis = duration_axis("mean time between changes (log scale)")
    median_days = np.median(hours).item() / 24
    x = alt.X("low:Q", scale=scale, axis=axis)
    return with_title(
        _bars_with_median(hours, edges, x, duration_text(median_days)),
        f"Half of the pages change every {interval_text(median_days)} or more often",
        f"{count_text(len(hours), 'page')} that changed, by their mean time between changes",
    )


def similarity_histogram(dice: FloatArray) -> Chart:
    """Draw the distribution of pages over the mean Dice given change."""
    dice = _finite(dice, "similarities: no page has a change whose amount is known")
    axis = share_axis("mean Dice with the version before, given a change (1: the same words)")
    median = f"{np.median(dice).item():.2f}"
    x = alt.X("low:Q", scale=alt.Scale(domain=[0, 1]), axis=axis)
    return with_title(
        _bars_with_median(dice, np.linspace(0.0, 1.0, BIN_COUNT + 2), x, median),
        f"When they change, half of the pages keep Dice {median} or more",
        f"{count_text(len(dice), 'page')} that changed, by their mean Dice given change",
    )


def staying_power_histogram(powers: FloatArray, *, page: str) -> Chart:
    """Draw the distribution of a page's words over staying power."""
    powers = _finite(powers, "staying power: the page has fewer than two known times")
    counts, edges = np.histogram(powers, np.linspace(0.0, 1.0, 21))
    kinds = [_kind(low) for low in edges[:-1].tolist()]
    data = chart_rows(low=edges[:-1], high=edges[1:], count=counts, kind=kinds)
    bars = (
        alt.Chart(data)
        .mark_rect(stroke=PAPER)
        .encode(
            x=alt.X("low:Q", scale=alt.Scale(domain=[0, 1]), axis=share_axis(
                "staying power (share of pairs of moments that both have the word)")),
            x2="high:Q",
            y2=alt.datum(0),
            y=alt.Y("count:Q", title="words", axis=alt.Axis(tickMinStep=1, format=",d")),
            color=alt.Color(
                "kind:N", title=None, sort=list(KINDS), legend=alt.Legend(orient="top"),
                scale=alt.Scale(domain=list(KINDS), range=[ORANGE, SKY, BLUE]),
            ),
            tooltip=["count:Q", "low:Q", "high:Q"],
        )
    )  # fmt: skip
    return with_title(
        bars.properties(width=WIDTH, height=HEIGHT),
        staying_power_title(powers),
        shorten(page),
        f"{count_text(len(powers), 'word')} by their staying power",
    )


def _finite(values: FloatArray, missing: str) -> FloatArray:
    values = values[np.isfinite(values)]
    if not len(values):
        raise EmptyChartError(f"no histogram of {missing}")
    return values


def _bars_with_median(values: FloatArray, edges: FloatArray, x: alt.X, median: str) -> Chart:
    """Draw the number of pages between each two edges, and a line at the median."""
    counts, _ = np.histogram(values, edges)
    bars = (
        alt
        .Chart(chart_rows(low=edges[:-1], high=edges[1:], count=counts))
        .mark_rect(color=BLUE, stroke=PAPER)
        .encode(
            x=x,
            x2="high:Q",
            y2=alt.datum(0),
            y=alt.Y("count:Q", title="pages", axis=alt.Axis(tickMinStep=1, format=",d")),
            tooltip=["count:Q", "low:Q", "high:Q"],
        )
    )
    middle = alt.Chart(chart_rows(low=[np.median(values)], label=[f"median {median}"]))
    line = middle.mark_rule(color=ORANGE, strokeWidth=2).encode(x=x)
    text = middle.mark_text(align="left", dx=6, dy=-6, color=INK).encode(
        x=x, y=alt.value(0), text="label:N"
    )
    return alt.layer(bars, line, text).properties(width=WIDTH, height=HEIGHT)


def _kind(low: float) -> str:
    """Return the kind of words in the bar that starts at ``low``.

    >>> _kind(0.0), _kind(0.5), _kind(0.8)
    ('passes (below 0.2)', 'between', 'stays (above 0.8)')
    """
    if low < LOW_STAYING_POWER - 1e-9:
        return KINDS[0]
    return KINDS[2] if low >= HIGH_STAYING_POWER - 1e-9 else KINDS[1]
