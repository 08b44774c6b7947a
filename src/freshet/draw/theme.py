"""The common style of all charts: colours, fonts, lines, titles and text formatting.

The colours are those of Okabe and Ito (2008), which colour-blind readers can tell apart. A chart
has its own light background, so it looks the same on a light page and on a dark one.
"""

from collections.abc import Iterable
from math import isfinite
from typing import Any, TypeAlias

from freshet.core.errors import UsageError
from freshet.draw.chart_library import ChartType, alt

Chart: TypeAlias = ChartType

INK, QUIET, FAINT, PAPER = "#1f2933", "#5f6b7a", "#e4e7eb", "#fdfdfb"
BLUE, ORANGE, GREEN, RED, SKY, ROSE = (
    "#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7",
)  # fmt: skip
FONT = "'Liberation Sans', Arial, Helvetica, sans-serif"
WIDTH, HEIGHT = 640, 340
MAX_NAME_CHARS = 72


class EmptyChartError(UsageError):
    """There is too little data for a chart; the message says what is missing."""


def with_title(chart: Chart, title: str, *subtitles: str) -> Chart:
    """Return a chart with its title, its subtitles and the common style."""
    heading = alt.TitleParams(text=title, subtitle=list(subtitles))
    described = chart.properties(title=heading, description=" ".join((title, *subtitles)))
    return described.configure(**_style())


def _style() -> dict[str, Any]:
    fonts = {"labelFont": FONT, "titleFont": FONT, "titleFontWeight": "normal"}
    quiet = {"labelColor": QUIET, "titleColor": QUIET, "labelFontSize": 11, "titleFontSize": 12}
    return {
        "background": PAPER,
        "font": FONT,
        "padding": 18,
        "view": {"stroke": None},
        "axis": fonts | quiet | {
            "domainColor": QUIET, "tickColor": QUIET, "gridColor": FAINT, "titlePadding": 10,
        },
        "legend": fonts | quiet,
        "header": fonts | quiet,
        "title": {
            "font": FONT, "fontSize": 17, "fontWeight": "bold", "color": INK,
            "subtitleFont": FONT, "subtitleFontSize": 12, "subtitleColor": QUIET,
            "subtitlePadding": 6, "anchor": "start", "frame": "group", "offset": 16,
            "lineHeight": 20, "subtitleLineHeight": 16,
        },
        "text": {"font": FONT, "fontSize": 11, "color": INK},
    }  # fmt: skip


def chart_rows(**columns: Iterable[Any]) -> alt.InlineData:
    """Return columns as the rows of a chart; numbers that are not finite become null."""
    lists = [[_json_value(item) for item in column] for column in columns.values()]
    return alt.InlineData(
        values=[dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]
    )


def _json_value(item: Any) -> Any:
    """Return a value in its JSON form.

    >>> import numpy as np
    >>> _json_value(np.float64("nan")), _json_value(np.int32(3)), _json_value("word")
    (None, 3, 'word')
    """
    plain = item.item() if hasattr(item, "item") else item
    return None if isinstance(plain, float) and not isfinite(plain) else plain


def shorten(name: str, max_chars: int = MAX_NAME_CHARS) -> str:
    """Return a name that fits into a line; the middle of a longer name is cut out.

    >>> shorten("https://example.org/a/very/long/way/to/go", 24)
    'https://exam…g/way/to/go'
    """
    if len(name) <= max_chars:
        return name
    head, tail = max_chars // 2, (max_chars - 1) // 2
    return f"{name[:head]}…{name[len(name) - tail :]}"
