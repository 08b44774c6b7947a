"""The paper's figures, drawn for our pages."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from experiments.web_changes.evaluation import HORIZONS, FigureRow
from experiments.web_changes.experiment import MeasuredPages
from experiments.web_changes.page_reports import PageReport
from freshet.analysis.charts import draw_page_charts
from freshet.draw.chart_file import save_chart
from freshet.draw.histograms import interval_histogram, similarity_histogram
from freshet.draw.scatter import page_means_scatter
from freshet.draw.survival_curve import survival_curve
from freshet.draw.theme import Chart

KIND = "png"
CHARTS_BY_PART = {
    "bbc_front": ("curve", "words"),
    "hn_front": ("curve",),
    "cdr_home": ("changes", "curve"),
    "gh_trending": ("changes", "curve", "words", "staying-power"),
    "ota_contrib_snap": ("blocks", "staying-power"),
}


def draw_charts(
    folder: Path,
    table: Sequence[FigureRow],
    worlds: Mapping[str, MeasuredPages],
    reports: Sequence[PageReport],
) -> list[Path]:
    """Write every chart into a folder; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, chart in _charts_of_many_pages(table, worlds):
        files.append(folder / f"{name}.{KIND}")
        save_chart(chart, files[-1])
    for report in reports:
        files += _page_charts(folder, report)
    return files


def _page_charts(folder: Path, report: PageReport) -> Iterator[Path]:
    """Write the shown charts of one page; yield the files."""
    dataset = report.study.page.source
    with TemporaryDirectory() as scratch:
        for file in draw_page_charts(report.study, Path(scratch), KIND).files:
            if file.stem in CHARTS_BY_PART[dataset]:
                path = folder / f"{file.stem}-{dataset.replace('_', '-')}.{KIND}"
                path.write_bytes(file.read_bytes())
                yield path


def _charts_of_many_pages(
    table: Sequence[FigureRow], worlds: Mapping[str, MeasuredPages]
) -> Iterator[tuple[str, Chart]]:
    """Yield the charts of many pages: Figures 2 and 3, and Table 4 as curves."""
    for name, measured in worlds.items():
        figures = measured.figures
        yield f"changes-{name}", page_means_scatter(figures.interval_hours, figures.dice_mean)
        yield f"intervals-{name}", interval_histogram(figures.interval_hours)
        yield f"similarities-{name}", similarity_histogram(figures.dice_mean)
    yield (
        "survival",
        survival_curve(dict(_survivals(table)), subtitle="the mean over pages that changed"),
    )


def _survivals(table: Sequence[FigureRow]) -> Iterator[tuple[str, list[float | None]]]:
    """Yield the survival of elements in the paper, in the generated world and on real pages."""
    rows = [row for row in table if row.table == "t4" and row.metric == "mean"]
    ordered = sorted(rows, key=lambda row: HORIZONS.index(row.group))
    for name in ("paper", "world", "real"):
        values = [getattr(row, name) for row in ordered]
        shares = [None if value is None else float(value) for value in values]
        if any(share is not None for share in shares):
            yield name, shares
