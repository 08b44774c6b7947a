"""The charts of one page and of a whole collection, drawn and written as files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from freshet.analysis.collection_analysis import CollectionAnalysis
from freshet.analysis.page_study import PageStudy
from freshet.core.errors import NoSpaceError
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.draw.block_heatmap import block_heatmap
from freshet.draw.change_calendar import change_calendar
from freshet.draw.change_curve import change_curve_chart
from freshet.draw.chart_file import save_chart
from freshet.draw.group_means import group_intervals_chart, group_similarities_chart
from freshet.draw.histograms import (
    interval_histogram,
    similarity_histogram,
    staying_power_histogram,
)
from freshet.draw.scatter import page_changes_scatter, page_means_scatter
from freshet.draw.survival_curve import HISTORY_TOO_SHORT, survival_curve
from freshet.draw.theme import Chart, EmptyChartError
from freshet.draw.word_lifespans import word_lifespans_chart
from freshet.measure.dynamics.structure.block_names import block_names
from freshet.measure.dynamics.structure.blocks import block_contents
from freshet.measure.dynamics.time_grid import unobserved_gaps

ChartMaker = Callable[[], Chart]


@dataclass(frozen=True, slots=True)
class ChartFiles:
    """The files that were written, and the reason for each chart that could not be drawn."""

    files: tuple[Path, ...]
    missing_charts: tuple[str, ...]


def draw_page_charts(
    study: PageStudy, folder: Path, file_format: str, progress: ProgressCallback = ignore_progress
) -> ChartFiles:
    """Write the charts of one page into a folder, as png, svg, html or json files."""
    return _write_charts(page_charts(study), folder, file_format, progress)


def draw_collection_charts(
    analysis: CollectionAnalysis,
    folder: Path,
    file_format: str,
    progress: ProgressCallback = ignore_progress,
) -> ChartFiles:
    """Write the charts of a collection and its groups into a folder, in one of the formats."""
    return _write_charts(_collection_charts(analysis), folder, file_format, progress)


def _write_charts(
    charts: Mapping[str, ChartMaker], folder: Path, file_format: str, progress: ProgressCallback
) -> ChartFiles:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NoSpaceError(
            f"{folder} cannot hold charts: {error.strerror}; choose another folder"
        ) from error
    files, missing_charts = [], []
    for number, (name, draw) in enumerate(charts.items(), 1):
        path = folder / f"{name}.{file_format}"
        try:
            save_chart(draw(), path)
            files.append(path)
        except EmptyChartError as reason:
            missing_charts.append(str(reason))
        progress(number, len(charts))
    return ChartFiles(tuple(files), tuple(missing_charts))


def page_charts(study: PageStudy) -> dict[str, ChartMaker]:
    """Return the functions that draw the charts of one page, by the names of the charts."""
    url = study.page.url
    return {
        "changes": partial(page_changes_scatter, study.looks, page=url),
        "curve": partial(change_curve_chart, study.curve, page=url),
        "words": partial(word_lifespans_chart, study.terms, study.words, page=url),
        "staying-power": partial(staying_power_histogram, study.terms.staying_power, page=url),
        "blocks": partial(_page_blocks, study),
        "survival": partial(
            survival_curve,
            _survival_shares(study.summary.traits.survival, study.summary.traits.unbroken_survival),
            subtitle=url,
            missing=dict(study.summary.why).get("survival", HISTORY_TOO_SHORT),
        ),
        "calendar": partial(change_calendar, study.looks, page=url),
    }


def _page_blocks(study: PageStudy) -> Chart:
    if study.outline is None:
        raise EmptyChartError("no chart of blocks: no version has elements")
    return block_heatmap(
        block_contents(study.outline),
        block_names(study.blocks),
        page=study.page.url,
        gaps=unobserved_gaps(study.looks.times, study.outline.structure.timeline.step),
    )


def _collection_charts(analysis: CollectionAnalysis) -> dict[str, ChartMaker]:
    figures, by = analysis.figures, analysis.by
    tests = {test.figure: test for test in analysis.tests}
    means, unbroken_means = (
        [estimate.mean for estimate in estimates]
        for estimates in (analysis.total.survival, analysis.total.unbroken_survival)
    )
    pages = sorted(estimate.pages for estimate in analysis.total.survival if estimate.pages)
    page_range = f"{pages[0]:,} to {pages[-1]:,} pages" if pages else "no page"
    return {
        "changes": partial(page_means_scatter, figures.interval_hours, figures.dice_mean),
        "intervals": partial(interval_histogram, figures.interval_hours),
        "similarities": partial(similarity_histogram, figures.dice_mean),
        "survival": partial(
            survival_curve,
            _survival_shares(means, unbroken_means),
            subtitle=f"mean over the pages with a share at each step: {page_range}",
        ),
        f"intervals-by-{by}": partial(
            group_intervals_chart, analysis.groups, by=by, test=tests.get("interval_hours")
        ),
        f"similarities-by-{by}": partial(
            group_similarities_chart, analysis.groups, by=by, test=tests.get("dice_mean")
        ),
    }


def _survival_shares(
    shares: Sequence[float | None], unbroken_shares: Sequence[float | None]
) -> dict[str, Sequence[float | None]]:
    """Return the curves of a survival chart: one where no element was absent and came back."""
    curves = {"elements": shares}
    return curves if shares == unbroken_shares else {**curves, "never absent": unbroken_shares}
