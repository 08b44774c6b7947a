"""Files of the charts of a document."""

from collections.abc import Iterable
from pathlib import Path

from freshet.draw.chart_file import save_chart
from freshet.draw.theme import Chart

KIND = "svg"


def save_charts(folder: Path, charts: Iterable[tuple[str, Chart]]) -> list[Path]:
    """Draw charts into a folder, each by its name; return the files."""
    files = []
    for name, chart in charts:
        folder.mkdir(parents=True, exist_ok=True)
        files.append(folder / f"{name}.{KIND}")
        save_chart(chart, files[-1])
    return files
