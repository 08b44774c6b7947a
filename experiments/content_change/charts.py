"""Figures 6 to 8: accuracy by training size and number of experts, freshness by day."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from experiments.chart_files import save_charts
from experiments.content_change.crawl import CrawlPoint
from experiments.content_change.result_tables import ExperimentResult
from experiments.content_change.sweeps import EXPERT_COUNT, TRAINING_SIZE, SweepRow
from experiments.gp4c.line_chart import ChartSeries, line_chart
from freshet.draw.theme import Chart

DRAWN_CRAWLS = ("1D", "2D", "3D xcorr", "pooled", "round-robin", "bayes-freshness")
SOURCE_NAMES = {"world": "generated pages", "pages": "real pages"}


def draw_charts(folder: Path, result: ExperimentResult) -> list[Path]:
    """Draw every chart into a folder; return the files."""
    return save_charts(folder, charts(result))


def charts(result: ExperimentResult) -> Iterator[tuple[str, Chart]]:
    """Yield a chart of every figure and source, with its name."""
    for data in dict.fromkeys(row.data for row in result.sweeps):
        for figure, sweep, x_title in (
            ("fig6", TRAINING_SIZE, "training steps"),
            ("fig7", EXPERT_COUNT, "experts"),
        ):
            rows = [row for row in result.sweeps if (row.data, row.sweep) == (data, sweep)]
            title = f"Accuracy by number of {x_title}"
            lines = list(_sweep_lines(rows))
            yield f"{figure}-{data}", _chart(data, title, lines, x_title, "accuracy")
    for data in dict.fromkeys(point.data for point in result.crawl_points):
        series = [_crawl_line(method, data, result.crawl_points) for method in DRAWN_CRAWLS]
        yield f"fig8-{data}", _chart(data, "Freshness of a crawl", series, "day", "freshness")


def _crawl_line(method: str, data: str, points: Sequence[CrawlPoint]) -> ChartSeries:
    drawn = [point for point in points if (point.data, point.method) == (data, method)]
    return ChartSeries(
        method,
        np.array([point.day for point in drawn], np.float64),
        np.array([point.freshness for point in drawn]),
    )


def _sweep_lines(rows: Sequence[SweepRow]) -> Iterator[ChartSeries]:
    for method, selection in dict.fromkeys((row.method, row.selection) for row in rows):
        drawn = [row for row in rows if (row.method, row.selection) == (method, selection)]
        yield ChartSeries(
            f"{method} {selection}".strip(),
            np.array([row.value for row in drawn], np.float64),
            np.array([row.accuracy for row in drawn]),
        )


def _chart(
    data: str, title: str, series: Sequence[ChartSeries], x_title: str, y_title: str
) -> Chart:
    subtitle = SOURCE_NAMES.get(data, data)
    return line_chart(series, title=title, subtitles=(subtitle,), x_title=x_title, y_title=y_title)
