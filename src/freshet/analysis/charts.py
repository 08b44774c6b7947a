"""The pictures of a page and of a collection: what was measured, handed to what draws it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from freshet.analysis.collection_analysis import CollectionAnalysis
from freshet.analysis.page_study import PageStudy
from freshet.core.errors import NoSpaceError
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.types import FloatArray
from freshet.draw.block_heatmap import ContentStays, UnobservedGaps, block_heatmap
from freshet.draw.change_calendar import change_calendar
from freshet.draw.change_curve import CurveSegment, KnotMark, change_curve_chart
from freshet.draw.chart_file import save_chart
from freshet.draw.group_means import GroupEstimate, group_intervals_chart, group_similarities_chart
from freshet.draw.histograms import (
    interval_histogram,
    similarity_histogram,
    staying_power_histogram,
)
from freshet.draw.scatter import page_changes_scatter, page_means_scatter
from freshet.draw.survival_curve import HISTORY_TOO_SHORT, SurvivalSeries, survival_curve
from freshet.draw.theme import Chart, EmptyChartError
from freshet.draw.word_lifespans import WordRuns, word_lifespans_chart
from freshet.measure.dynamics.structure.block_names import block_names
from freshet.measure.dynamics.structure.blocks import block_contents
from freshet.measure.dynamics.structure.survival import SURVIVAL_HORIZONS
from freshet.measure.dynamics.time_grid import MAX_GAP_STEPS
from freshet.measure.statistics.groups import GroupSummary, GroupTest, MeanEstimate

HOUR = 3600.0
UNKNOWN_WORD = "?"
HORIZON_HOURS = tuple(seconds / HOUR for seconds in SURVIVAL_HORIZONS)

ChartMaker = Callable[[], Chart]


@dataclass(frozen=True, slots=True)
class ChartFiles:
    """The files that were written, and for each picture that was not, why."""

    files: tuple[Path, ...]
    missing_charts: tuple[str, ...]


def draw_page_charts(
    found: PageStudy, folder: Path, kind: str, progress: ProgressCallback = ignore_progress
) -> ChartFiles:
    """Write the pictures of one page into a folder, as files of that kind."""
    return _write(_of_page(found), folder, kind, progress)


def draw_collection_charts(
    found: CollectionAnalysis, folder: Path, kind: str, progress: ProgressCallback = ignore_progress
) -> ChartFiles:
    """Write the pictures of a collection and its groups into a folder, as files of that kind."""
    return _write(_of_collection(found), folder, kind, progress)


def _write(
    pictures: Mapping[str, ChartMaker], folder: Path, kind: str, progress: ProgressCallback
) -> ChartFiles:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NoSpaceError(
            f"{folder} cannot hold pictures: {error.strerror}; choose another"
        ) from error
    files, missing = [], []
    for number, (name, draw) in enumerate(pictures.items(), 1):
        path = folder / f"{name}.{kind}"
        try:
            save_chart(draw(), path)
            files.append(path)
        except EmptyChartError as reason:
            missing.append(str(reason))
        progress(number, len(pictures))
    return ChartFiles(tuple(files), tuple(missing))


def _of_page(found: PageStudy) -> dict[str, ChartMaker]:
    url = found.page.url
    return {
        "changes": partial(page_changes_scatter, *_intervals(found), page=url),
        "curve": partial(_curve, found),
        "words": partial(_lifespans, found),
        "staying-power": partial(staying_power_histogram, found.terms.staying_power, page=url),
        "blocks": partial(_blocks, found),
        "survival": partial(_survival, found),
        "calendar": partial(
            change_calendar,
            found.looks.times,
            (found.looks.changed == 1).astype(np.int32),
            page=url,
        ),
    }


def _intervals(found: PageStudy) -> tuple[FloatArray, FloatArray]:
    """Return for each change the hours since the version before was first seen, and its Dice."""
    begins = np.flatnonzero(found.looks.starts_version)
    return np.diff(found.looks.times[begins]) / HOUR, found.looks.dice[begins[1:]]


def _curve(found: PageStudy) -> Chart:
    curve = found.curve
    if not len(curve):
        raise EmptyChartError(f"no change curve: {curve.why}")
    lines = [
        CurveSegment(each.begins, each.ends, each.slope, each.intercept) for each in curve.segments
    ]
    return change_curve_chart(
        curve.hours,
        curve.dice,
        page=found.page.url,
        shape=curve.shape or "",
        segments=lines,
        knot=KnotMark(curve.knot.hours, curve.knot.dice) if curve.knot else None,
    )


def _lifespans(found: PageStudy) -> Chart:
    terms = found.terms
    spans, lives = terms.spans, terms.lifespans
    words = [found.words.get(word, UNKNOWN_WORD) for word in terms.ids[spans.rows].tolist()]
    return word_lifespans_chart(
        WordRuns(spans.row, lives.grid_times(spans.begins), lives.grid_times(spans.ends)),
        words,
        terms.staying_power[spans.rows],
        page=found.page.url,
        of_all=terms.staying_power,
    )


def _blocks(found: PageStudy) -> Chart:
    if found.outline is None:
        raise EmptyChartError("no picture of blocks: no version has elements")
    stays = block_contents(found.outline)
    return block_heatmap(
        ContentStays(stays.block, stays.start, stays.end, stays.seconds, stays.ended),
        block_names(found.blocks),
        page=found.page.url,
        gaps=_gaps(found.looks.times, found.outline.structure.timeline.step),
    )


def _gaps(times: FloatArray, step: float) -> UnobservedGaps:
    """Return the times that no look tells of: those more than four steps after one."""
    known_until = times[:-1] + MAX_GAP_STEPS * step
    apart = np.flatnonzero(times[1:] > known_until)
    return UnobservedGaps(known_until[apart], times[1:][apart])


def _survival(found: PageStudy) -> Chart:
    shares = [np.nan if share is None else share for share in found.summary.traits.survival]
    shares += [np.nan] * (len(HORIZON_HOURS) - len(shares))
    why = dict(found.summary.why).get("survival", HISTORY_TOO_SHORT)
    return survival_curve(
        [SurvivalSeries("elements", HORIZON_HOURS, shares)], subtitle=found.page.url, missing=why
    )


def _of_collection(found: CollectionAnalysis) -> dict[str, ChartMaker]:
    figures = found.figures
    return {
        "changes": partial(page_means_scatter, figures.interval_hours, figures.dice_mean),
        "intervals": partial(interval_histogram, figures.interval_hours),
        "similarities": partial(similarity_histogram, figures.dice_mean),
        "survival": partial(_mean_survival, found),
        f"intervals-by-{found.by}": partial(
            group_intervals_chart,
            _estimates(found.groups, lambda row: row.interval_hours),
            by=found.by,
            note=_told(found.tests, "interval_hours"),
        ),
        f"similarities-by-{found.by}": partial(
            group_similarities_chart,
            _estimates(found.groups, lambda row: row.dice),
            by=found.by,
            note=_told(found.tests, "dice_mean"),
        ),
    }


def _mean_survival(found: CollectionAnalysis) -> Chart:
    means = [np.nan if each.mean is None else each.mean for each in found.total.survival]
    pages = sorted(each.pages for each in found.total.survival if each.pages)
    means += [np.nan] * (len(HORIZON_HOURS) - len(means))
    curve = SurvivalSeries("elements", HORIZON_HOURS, means)
    told = f"{pages[0]:,} to {pages[-1]:,} pages" if pages else "no page"
    return survival_curve([curve], subtitle=f"over the pages that tell of each step: {told}")


def _estimates(
    groups: Sequence[GroupSummary], figure: Callable[[GroupSummary], MeanEstimate]
) -> list[GroupEstimate]:
    return [_estimate(row.name, figure(row)) for row in groups]


def _estimate(name: str, mean: MeanEstimate) -> GroupEstimate:
    known = [np.nan if each is None else each for each in (mean.mean, mean.low, mean.high)]
    return GroupEstimate(name, mean.pages, *known)


def _told(tests: Sequence[GroupTest], figure: str) -> str:
    """Say what a test of the groups found."""
    for test in tests:
        if test.figure == figure and test.p is not None:
            differ = "the groups differ" if test.p < 0.05 else "the groups do not clearly differ"
            return f"{differ} (Kruskal-Wallis, p = {test.p:.2g})"
    return ""
