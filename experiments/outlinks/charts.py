"""Figures 3 to 5 and 8 to 15, from the stored figures."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from experiments.chart_files import save_charts
from experiments.gp4c.line_chart import ChartSeries, line_chart
from experiments.outlinks.result_tables import ExperimentResult
from experiments.outlinks.summaries import FigurePoint
from freshet.draw.chart_library import alt
from freshet.draw.theme import BLUE, PAPER, Chart, chart_rows, with_title

SOURCE_NAMES = {"world": "generated world", "pages": "real pages"}
MATRICES = {
    "3": ("Pages by their new links in a week and in the next", "share of pages"),
    "8": ("Correlation of static features", "Spearman's rho"),
    "14": ("Rankings and the three targets", "Spearman's rho"),
}
BARS = {
    "9": ("Internal link change rate from static features", "R²"),
    "10": ("External link change rate from static features", "R²"),
    "11": ("Importance of static features for the link change rate", "loss of R²"),
    "13": ("Importance of features for new links or none", "loss of balanced accuracy"),
}
LINES = {
    "4": ("Pages by link change rate", "intervals with a new link, of nine", "share of pages"),
    "12": ("New links or none by size of the history", "intervals of history", "figure"),
    "15": ("Pages with the most new links found", "first pages fetched, %", "share of the true"),
}
DRAWN_RANKINGS = (
    "NNL default rates", "NNL extra_trees lbla", "NNL extra_trees all", "NNL-Av", "NNL-Pr", "CCR",
)  # fmt: skip


def draw_charts(folder: Path, result: ExperimentResult) -> list[Path]:
    """Draw every chart into a folder; return the files."""
    return save_charts(folder, charts(result))


def charts(result: ExperimentResult) -> Iterator[tuple[str, Chart]]:
    """Yield a chart of every figure, source and kind of links, with its name."""
    places = dict.fromkeys((point.figure, point.data, point.links) for point in result.points)
    for figure, data, links in places:
        points = [
            point
            for point in result.points
            if (point.figure, point.data, point.links) == (figure, data, links)
        ]
        subtitle = ", ".join(filter(None, (SOURCE_NAMES.get(data, data), links)))
        name = "-".join(filter(None, (f"fig{figure}", data, links)))
        yield name, _chart(figure, points, subtitle)


def _chart(figure: str, points: Sequence[FigurePoint], subtitle: str) -> Chart:
    if figure in MATRICES:
        return _matrix(*MATRICES[figure], points, subtitle)
    if figure in BARS:
        return _bars(*BARS[figure], points, subtitle)
    if figure in LINES:
        return _lines(figure, points, subtitle)
    return _tail(points, subtitle)


def _lines(figure: str, points: Sequence[FigurePoint], subtitle: str) -> Chart:
    title, x_title, y_title = LINES[figure]
    names = dict.fromkeys(point.series for point in points)
    if figure == "15":
        names = dict.fromkeys(name for name in DRAWN_RANKINGS if name in names)
    series = []
    for name in names:
        drawn = [point for point in points if point.series == name and point.at[0].isdigit()]
        positions = [float(point.at.removesuffix("/9")) for point in drawn]
        series.append(
            ChartSeries(name, np.array(positions), np.array([point.value for point in drawn]))
        )
    return line_chart(series, title=title, subtitles=(subtitle,), x_title=x_title, y_title=y_title)


def _tail(points: Sequence[FigurePoint], subtitle: str) -> Chart:
    """Return the share of pages with at least so many new links, on logarithmic axes."""
    drawn = [point for point in points if point.value > 0]
    rows = chart_rows(at=[float(point.at) for point in drawn], share=[p.value for p in drawn])
    chart = (
        alt
        .Chart(rows)
        .mark_line(color=BLUE, point=True)
        .encode(
            x=alt.X("at:Q", scale=alt.Scale(type="log"), title="new links, at least"),
            y=alt.Y("share:Q", scale=alt.Scale(type="log"), title="share of pages and weeks"),
        )
    )
    return with_title(chart.properties(width=420, height=280), "New links in a week", subtitle)


def _bars(title: str, measure: str, points: Sequence[FigurePoint], subtitle: str) -> Chart:
    drawn = [point for point in points if point.series in {measure, "importance"}]
    rows = chart_rows(name=[point.at for point in drawn], value=[point.value for point in drawn])
    chart = (
        alt
        .Chart(rows)
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X("value:Q", title=measure),
            y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=300)),
        )
    )
    return with_title(chart.properties(width=420, height=24 * len(drawn)), title, subtitle)


def _matrix(title: str, measure: str, points: Sequence[FigurePoint], subtitle: str) -> Chart:
    rows = chart_rows(
        row=[point.series for point in points],
        column=[point.at for point in points],
        value=[point.value for point in points],
        text=[f"{point.value:.2f}" for point in points],
    )
    base = alt.Chart(rows).encode(
        x=alt.X("column:N", sort=None, title=None, axis=alt.Axis(labelLimit=200)),
        y=alt.Y("row:N", sort=None, title=None, axis=alt.Axis(labelLimit=200)),
    )
    cells = base.mark_rect().encode(
        color=alt.Color("value:Q", title=measure, scale=alt.Scale(range=[PAPER, BLUE]))
    )
    labels = base.mark_text(fontSize=9).encode(text="text:N")
    width = 44 * len({point.at for point in points})
    height = 24 * len({point.series for point in points})
    return with_title(
        alt.layer(cells, labels).properties(width=width, height=height), title, subtitle
    )
