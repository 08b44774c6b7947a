"""Functions that read what a chart shows, shared by the tests of charts."""

from typing import Any

from freshet.draw.chart_file import render_chart
from freshet.draw.theme import Chart

PAGE = "https://example.org/"


def title_of(chart: Chart) -> str:
    return str(chart.to_dict()["title"]["text"])


def subtitles_of(chart: Chart) -> str:
    return "\n".join(chart.to_dict()["title"]["subtitle"])


def rows_of(chart: Chart, *columns: str) -> list[tuple[Any, ...]]:
    """Return the rows of the first table that has all of these columns."""
    tables = chart.to_dict()["datasets"].values()
    rows = next(table for table in tables if table and set(columns) <= set(table[0]))
    return [tuple(row[column] for column in columns) for row in rows]


def svg_of(chart: Chart) -> str:
    return render_chart(chart, "svg").decode()
