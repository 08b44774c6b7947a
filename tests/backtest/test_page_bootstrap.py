"""Bootstrap intervals over pages, and the figures of pages that they resample."""

import numpy as np
import pytest

from freshet.backtest.comparison import PolicyResult, run_policies
from freshet.backtest.continuous.comparison import run_policies_continuously
from freshet.backtest.metrics import CrawledPageFigures
from freshet.backtest.page_bootstrap import BootstrapInterval, PageBootstrap
from freshet.core.types import FloatArray
from tests.backtest.traces import by_chance, in_groups


def figures(visits: list[int], changes: list[int], fresh: list[float]) -> CrawledPageFigures:
    return CrawledPageFigures(
        np.array(visits, np.int32), np.array(changes, np.int32), np.array(fresh, np.float64)
    )


def sites(*counts: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return the sites of pages: so many of the first, so many of the second, and so on."""
    return np.repeat(np.arange(len(counts), dtype=np.uint64), counts)


def test_pages_are_resampled_within_each_of_a_few_sites() -> None:
    """One page of the first site is always fresh, the other never; the second site has one page."""
    bootstrap = PageBootstrap(sites(2, 1))
    assert bootstrap.unit == "pages within sites"
    found = bootstrap.intervals(figures([4, 4, 2], [1, 1, 2], [1.0, 0.0, 0.5]))
    assert found.changerate == BootstrapInterval(0.4, 0.4, 0.4)
    assert found.freshness == BootstrapInterval(0.5, 0.5 / 3, 2.5 / 3)


def test_whole_sites_are_resampled_if_there_are_ten() -> None:
    """Every site has the mean .5, so only pages within a site differ: nothing to resample."""
    bootstrap = PageBootstrap(sites(*[2] * 10))
    assert bootstrap.unit == "sites"
    found = bootstrap.intervals(figures([1] * 20, [1, 0] * 10, [0.0, 1.0] * 10))
    assert (found.freshness, found.changerate) == (BootstrapInterval(0.5, 0.5, 0.5),) * 2


def test_the_interval_is_that_of_a_plain_bootstrap() -> None:
    rng = np.random.default_rng(5)
    counts = rng.integers(1, 6, 12)
    site_of_page = sites(*counts.tolist())
    pages = len(site_of_page)
    visits = rng.integers(1, 9, pages)
    crawl = CrawledPageFigures(visits, rng.binomial(visits, 0.4), rng.random(pages))
    found = PageBootstrap(site_of_page, resamples=4000).intervals(crawl)
    rates, fresh = [], []
    for _ in range(4000):
        drawn = [
            page
            for site in rng.integers(0, 12, 12)
            for page in np.flatnonzero(site_of_page == site)
        ]
        rates.append(crawl.changes_found[drawn].sum() / crawl.visits[drawn].sum())
        fresh.append(crawl.fresh_shares[drawn].mean())
    for interval, values in ((found.changerate, rates), (found.freshness, fresh)):
        low, high = np.quantile(values, [0.025, 0.975])
        assert interval.low == pytest.approx(low, abs=0.01)
        assert interval.high == pytest.approx(high, abs=0.01)
        assert interval.low < interval.value < interval.high


def test_differences_are_paired() -> None:
    """Pages differ widely; the second crawl is better by .1 on each of them."""
    fresh: FloatArray = np.random.default_rng(2).random(60) * 0.9
    ones = [1] * 60
    worse, better = (figures(ones, ones, (fresh + more).tolist()) for more in (0.0, 0.1))
    for bootstrap in (PageBootstrap(sites(20, 40)), PageBootstrap(sites(*[5] * 12))):
        difference = bootstrap.differences(better, worse).freshness
        assert [difference.value, difference.low, difference.high] == pytest.approx([0.1] * 3)
        assert bootstrap.differences(better, better).changerate == BootstrapInterval(0.0, 0.0, 0.0)


def test_pages_without_visits_have_no_changerate() -> None:
    found = PageBootstrap(sites(3)).intervals(figures([0, 0, 0], [0, 0, 0], [0.0, 0.0, 0.0]))
    assert np.isnan([found.changerate.value, found.changerate.low, found.changerate.high]).all()


@pytest.mark.parametrize("cold", [False, True])
@pytest.mark.parametrize("run", [run_policies, run_policies_continuously])
def test_the_figures_of_pages_add_up_to_those_of_the_crawl(run: object, cold: bool) -> None:
    trace = in_groups(by_chance(48, 12, seed=4))
    result: PolicyResult = next(
        run(trace, ["nutch"], [0.25], seeds=2, cold=cold)  # type: ignore[operator]
    )
    pages, row = result.page_figures(), result.to_row(trace)
    assert pages.visits.sum() == 2 * 12 * len(result.runs[0])
    assert pages.changes_found.sum() / pages.visits.sum() == pytest.approx(row.changerate)
    assert pages.fresh_shares.mean() == pytest.approx(row.freshness)
    assert (pages.changes_found <= pages.visits).all()
    assert row.changerate_low <= row.changerate <= row.changerate_high
    assert row.freshness_low <= row.freshness <= row.freshness_high
    assert row.resampled == "pages within sites"


def test_many_pages_of_a_site_have_the_interval_of_the_normal_distribution(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    visits = rng.geometric(0.3, 400)
    crawl = CrawledPageFigures(visits, rng.binomial(visits, 0.3), rng.random(400))
    drawn = PageBootstrap(sites(400), resamples=4000).intervals(crawl)
    monkeypatch.setattr("freshet.backtest.page_bootstrap.MAX_DRAWN_ROWS", 10)
    normal = PageBootstrap(sites(400), resamples=4000).intervals(crawl)
    for one, other in ((drawn.changerate, normal.changerate), (drawn.freshness, normal.freshness)):
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=0.004)
        assert one.value == other.value
