"""Write a chart as PNG, SVG, a self-contained HTML page, or Vega-Lite JSON."""

import json
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from freshet.core.errors import UsageError
from freshet.draw.chart_library import vl_convert
from freshet.draw.png import recompress
from freshet.draw.theme import PAPER, Chart

FORMATS = ("png", "svg", "html", "json")
PNG_SCALE = 2.0
PAGE_TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data: blob:;
 style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 0; padding: 1.5rem; background: #eceef1; }}
#chart {{ display: inline-block; background: {paper}; border-radius: 8px; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #14181d; }} }}
</style>
</head>
<body>
<div id="chart"></div>
<script>{library}</script>
<script>
vegaEmbed("#chart", {specification}, {{
  mode: "vega-lite", renderer: "svg",
  actions: {{ export: true, source: false, compiled: false, editor: false }}
}});
</script>
</body>
</html>
"""


def save_chart(chart: Chart, path: Path) -> None:
    """Write a chart in the format that the file name ends with: .png, .svg, .html or .json."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise UsageError(f"{path} is no chart format; end the name with .{', .'.join(FORMATS)}")
    path.write_bytes(render_chart(chart, kind))


def render_chart(chart: Chart, kind: str) -> bytes:
    """Return a chart in a file format, as bytes."""
    specification = chart.to_dict()
    if kind == "png":
        png = vl_convert.vegalite_to_png(specification, scale=PNG_SCALE, allowed_base_urls=[])
        return recompress(bytes(png))
    if kind == "svg":
        return vl_convert.vegalite_to_svg(specification, allowed_base_urls=[]).encode()
    if kind == "html":
        return _page(specification).encode()
    return json.dumps(specification, indent=1).encode()


def _page(specification: dict[str, object]) -> str:
    """Return an HTML page with the chart and the library that draws it; it loads nothing.

    Text from web pages (their addresses, their words) is escaped, so that it can neither end the
    script nor be read as markup.
    """
    embedded = {name: value for name, value in specification.items() if name != "$schema"}
    title = escape(str(embedded.get("description", "Picture")))
    escaped = json.dumps(embedded).replace("<", "\\u003c").replace(">", "\\u003e")
    return PAGE_TEMPLATE.format(
        title=title, paper=PAPER, library=chart_script(), specification=escaped
    )


def chart_specification(chart: Chart) -> dict[str, Any]:
    """Return a chart as a Vega-Lite specification."""
    specification: dict[str, Any] = chart.to_dict()
    return specification


@cache
def chart_script() -> str:
    """Return the JavaScript library that draws charts, from the installed package."""
    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
