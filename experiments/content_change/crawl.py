"""The crawl of section 8.3: freshness with few visits, chosen by what the crawl itself has seen.

All pages are looked at on the first day. Then a share of the pages is visited each day. Features,
labels and experts come from the looks of the crawl alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from experiments.content_change.crawl_choosers import (
    CoinChooser,
    CrawlSettings,
    KnownRateChooser,
    PageChooser,
    PolicyChooser,
    PooledForecast,
    WindowForecast,
)
from experiments.content_change.crawl_log import CrawlLog
from experiments.content_change.learned_correction import LearnedCorrectionChooser
from freshet.core.content.content_grid import ContentGrid
from freshet.core.types import FloatArray
from freshet.predict.sliding_window import ForecastMethod

Reporter = Callable[[str], None]
ChooserMaker = Callable[[ContentGrid, CrawlSettings, int], PageChooser]
SEEDS = (1, 2, 3)
DAYS_PER_POINT = 20


@dataclass(frozen=True, slots=True)
class CrawlRow:
    """The mean freshness of the copies of a crawl by one method, over days and seeds.

    ``freshness`` is the mean over all days after the first, ``late_freshness`` over the last
    third of them, ``spread`` the standard deviation of the freshness between seeds, and
    ``found_share`` the share of visits that found a change.
    """

    data: str
    method: str
    pages: int
    days: int
    budget: float
    seeds: int
    freshness: float
    spread: float
    late_freshness: float
    found_share: float


@dataclass(frozen=True, slots=True)
class CrawlPoint:
    """The mean freshness of some days up to ``day``, over seeds (Figure 8)."""

    data: str
    method: str
    day: int
    freshness: float


@dataclass(frozen=True, slots=True)
class CrawlCurve:
    """The freshness of each day after the first, and the share of visits that found a change."""

    freshness: FloatArray
    found_share: float


def _window_chooser(
    method: ForecastMethod, selection: str = "", *, since_last_look: bool = False
) -> ChooserMaker:
    def make(_grid: ContentGrid, settings: CrawlSettings, seed: int) -> PageChooser:
        forecast = WindowForecast(
            method, settings, selection=selection, since_last_look=since_last_look
        )
        return CoinChooser(forecast, seed)

    return make


def _pooled_chooser(grid: ContentGrid, settings: CrawlSettings, seed: int) -> PageChooser:
    return CoinChooser(PooledForecast(grid, settings), seed)


def _policy_chooser(
    name: str, grid: ContentGrid, _settings: CrawlSettings, seed: int
) -> PageChooser:
    return PolicyChooser(grid, name, seed)


def _known_rate_chooser(grid: ContentGrid, _settings: CrawlSettings, _seed: int) -> PageChooser:
    return KnownRateChooser(grid)


KNOWN_RATES = "known rates"
ONE_DIMENSION, TWO_DIMENSIONS = ForecastMethod.MAJORITY, ForecastMethod.SINGLE_EXPERT
THREE_DIMENSIONS = ForecastMethod.VOTE
CRAWL_METHODS: Mapping[str, ChooserMaker] = {
    "1D": _window_chooser(ONE_DIMENSION),
    "2D": _window_chooser(TWO_DIMENSIONS),
    "3D xcorr": _window_chooser(THREE_DIMENSIONS, "xcorr"),
    "1D since look": _window_chooser(ONE_DIMENSION, since_last_look=True),
    "2D since look": _window_chooser(TWO_DIMENSIONS, since_last_look=True),
    "3D xcorr since look": _window_chooser(THREE_DIMENSIONS, "xcorr", since_last_look=True),
    "3D random since look": _window_chooser(THREE_DIMENSIONS, "random", since_last_look=True),
    "pooled": _pooled_chooser,
    "round-robin": partial(_policy_chooser, "age"),
    "bayes-freshness": partial(_policy_chooser, "bayes-freshness"),
    "learned correction": LearnedCorrectionChooser,
    KNOWN_RATES: _known_rate_chooser,
}


def run_crawls(
    data: str,
    grid: ContentGrid,
    settings: CrawlSettings,
    report: Reporter,
    *,
    methods: Sequence[str] = tuple(CRAWL_METHODS),
    seeds: Sequence[int] = SEEDS,
) -> tuple[list[CrawlRow], list[CrawlPoint]]:
    """Crawl the pages of a grid by each method with each seed."""
    rows: list[CrawlRow] = []
    points: list[CrawlPoint] = []
    for method in methods:
        report(f"  crawl by {method}")
        curves = [
            crawl_pages(grid, CRAWL_METHODS[method](grid, settings, seed), settings.budget_share)
            for seed in seeds
        ]
        rows.append(_crawl_row(data, method, grid, settings, curves))
        points += _crawl_points(data, method, curves)
    return rows, points


def crawl_pages(grid: ContentGrid, chooser: PageChooser, budget_share: float) -> CrawlCurve:
    """Visit a share of the pages each day; return how fresh the copies are after the visits."""
    log = CrawlLog(grid)
    visits = max(1, round(budget_share * grid.page_count))
    chooser.learn(log.look(0, np.arange(grid.page_count, dtype=np.int32)))
    freshness, change_count = np.zeros(grid.step_count - 1), 0
    for step in range(1, grid.step_count):
        looks = log.look(step, chooser.choose(log, step, visits))
        if len(looks):
            chooser.learn(looks)
        change_count += int(np.count_nonzero(looks.changed))
        freshness[step - 1] = log.freshness(step)
    return CrawlCurve(freshness, change_count / (visits * (grid.step_count - 1)))


def _crawl_row(
    data: str,
    method: str,
    grid: ContentGrid,
    settings: CrawlSettings,
    curves: Sequence[CrawlCurve],
) -> CrawlRow:
    means = np.array([curve.freshness.mean() for curve in curves])
    late = [curve.freshness[-(len(curve.freshness) // 3) :].mean() for curve in curves]
    found_shares = [curve.found_share for curve in curves]
    figures = (means.mean(), means.std(), np.mean(late), np.mean(found_shares))
    return CrawlRow(
        data, method, grid.page_count, grid.step_count - 1, settings.budget_share, len(curves),
        *(round(float(figure), 5) for figure in figures),
    )  # fmt: skip


def _crawl_points(data: str, method: str, curves: Sequence[CrawlCurve]) -> list[CrawlPoint]:
    """Return the means of groups of days; a last group with fewer days is left out."""
    mean = np.mean([curve.freshness for curve in curves], axis=0)
    group_count = len(mean) // DAYS_PER_POINT
    groups = mean[: group_count * DAYS_PER_POINT].reshape(group_count, DAYS_PER_POINT)
    return [
        CrawlPoint(data, method, (index + 1) * DAYS_PER_POINT, round(float(group.mean()), 5))
        for index, group in enumerate(groups)
    ]
