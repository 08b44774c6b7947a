"""Bootstrap intervals over pages (Efron and Tibshirani 1993, chapters 8 and 13).

Pages of one site change together, so whole sites are resampled. With fewer than 10 sites that says
little; then pages are resampled within each site, and the intervals are about other pages of the
same sites, not about other sites. In both cases the crawl is not repeated: the intervals ignore
that other pages would compete for the same budget.
"""

from dataclasses import dataclass

import numpy as np

from freshet.backtest.metrics import CrawledPageFigures
from freshet.core.types import FloatArray, HashArray

CONFIDENCE = 0.95
MIN_SITES = 10
RESAMPLES = 1000
MAX_DRAWN_ROWS = 5000
BY_SITE, BY_PAGE = "sites", "pages within sites"


@dataclass(frozen=True, slots=True)
class BootstrapInterval:
    """A figure of all pages, and the 95 % percentile interval of its resamples."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PageIntervals:
    """Intervals of ChangeRate (changes found per visit) and freshness, or of their differences."""

    changerate: BootstrapInterval
    freshness: BootstrapInterval


class PageBootstrap:
    """Resamples pages whose sites are given; equal seeds draw the same pages for every policy.

    ``unit`` says what is resampled: sites, or pages within sites.
    """

    def __init__(self, sites: HashArray, *, resamples: int = RESAMPLES, seed: int = 1) -> None:
        names, self._site_of_page = np.unique(sites, return_inverse=True)
        self._site_count = len(names)
        self._resamples, self._seed = resamples, seed
        self.unit = BY_SITE if len(names) >= MIN_SITES else BY_PAGE

    def intervals(self, figures: CrawledPageFigures) -> PageIntervals:
        """Return the intervals of a crawl's figures."""
        return self._intervals(_columns(figures))

    def differences(
        self, figures: CrawledPageFigures, baseline: CrawledPageFigures
    ) -> PageIntervals:
        """Return the intervals of the differences from another crawl of the same pages."""
        return self._intervals(_columns(figures), _columns(baseline))

    def _intervals(self, *crawls: FloatArray) -> PageIntervals:
        columns = np.concatenate(crawls, axis=1)
        totals = np.vstack([columns.sum(axis=0), self._resampled_totals(columns)])
        rates, freshness = (
            np.subtract(*figure) if len(crawls) == 2 else figure[0]
            for figure in zip(*map(_figures, np.split(totals, len(crawls), axis=1)), strict=True)
        )
        return PageIntervals(_interval(rates), _interval(freshness))

    def _resampled_totals(self, columns: FloatArray) -> FloatArray:
        """Return the sums of the columns over each resample, a row per resample."""
        rng = np.random.default_rng(self._seed)
        if self.unit == BY_SITE:
            site_totals = np.stack(
                [np.bincount(self._site_of_page, column, self._site_count) for column in columns.T],
                axis=1,
            )
            return _draw_totals(site_totals.astype(np.float64), self._resamples, rng)
        totals = np.zeros((self._resamples, columns.shape[1]))
        for site in range(self._site_count):
            totals += _draw_totals(columns[self._site_of_page == site], self._resamples, rng)
        return totals


def _draw_totals(rows: FloatArray, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return the sums of resamples of rows, drawn with replacement.

    The sums over many rows have a normal distribution, from which they are drawn directly.
    """
    count = len(rows)
    if count > MAX_DRAWN_ROWS:
        mean, covariance = count * rows.mean(axis=0), count * np.cov(rows.T, ddof=0)
        return rng.multivariate_normal(mean, covariance, resamples, check_valid="ignore")
    totals = (rows[rng.integers(0, count, count)].sum(axis=0) for _ in range(resamples))
    return np.stack(list(totals))


def _columns(figures: CrawledPageFigures) -> FloatArray:
    """Return visits, changes found, fresh shares and 1 for every page."""
    pages = len(figures.visits)
    return np.column_stack([
        figures.visits,
        figures.changes_found,
        figures.fresh_shares,
        np.ones(pages),
    ])


def _figures(totals: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ChangeRate and freshness of every row of totals."""
    visits, changes, fresh, pages = totals.T
    rates = np.divide(changes, visits, out=np.full(len(visits), np.nan), where=visits > 0)
    return rates, fresh / pages


def _interval(values: FloatArray) -> BootstrapInterval:
    """Return the interval of resampled values; the first value is that of all pages."""
    resampled = values[1:][~np.isnan(values[1:])]
    if not len(resampled):
        return BootstrapInterval(float(values[0]), float("nan"), float("nan"))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return BootstrapInterval(float(values[0]), float(low), float(high))
