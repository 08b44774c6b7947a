"""How every picture looks: its colours, letters and lines, and the words around it.

The colours are those of Okabe and Ito (2008), which colour-blind readers can tell apart. A picture
brings its own light ground, so that it reads the same on a light page and on a dark one.
"""

from collections.abc import Iterable
from math import isfinite
from typing import Any, TypeAlias

import altair as alt
from altair.typing import ChartType

from freshet.core.errors import UsageError

Chart: TypeAlias = ChartType

INK, QUIET, FAINT, PAPER = "#1f2933", "#5f6b7a", "#e4e7eb", "#fdfdfb"
BLUE, ORANGE, GREEN, RED, SKY, ROSE = (
    "#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7",
)  # fmt: skip
FONT = "'Liberation Sans', Arial, Helvetica, sans-serif"
WIDTH, HEIGHT = 640, 340
MAX_NAME_CHARS = 72


class EmptyChartError(UsageError):
    """There is too little to make a picture of; the message says what is missing."""


def with_title(picture: Chart, title: str, *lines: str) -> Chart:
    """Return a picture with its title, the lines below it, and the look that all of them share."""
    heading = alt.TitleParams(text=title, subtitle=list(lines))
    described = picture.properties(title=heading, description=" ".join((title, *lines)))
    return described.configure(**_look())


def _look() -> dict[str, Any]:
    letters = {"labelFont": FONT, "titleFont": FONT, "titleFontWeight": "normal"}
    quiet = {"labelColor": QUIET, "titleColor": QUIET, "labelFontSize": 11, "titleFontSize": 12}
    return {
        "background": PAPER,
        "font": FONT,
        "padding": 18,
        "view": {"stroke": None},
        "axis": letters | quiet | {
            "domainColor": QUIET, "tickColor": QUIET, "gridColor": FAINT, "titlePadding": 10,
        },
        "legend": letters | quiet,
        "header": letters | quiet,
        "title": {
            "font": FONT, "fontSize": 17, "fontWeight": "bold", "color": INK,
            "subtitleFont": FONT, "subtitleFontSize": 12, "subtitleColor": QUIET,
            "subtitlePadding": 6, "anchor": "start", "frame": "group", "offset": 16,
            "lineHeight": 20, "subtitleLineHeight": 16,
        },
        "text": {"font": FONT, "fontSize": 11, "color": INK},
    }  # fmt: skip


def chart_rows(**columns: Iterable[Any]) -> alt.InlineData:
    """Return columns as the rows that a chart reads; numbers that are none become gaps."""
    lists = [[_value(item) for item in column] for column in columns.values()]
    return alt.InlineData(
        values=[dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]
    )


def _value(item: Any) -> Any:
    """Return a value as JSON holds it.

    >>> import numpy as np
    >>> _value(np.float64("nan")), _value(np.int32(3)), _value("word")
    (None, 3, 'word')
    """
    plain = item.item() if hasattr(item, "item") else item
    return None if isinstance(plain, float) and not isfinite(plain) else plain


def count_phrase(number: int, noun: str) -> str:
    """Write how many there are of something.

    >>> count_phrase(1, "block"), count_phrase(2000, "block")
    ('1 block', '2,000 blocks')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def shorten(name: str, longest: int = MAX_NAME_CHARS) -> str:
    """Return a name that fits into a line: its middle is left out where it is too long.

    >>> shorten("https://example.org/a/very/long/way/to/go", 24)
    'https://exam…g/way/to/go'
    """
    if len(name) <= longest:
        return name
    head, tail = longest // 2, (longest - 1) // 2
    return f"{name[:head]}…{name[len(name) - tail :]}"
