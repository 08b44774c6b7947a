"""The pictures of a page and of a collection: what was measured, handed to what draws it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from freshet.analysis.collection_analysis import Analysis
from freshet.analysis.page_study import Study
from freshet.core.errors import NoSpace
from freshet.core.progress import Progress, silent
from freshet.core.types import Floats
from freshet.draw.block_heatmap import Gaps, Stays, block_heat
from freshet.draw.change_calendar import calendar
from freshet.draw.change_curve import Knot, Segment, change_curve
from freshet.draw.chart_file import save
from freshet.draw.group_means import Estimate, interval_of_groups, similarity_of_groups
from freshet.draw.histograms import intervals, similarities, staying_power
from freshet.draw.scatter import changes_of_a_page, means_of_pages
from freshet.draw.survival_curve import TOO_SHORT, Survival, survival
from freshet.draw.theme import NothingToDraw, Picture
from freshet.draw.word_lifespans import Runs, lifespans
from freshet.measure.dynamics.structure.block_names import block_names
from freshet.measure.dynamics.structure.blocks import block_stays
from freshet.measure.dynamics.structure.survival import HORIZONS
from freshet.measure.dynamics.time_grid import LONGEST_GAP
from freshet.measure.statistics.groups import Group, GroupTest, Mean

HOUR = 3600.0
UNSPELT = "?"
HORIZON_HOURS = tuple(seconds / HOUR for seconds in HORIZONS)

Draw = Callable[[], Picture]


@dataclass(frozen=True, slots=True)
class Drawn:
    """The files that were written, and for each picture that was not, why."""

    files: tuple[Path, ...]
    missing: tuple[str, ...]


def draw_page(found: Study, folder: Path, kind: str, progress: Progress = silent) -> Drawn:
    """Write the pictures of one page into a folder, as files of that kind."""
    return _write(_of_page(found), folder, kind, progress)


def draw_collection(found: Analysis, folder: Path, kind: str, progress: Progress = silent) -> Drawn:
    """Write the pictures of a collection and its groups into a folder, as files of that kind."""
    return _write(_of_collection(found), folder, kind, progress)


def _write(pictures: Mapping[str, Draw], folder: Path, kind: str, progress: Progress) -> Drawn:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NoSpace(f"{folder} cannot hold pictures: {error.strerror}; choose another") from error
    files, missing = [], []
    for number, (name, draw) in enumerate(pictures.items(), 1):
        path = folder / f"{name}.{kind}"
        try:
            save(draw(), path)
            files.append(path)
        except NothingToDraw as reason:
            missing.append(str(reason))
        progress(number, len(pictures))
    return Drawn(tuple(files), tuple(missing))


def _of_page(found: Study) -> dict[str, Draw]:
    url = found.page.url
    return {
        "changes": partial(changes_of_a_page, *_intervals(found), page=url),
        "curve": partial(_curve, found),
        "words": partial(_lifespans, found),
        "staying-power": partial(staying_power, found.terms.staying_power, page=url),
        "blocks": partial(_blocks, found),
        "survival": partial(_survival, found),
        "calendar": partial(
            calendar, found.looks.times, (found.looks.changed == 1).astype(np.int32), page=url
        ),
    }


def _intervals(found: Study) -> tuple[Floats, Floats]:
    """Return for each change the hours since the version before was first seen, and its Dice."""
    begins = np.flatnonzero(found.looks.begins)
    return np.diff(found.looks.times[begins]) / HOUR, found.looks.dice[begins[1:]]


def _curve(found: Study) -> Picture:
    curve = found.curve
    if not len(curve):
        raise NothingToDraw(f"no change curve: {curve.why}")
    lines = [Segment(each.begins, each.ends, each.slope, each.intercept) for each in curve.segments]
    return change_curve(
        curve.hours,
        curve.dice,
        page=found.page.url,
        shape=curve.shape or "",
        segments=lines,
        knot=Knot(curve.knot.hours, curve.knot.dice) if curve.knot else None,
    )


def _lifespans(found: Study) -> Picture:
    terms = found.terms
    spans, lives = terms.spans, terms.lives
    words = [found.words.get(word, UNSPELT) for word in terms.ids[spans.rows].tolist()]
    return lifespans(
        Runs(spans.row, lives.moments(spans.begins), lives.moments(spans.ends)),
        words,
        terms.staying_power[spans.rows],
        page=found.page.url,
        of_all=terms.staying_power,
    )


def _blocks(found: Study) -> Picture:
    if found.outline is None:
        raise NothingToDraw("no picture of blocks: no version has elements")
    stays = block_stays(found.outline)
    return block_heat(
        Stays(stays.block, stays.start, stays.end, stays.seconds, stays.ended),
        block_names(found.blocks),
        page=found.page.url,
        gaps=_gaps(found.looks.times, found.outline.structure.timeline.step),
    )


def _gaps(times: Floats, step: float) -> Gaps:
    """Return the times that no look tells of: those more than four steps after one."""
    known_until = times[:-1] + LONGEST_GAP * step
    apart = np.flatnonzero(times[1:] > known_until)
    return Gaps(known_until[apart], times[1:][apart])


def _survival(found: Study) -> Picture:
    shares = [np.nan if share is None else share for share in found.summary.traits.survival]
    shares += [np.nan] * (len(HORIZON_HOURS) - len(shares))
    why = dict(found.summary.why).get("survival", TOO_SHORT)
    return survival([Survival("elements", HORIZON_HOURS, shares)], of=found.page.url, why=why)


def _of_collection(found: Analysis) -> dict[str, Draw]:
    figures = found.figures
    return {
        "changes": partial(means_of_pages, figures.interval_hours, figures.dice_mean),
        "intervals": partial(intervals, figures.interval_hours),
        "similarities": partial(similarities, figures.dice_mean),
        "survival": partial(_mean_survival, found),
        f"intervals-by-{found.by}": partial(
            interval_of_groups,
            _estimates(found.groups, lambda row: row.interval_hours),
            by=found.by,
            note=_told(found.tests, "interval_hours"),
        ),
        f"similarities-by-{found.by}": partial(
            similarity_of_groups,
            _estimates(found.groups, lambda row: row.dice),
            by=found.by,
            note=_told(found.tests, "dice_mean"),
        ),
    }


def _mean_survival(found: Analysis) -> Picture:
    means = [np.nan if each.mean is None else each.mean for each in found.total.survival]
    pages = sorted(each.pages for each in found.total.survival if each.pages)
    means += [np.nan] * (len(HORIZON_HOURS) - len(means))
    curve = Survival("elements", HORIZON_HOURS, means)
    told = f"{pages[0]:,} to {pages[-1]:,} pages" if pages else "no page"
    return survival([curve], of=f"over the pages that tell of each step: {told}")


def _estimates(groups: Sequence[Group], figure: Callable[[Group], Mean]) -> list[Estimate]:
    return [_estimate(row.name, figure(row)) for row in groups]


def _estimate(name: str, mean: Mean) -> Estimate:
    known = [np.nan if each is None else each for each in (mean.mean, mean.low, mean.high)]
    return Estimate(name, mean.pages, *known)


def _told(tests: Sequence[GroupTest], figure: str) -> str:
    """Say what a test of the groups found."""
    for test in tests:
        if test.figure == figure and test.p is not None:
            differ = "the groups differ" if test.p < 0.05 else "the groups do not clearly differ"
            return f"{differ} (Kruskal-Wallis, p = {test.p:.2g})"
    return ""
