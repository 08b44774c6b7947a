"""New links of pages at steps of equal length, from the looks of a collection."""

from dataclasses import dataclass

import numpy as np

from freshet.core.content.link_graph import LinkGraph
from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.content.new_links import NewLinks
from freshet.core.content.outlink_targets import LinkKind
from freshet.core.content.page_steps import PageMeasures, PageSteps, UrlDepths
from freshet.core.tables import DAY_SECONDS, PageIdArray
from freshet.core.types import Float32Array, FloatArray, HashArray, IndexArray
from freshet.features.outlinks.feature_table import FeatureTable, OutlinkFeatures
from freshet.features.outlinks.rate_features import HALF_LIVES, rate_features

LOOK_FEATURES = (
    *(f"own_{name}_{span}" for name in ("hits", "links", "intervals") for span in HALF_LIVES),
    "own_latest",
    "own_since",
    "own_change_rate",
    "own_text_drop",
    *(f"site_rate_{span}" for span in HALF_LIVES),
    "site_latest",
    "site_pages",
    "text_size",
)
"""The features of the default model that the looks of a collection tell.

The others need link sets, related pages or sizes that are not known here, or repeat these.
"""


@dataclass(frozen=True, slots=True)
class LookGrid:
    """Pages by intervals of equal length that end at a time; ``ids`` are ascending.

    The first interval is only the reference of the second.
    """

    ids: PageIdArray
    sites: HashArray
    interval_days: float
    until: float
    steps: int

    @property
    def bounds(self) -> FloatArray:
        """Return the end of each interval in epoch seconds."""
        length = self.interval_days * DAY_SECONDS
        return self.until - length * np.arange(self.steps, dtype=np.float64)[::-1]


def steps_of_looks(grid: LookGrid, looks: MeasuredLooks) -> PageSteps:
    """Return the pages at the steps: the new links that the looks of each interval have found.

    Links of both kinds count together, as ``new_links.internal``; they were never on the page
    before. They are known if the page was looked at in the interval and in the one before, and if
    all looks of the interval were compared. Sizes other than the words of the text are not known.
    """
    shape = len(grid.ids), grid.steps
    looks = looks.select(np.argsort(looks.times, kind="stable"))
    columns = np.searchsorted(grid.bounds, looks.times, side="left")
    starts = grid.until - grid.steps * grid.interval_days * DAY_SECONDS
    is_inside = (columns < grid.steps) & (looks.times > starts) & np.isin(looks.pages, grid.ids)
    looks, columns = looks.select(is_inside), columns[is_inside]
    rows = np.searchsorted(grid.ids, looks.pages)
    cells = (rows * grid.steps + columns).astype(np.int64)
    known = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape) > 0
    is_counted = known.copy()
    is_counted[:, 1:] &= known[:, :-1]
    is_counted[:, 0] = False
    counts = _sums(cells, looks.new_links, shape)
    unknown: Float32Array = np.full(shape, np.nan, np.float32)
    new_links = np.where(is_counted, counts, np.nan).astype(np.float32)
    changed = _sums(cells, np.where(looks.measured, looks.changed, np.nan), shape)
    text_size = unknown.copy()
    text_size.reshape(-1)[cells] = looks.total_words
    depths = np.full(shape[0], np.nan, np.float32)
    empty_graph = LinkGraph(np.zeros(shape[0] + 1, np.int64), _no_targets())
    return PageSteps(
        tuple(map(str, grid.ids.tolist())),
        grid.sites,
        grid.bounds / DAY_SECONDS,
        known,
        UrlDepths(depths, depths),
        PageMeasures(unknown, text_size, unknown, unknown, unknown, unknown, unknown),
        NewLinks(new_links, unknown, new_links, unknown),
        np.where(is_counted & ~np.isnan(changed), changed > 0, np.nan).astype(np.float32),
        (empty_graph,) * grid.steps,
    )


def look_features(steps: PageSteps, as_of: int) -> FeatureTable:
    """Return the features of pages at the steps of looks, as known at a step."""
    table = rate_features(OutlinkFeatures(steps), LinkKind.INTERNAL, as_of)
    columns = [table.names.index(name) for name in LOOK_FEATURES]
    return FeatureTable(LOOK_FEATURES, table.values[:, columns])


def _sums(cells: PageIdArray, values: FloatArray, shape: tuple[int, int]) -> Float32Array:
    """Return the sums of values by cell; NaN where one of them is not known."""
    sums: FloatArray = np.zeros(shape[0] * shape[1])
    np.add.at(sums, cells, values)
    return sums.reshape(shape).astype(np.float32)


def _no_targets() -> IndexArray:
    return np.empty(0, np.int32)
