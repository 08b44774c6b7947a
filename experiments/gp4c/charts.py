"""Figures 3 to 5 for the world and the real traces."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from experiments.gp4c.crawls import known_mean
from experiments.gp4c.evaluation import FigurePoint, ResultRow
from experiments.gp4c.line_chart import ChartSeries, line_chart
from freshet.core.types import FloatArray
from freshet.draw.chart_file import save_chart
from freshet.draw.theme import Chart

KIND = "svg"
METRIC_LABELS = {"changerate": "ChangeRate", "ndcg": "NDCG"}
LINE_LABELS = {f"evolved for {name}": f"evolved for {said}" for name, said in METRIC_LABELS.items()}
MANY_CYCLES, SMOOTHING_WINDOW = 100, 7
X_TITLES = {
    "fig3": "cycle after the warm-up",
    "fig4": "cycle after the warm-up",
    "fig5": "visits a cycle, % of the pages",
}
TITLES = {
    "fig3": "Three methods to select among the formulas of a search",
    "fig4": "Learned formulas and rules, cycle by cycle",
    "fig5": "Formulas evolved at 5 %, crawling with less",
}


def draw_charts(folder: Path, table: Sequence[ResultRow]) -> list[Path]:
    """Draw every chart into a folder; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, picture in charts([row for row in table if isinstance(row, FigurePoint)]):
        files.append(folder / f"{name}.{KIND}")
        save_chart(picture, files[-1])
    return files


def charts(points: Sequence[FigurePoint]) -> Iterator[tuple[str, Chart]]:
    """Yield a chart of every figure, trace and metric, with its name."""
    for figure, trace, metric in dict.fromkeys((p.table, p.trace, p.metric) for p in points):
        selected = [p for p in points if (p.table, p.trace, p.metric) == (figure, trace, metric)]
        series = [_line(method, selected) for method in dict.fromkeys(p.method for p in selected)]
        picture = line_chart(
            series,
            title=TITLES[figure],
            subtitles=(
                f"trace {trace}, means over the test pages of the folds",
                _describe_lines(series),
            ),
            x_title=X_TITLES[figure],
            y_title=METRIC_LABELS[metric],
        )
        yield f"{figure}-{trace}-{metric}", picture


def _describe_lines(series: Sequence[ChartSeries]) -> str:
    """Describe the lines: bands, or smoothing."""
    if any(line.margins is not None for line in series):
        return "bands: where the means lie, with 95 % confidence"
    if len(series[0].positions) > MANY_CYCLES:
        return f"each point is the mean of {SMOOTHING_WINDOW} cycles around it"
    return "without bands, as in the paper"


def _line(method: str, points: Sequence[FigurePoint]) -> ChartSeries:
    """Return the line of a method; Figure 4 is drawn without bands, as in the paper.

    Lines with many cycles show running means.
    """
    method_points = [point for point in points if point.method == method]
    shares, margins = (
        np.array([np.nan if value is None else value for value in values])
        for values in (
            [point.ours for point in method_points],
            [point.margin for point in method_points],
        )
    )
    in_percent = 100 if method_points[0].table == "fig5" else 1
    at = np.array([point.at * in_percent for point in method_points])
    if method_points[0].table != "fig4":
        return ChartSeries(LINE_LABELS.get(method, method), at, shares, margins)
    return ChartSeries(method, at, running_means(shares) if len(at) > MANY_CYCLES else shares)


def running_means(values: FloatArray) -> FloatArray:
    """Return running means, of fewer values at the ends and around missing values.

    >>> running_means(np.array([1.0, 1, 1, 1, 1, 1, 8])).tolist()
    [1.0, 1.0, 1.0, 2.0, 2.1666666666666665, 2.4, 2.75]
    """
    padded = np.pad(values, SMOOTHING_WINDOW // 2, constant_values=np.nan)
    return known_mean(np.lib.stride_tricks.sliding_window_view(padded, SMOOTHING_WINDOW).T)
