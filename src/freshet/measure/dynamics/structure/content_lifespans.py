"""How long content stays at its path and on its page (Adar et al. 2009, section 5.3).

The lifespan of a text at a path is the time from its first to its last version there, and that of a
path the mean over its texts. The lifespan of a text on the page is the time from its first to its
last version anywhere, whatever path it moves to; a path has the mean over the texts that entered
the page there. The paper's program takes both from one sort by text, path and version. Beside them
stands the mean length of a run, in which a text that returns after another one starts again:
slots that rotate among a few texts have short runs and long lifespans.
"""

import numpy as np

from freshet.core.types import FloatArray
from freshet.measure.dynamics.structure.column_table import (
    ColumnTable,
    maximum_of,
    minimum_of,
    reduce_rows,
    sort_rows,
    sum_of,
)
from freshet.measure.dynamics.structure.dom_history import NO_TEXT, VersionTimeline
from freshet.measure.kernels.dom_history import PositionArray

_PATH_AGGREGATES = {
    "runs": sum_of("one"),
    "seconds": sum_of("seconds"),
    "looks": sum_of("looks"),
    "first": minimum_of("first"),
    "last": maximum_of("last"),
    "latest": maximum_of("first"),
}
_SPAN_AGGREGATES = {"first": minimum_of("first"), "last": maximum_of("last")}
_MEAN_AGGREGATES = {"texts": sum_of("one"), "seconds": sum_of("seconds")}


def path_lifespans(runs: ColumnTable, timeline: VersionTimeline) -> ColumnTable:
    """Return the totals of the runs of each path, in the order of paths.

    ``runs`` are sorted by path and time (``ElementHistory``). ``lifespan`` and ``page_lifespan``
    are the mean lifespans of the path's texts at the path and on the page, in seconds; the latter
    is NaN where no text entered the page. ``texts`` is the number of different texts,
    ``run_length`` the mean known time of a run, ``changes`` the number of content changes, and
    ``latest`` the stay at which the last run starts. Runs that have not ended are included.
    """
    known_seconds, looks = (
        np.append(0, np.cumsum(values)) for values in (timeline.seconds, timeline.looks)
    )
    paths = reduce_rows(
        runs.with_columns(
            one=np.ones(len(runs), np.int64),
            seconds=known_seconds[runs["last"] + 1] - known_seconds[runs["first"]],
            looks=(looks[runs["last"] + 1] - looks[runs["first"]]).astype(np.int64),
        ),
        ["full_path"],
        _PATH_AGGREGATES,
    )
    texts, lifespans = _mean_by_path(text_lifespans(runs, timeline), paths)
    return paths.with_columns(
        texts=texts,
        lifespan=lifespans,
        page_lifespan=_mean_by_path(entered_text_lifespans(runs, timeline), paths)[1],
        run_length=paths["seconds"] / np.maximum(paths["runs"], 1),
        changes=paths["runs"] - 1,
    )


def text_lifespans(runs: ColumnTable, timeline: VersionTimeline) -> ColumnTable:
    """Return one row for each text of each path: its lifespan there, as ``seconds``.

    This is the paper's program: sort by text, path and version, group by text, and take the first
    and the last version at each path.
    """
    texts = sort_rows(runs.take(runs["content"] != NO_TEXT), "content", "full_path")
    spans = reduce_rows(texts, ["content", "full_path"], _SPAN_AGGREGATES)
    return spans.with_columns(seconds=_span_seconds(spans, timeline))


def entered_text_lifespans(runs: ColumnTable, timeline: VersionTimeline) -> ColumnTable:
    """Return one row for each text and path where it entered the page: its lifespan on the page.

    A text that is at several paths in its first version entered at each of them.
    """
    spans = text_lifespans(runs, timeline)
    pages = reduce_rows(spans, ["content"], _SPAN_AGGREGATES)
    page_of_span = np.searchsorted(pages["content"], spans["content"])
    pages = pages.take(page_of_span)
    entered = spans["first"] == pages["first"]
    return spans.with_columns(seconds=_span_seconds(pages, timeline)).take(entered)


def _span_seconds(spans: ColumnTable, timeline: VersionTimeline) -> FloatArray:
    """Return the time from the first look at the first stay to the last look at the last one."""
    return np.asarray(timeline.last_look[spans["last"]] - timeline.start[spans["first"]])


def _mean_by_path(spans: ColumnTable, paths: ColumnTable) -> tuple[PositionArray, FloatArray]:
    """Return the number of texts of each path and their mean lifespan; NaN where it has none."""
    spans = sort_rows(spans, "full_path").with_columns(one=np.ones(len(spans), np.int64))
    sums = reduce_rows(spans, ["full_path"], _MEAN_AGGREGATES)
    rows = np.searchsorted(paths["full_path"], sums["full_path"])
    counts, means = np.zeros(len(paths), np.int64), np.full(len(paths), np.nan)
    counts[rows] = sums["texts"]
    means[rows] = sums["seconds"] / sums["texts"]
    return counts, means
