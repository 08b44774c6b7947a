"""Curves of the delay of posts against visits, of both kinds of threads."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments.chart_files import save_charts
from experiments.gp4c.line_chart import ChartSeries, line_chart
from experiments.threads.document import KIND_NAMES
from experiments.threads.expected_figures import ThreadFigures
from experiments.threads.experiment import FLEET, THREAD
from freshet.draw.theme import Chart

DRAWN = ("fixed", "root of wait", "SVR, 10 words", "online sigmoid", "kernel", "default")


def draw_charts(folder: Path, figures: ThreadFigures) -> list[Path]:
    """Draw every chart into a folder; return the files."""
    return save_charts(folder, charts(figures))


def charts(figures: ThreadFigures) -> Iterator[tuple[str, Chart]]:
    """Yield a chart for each kind and mode, with its name."""
    for kind in dict.fromkeys(row.kind for row in figures.rows):
        for mode in (FLEET, THREAD):
            chart = line_chart(
                list(_series(figures, kind, mode)),
                title="Delay of posts at equal visits",
                subtitles=(KIND_NAMES[kind], f"mode {mode}"),
                x_title="visits per post",
                y_title="log10 of the mean delay in minutes",
            )
            yield f"{kind}-{mode}", chart


def _series(figures: ThreadFigures, kind: str, mode: str) -> Iterator[ChartSeries]:
    for policy in DRAWN:
        rows = [
            row for row in figures.rows if (row.policy, row.kind, row.mode) == (policy, kind, mode)
        ]
        if rows:
            visits = np.array([row.visits_per_post for row in rows])
            yield ChartSeries(policy, visits, np.log10([row.t_score for row in rows]))
