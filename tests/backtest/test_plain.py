"""The whole simulated crawl and its measures, against a plain one that goes page by page."""

from math import isnan, log, nan
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.backtest.cycle_crawl import crawl_in_cycles
from freshet.backtest.metrics import measure_crawl
from freshet.backtest.trace import PageGroupKeys, Trace, build_trace
from freshet.schedule.policies import make_policy
from tests.backtest.test_cycle_crawl import SCORES, plain_crawl

Cells = list[list[bool]]


def plain_score(changed: Cells, importance: list[float], chosen: list[list[int]]) -> list[float]:
    """Return changerate, ndcg, freshness, both weighted measures and the age of stale copies."""
    pages, k = range(len(changed)), len(chosen[0])
    last_visits = [1] * len(changed)
    weights = [1.0] + [1 / log(rank + 1) for rank in range(2, k + 1)]
    rates, gains, fresh, weighted_rates, weighted, ages = [], [], [], [], [], []
    for number, visited in enumerate(chosen, 2):
        missed = {page: [c for c in range(last_visits[page] + 1, number + 1) if changed[page][c]]
                  for page in pages}  # fmt: skip
        changed_flags = [bool(missed[page]) for page in visited]
        rates.append(fmean(changed_flags))
        found = sum(importance[page] for page in visited if missed[page])
        weighted_rates.append(found / len(visited) / fmean(importance))
        if stale := sum(map(bool, missed.values())):
            gain = sum(weight for weight, hit in zip(weights, changed_flags, strict=True) if hit)
            gains.append(gain / sum(weights[: min(k, stale)]))
        for page in visited:
            last_visits[page], missed[page] = number, []
        fresh.append(fmean(not missed[page] for page in pages))
        fresh_importance = sum(importance[page] for page in pages if not missed[page])
        weighted.append(fresh_importance / sum(importance))
        if waiting := [number - each[0] for each in missed.values() if each]:
            ages.append(fmean(waiting))
    columns = (rates, gains, fresh, weighted_rates, weighted, ages)
    return [fmean(each) if each else nan for each in columns]


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Draw a few pages with unknown cells, and importance."""
    pages, cycles = draw(st.integers(2, 20)), draw(st.integers(3, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    changed = rng.random((pages, cycles)) < rng.random((pages, 1)) ** 2
    unknown = rng.random((pages, cycles)) < draw(st.sampled_from([0.0, 0.2]))
    keys = PageGroupKeys(*(np.zeros(pages, np.uint64),) * 3)
    return build_trace("few", keys, changed, unknown=unknown, importance=1 + rng.random(pages))


@settings(max_examples=60, deadline=None)
@given(traces(), st.sampled_from(sorted(SCORES)), st.floats(0.05, 1.0), st.integers(0, 9))
def test_a_crawl_is_measured_as_a_plain_one_is(
    trace: Trace, name: str, share: float, seed: int
) -> None:
    trace = trace.without_importance()
    k = max(1, int(share * len(trace.pages)))
    cells = np.column_stack([trace.changed(cycle) for cycle in range(trace.cycles)]).tolist()
    chosen = plain_crawl(trace, SCORES[name], k, seed)
    expected = plain_score(cells, trace.weights.tolist(), chosen)
    metrics = measure_crawl(
        crawl_in_cycles(trace, make_policy(name, seed=seed), k), trace.weights, k
    )
    figures = [
        metrics.changerate,
        metrics.ndcg,
        metrics.freshness,
        metrics.weighted_changerate,
        metrics.weighted_freshness,
        metrics.stale_age,
    ]
    for figure, plain in zip(figures, expected, strict=True):
        assert (isnan(figure) and isnan(plain)) or figure == pytest.approx(plain)
