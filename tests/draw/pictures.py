"""What the tests of pictures share."""

from typing import Any

from freshet.draw.chart_file import render_chart
from freshet.draw.theme import Chart

PAGE = "https://example.org/"


def title_of(picture: Chart) -> str:
    return str(picture.to_dict()["title"]["text"])


def lines_of(picture: Chart) -> str:
    return "\n".join(picture.to_dict()["title"]["subtitle"])


def rows_of(picture: Chart, *names: str) -> list[tuple[Any, ...]]:
    """Return the rows of the first table that has all of these columns."""
    tables = picture.to_dict()["datasets"].values()
    held = next(table for table in tables if table and set(names) <= set(table[0]))
    return [tuple(row[name] for name in names) for row in held]


def svg_of(picture: Chart) -> str:
    return render_chart(picture, "svg").decode()
