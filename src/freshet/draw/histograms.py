"""Histograms: mean intervals and mean Dice of pages (Adar et al. 2009, Fig. 3), and the staying
power of words (Fig. 6).
"""

from dataclasses import dataclass

import altair as alt
import numpy as np

from freshet.core.humanize import duration_text, interval_text
from freshet.core.shares import percent_text, percent_text_capitalized
from freshet.core.types import FloatArray
from freshet.draw.axes import clip_to_a_minute, duration_axis, share_axis
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
    count_phrase,
    shorten,
    with_title,
)

TALL = 280
BINS = 24
STAYS_ABOVE, PASSES_BELOW = 0.8, 0.2
KINDS = ("passes (below 0.2)", "between", "stays (above 0.8)")


@dataclass(frozen=True, slots=True)
class _HistogramBins:
    """Where each bar begins and ends, and how many it counts."""

    low: FloatArray
    high: FloatArray
    counts: FloatArray


def interval_histogram(hours: FloatArray) -> Chart:
    """Draw how many pages have which mean time between changes."""
    known = clip_to_a_minute(_known(hours, "intervals: no page has changed"))
    edges = np.geomspace(known.min() / 1.05, known.max() * 1.05, BINS + 1)
    bins = _binned(known, edges)
    scale = alt.Scale(type="log", domain=[edges[0].item(), edges[-1].item()], nice=False)
    axis = duration_axis("mean time between changes (log scale)")
    middle = np.median(known).item()
    return with_title(
        _bars(
            bins,
            alt.X("low:Q", scale=scale, axis=axis),
            middle,
            duration_text(middle / 24),
            "pages",
        ),
        f"Half of the pages change every {interval_text(middle / 24)} or more often",
        f"{count_phrase(len(known), 'page')} that changed, by their mean time between changes",
    )


def similarity_histogram(dices: FloatArray) -> Chart:
    """Draw how many pages have which mean Dice given change."""
    known = _known(dices, "similarities: no page has a change whose amount is known")
    bins = _binned(known, np.linspace(0.0, 1.0, BINS + 2))
    axis = share_axis("mean Dice with the version before, given a change (1: the same words)")
    middle = np.median(known).item()
    x = alt.X("low:Q", scale=alt.Scale(domain=[0, 1]), axis=axis)
    return with_title(
        _bars(bins, x, middle, f"{middle:.2f}", "pages"),
        f"When they change, half of the pages keep Dice {middle:.2f} or more",
        f"{count_phrase(len(known), 'page')} that changed, by their mean Dice given change",
    )


def staying_power_histogram(powers: FloatArray, *, page: str) -> Chart:
    """Draw how many words of a page have which staying power."""
    known = _known(powers, "staying power: the page has fewer than two known moments")
    bins = _binned(known, np.linspace(0.0, 1.0, 21))
    kinds = [_kind(low) for low in bins.low.tolist()]
    data = chart_rows(low=bins.low, high=bins.high, count=bins.counts, kind=kinds)
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
    stay, pass_by = (known > STAYS_ABOVE).mean().item(), (known < PASSES_BELOW).mean().item()
    return with_title(
        bars.properties(width=WIDTH, height=TALL),
        f"{percent_text_capitalized(stay)} of the words stay, {percent_text(pass_by)} pass",
        shorten(page),
        f"{count_phrase(len(known), 'word')} by their staying power",
    )


def _known(values: FloatArray, missing: str) -> FloatArray:
    known = np.asarray(values, np.float64)
    known = known[np.isfinite(known)]
    if not len(known):
        raise EmptyChartError(f"no histogram of {missing}")
    return known


def _binned(values: FloatArray, edges: FloatArray) -> _HistogramBins:
    counts, _ = np.histogram(values, edges)
    return _HistogramBins(edges[:-1], edges[1:], counts.astype(np.float64))


def _bars(bins: _HistogramBins, x: alt.X, middle: float, label: str, what: str) -> Chart:
    """Draw bars with a line at the median."""
    bars = (
        alt
        .Chart(chart_rows(low=bins.low, high=bins.high, count=bins.counts))
        .mark_rect(color=BLUE, stroke=PAPER)
        .encode(
            x=x,
            x2="high:Q",
            y2=alt.datum(0),
            y=alt.Y("count:Q", title=what, axis=alt.Axis(tickMinStep=1, format=",d")),
            tooltip=["count:Q", "low:Q", "high:Q"],
        )
    )
    marked = alt.Chart(chart_rows(low=[middle], label=[f"median {label}"]))
    line = marked.mark_rule(color=ORANGE, strokeWidth=2).encode(x=x)
    words = marked.mark_text(align="left", dx=6, dy=-6, color=INK).encode(
        x=x, y=alt.value(0), text="label:N"
    )
    return alt.layer(bars, line, words).properties(width=WIDTH, height=TALL)


def _kind(low: float) -> str:
    """Return the name of the kind of words that a bar counts.

    >>> _kind(0.0), _kind(0.5), _kind(0.8)
    ('passes (below 0.2)', 'between', 'stays (above 0.8)')
    """
    if low < PASSES_BELOW - 1e-9:
        return KINDS[0]
    return KINDS[2] if low >= STAYS_ABOVE - 1e-9 else KINDS[1]
