"""Crawls from a cold start, against plain ones that go page by page."""

from math import isnan, log, nan
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings

from freshet.backtest import simulate
from freshet.backtest.comparison import run_policies
from freshet.backtest.continuous.comparison import make_live_selector, run_policies_continuously
from freshet.backtest.continuous.daily import crawl_by_day
from freshet.backtest.continuous.ground_truth import (
    GroundTruth,
    ground_truth,
    ground_truth_of_trace,
)
from freshet.backtest.cycle_crawl import Selector, crawl_in_cycles
from freshet.backtest.cycle_oracles import CYCLE_ORACLES
from freshet.backtest.selectors import ALL_NAMES, make_selector
from freshet.backtest.trace import Trace, without_history
from freshet.core.tables import ChoiceTable, HostCaps, PageTable, VisitTable
from tests.backtest.test_continuous import RoundRobin
from tests.backtest.test_plain import traces
from tests.backtest.traces import by_chance, drawn, in_groups

NAMES = (*ALL_NAMES, "t * X", "nad-cycle")


class Recorder:
    """Passes everything on to a selector, and keeps the visits that it learns from."""

    def __init__(self, selector: Selector) -> None:
        self._selector = selector
        self.name = selector.name
        self.visits: list[tuple[int, float, bool, bool]] = []

    def add(self, pages: PageTable) -> None:
        assert np.isnan(pages.known_since).all()
        self._selector.add(pages)

    def learn(self, visits: VisitTable) -> None:
        columns = (visits.pages, visits.times, visits.measured, visits.changed)
        self.visits += zip(*(column.tolist() for column in columns), strict=True)
        self._selector.learn(visits)

    def choose(self, now: object, k: int, caps: HostCaps) -> ChoiceTable:
        return self._selector.choose(now, k, caps)  # type: ignore[arg-type]


def plain_score(cells: list[list[bool]], chosen: list[list[int]]) -> dict[str, float]:
    """Return the measures of choices from the first cycle on, page by page."""
    pages, k = range(len(cells)), len(chosen[0])
    weights = [1.0] + [1 / log(rank + 1) for rank in range(2, k + 1)]
    last_visits: dict[int, int] = {}
    rates, gains, fresh, found, missed_count = [], [], [], 0, 0
    for number, visited in enumerate(chosen):
        missed = {
            page: sum(cells[page][last_visits[page] + 1 : number + 1]) if page in last_visits else 0
            for page in pages
        }
        hits = [missed[page] > 0 for page in visited]
        rates.append(fmean(hits))
        if stale := sum(count > 0 for count in missed.values()):
            gain = sum(weight for weight, hit in zip(weights, hits, strict=True) if hit)
            gains.append(gain / sum(weights[: min(k, stale)]))
        for page in visited:
            found, last_visits[page], missed[page] = found + missed[page], number, 0
        fresh.append(fmean(page in last_visits and not missed[page] for page in pages))
        missed_count = sum(missed.values())
    return {
        "changerate": fmean(rates),
        "ndcg": fmean(gains) if gains else nan,
        "freshness": fmean(fresh),
        "detected": found / (found + missed_count) if found + missed_count else nan,
    }


def cells_of(trace: Trace) -> list[list[bool]]:
    cells: list[list[bool]] = np.column_stack([
        trace.changed(cycle) for cycle in range(trace.cycles)
    ]).tolist()
    return cells


@pytest.mark.parametrize("name", ["age", "cg", "oracle-change"])
@settings(max_examples=20, deadline=None)
@given(trace=traces())
def test_a_cold_crawl_is_measured_as_a_plain_one_is(name: str, trace: Trace) -> None:
    chosen: list[list[int]] = []
    metrics = simulate(
        trace,
        make_selector(name, trace, 1),
        min(1.0, 3 / len(trace.pages)),
        cold=True,
        on_cycle=lambda cycle: chosen.append(cycle.visited_pages.tolist()),
    ).overall()
    assert len(chosen) == trace.cycles
    for measure, expected in plain_score(cells_of(trace), chosen).items():
        figure = getattr(metrics, measure)
        assert (isnan(figure) and isnan(expected)) or figure == pytest.approx(expected)


@pytest.mark.parametrize("name", NAMES)
def test_every_policy_visits_pages_that_it_has_never_seen_first(name: str) -> None:
    trace = in_groups(by_chance(30, 12, seed=1))
    recorder = Recorder(make_selector(name, trace, 1))
    for _ in crawl_in_cycles(trace, recorder, 6, cold=True):
        pass
    first_pages = [page for page, _, _, _ in recorder.visits[:30]]
    assert sorted(first_pages) == list(range(30))
    seen: set[int] = set()
    for page, _, measured, changed in recorder.visits:
        assert measured == (page in seen)
        assert not changed or measured
        seen.add(page)


def test_a_first_visit_finds_no_change_and_a_page_before_it_is_not_fresh() -> None:
    trace = drawn("xx.x", "....")
    curves = simulate(trace, CYCLE_ORACLES["oracle-change"](trace), 0.5, cold=True)
    assert [cycle.visits for cycle in curves.cycles] == [1] * 4
    assert curves.column("freshness")[0] == 0.5
    assert curves.column("changerate")[:2].tolist() == [0.0, 0.0]
    assert curves.column("changerate")[3] == 1.0
    assert np.isnan(curves.column("stale_age")[0])


def test_weighted_freshness_and_links_leave_out_pages_without_a_copy() -> None:
    trace = drawn("....", "....", "....", "....")
    curves = simulate(trace, make_selector("age", trace, 1), 0.25, cold=True)
    assert curves.column("freshness").tolist() == [0.25, 0.5, 0.75, 1.0]
    assert curves.column("weighted_freshness") == pytest.approx([0.25, 0.5, 0.75, 1.0])


def plain_daily_score(
    truth: GroundTruth, visits: list[tuple[int, float, bool, bool]], days: int
) -> tuple[float, float]:
    """Return ChangeRate and freshness of visits in continuous time, page by page."""
    end = days * 86_400.0
    hits, fresh = 0, 0.0
    for page in range(len(truth.pages)):
        changes = truth.times[truth.starts[page] : truth.starts[page + 1]].tolist()
        looks = [time for visited, time, _, _ in visits if visited == page and time < end]
        for look, next_look in zip(looks, [*looks[1:], end], strict=True):
            first_change = min([time for time in changes if time > look], default=end)
            fresh += min(first_change, next_look) - look
            hits += first_change <= next_look < end
    return hits / len(visits), fresh / end / len(truth.pages)


@pytest.mark.parametrize("name", ["age", "nutch", "bayes-changes", "oracle-life"])
def test_a_cold_continuous_crawl_is_measured_as_a_plain_one_is(name: str) -> None:
    truth = ground_truth_of_trace(in_groups(by_chance(24, 15, seed=3)), seed=1)
    recorder = Recorder(make_live_selector(name, truth, 1))
    metrics = crawl_by_day(recorder, truth, 6, 15, warm_up_seed=None).overall()
    assert len(recorder.visits) == 90
    assert len({page for page, _, _, _ in recorder.visits[:24]}) == 24
    changerate, freshness = plain_daily_score(truth, recorder.visits, 15)
    assert metrics.changerate == pytest.approx(changerate)
    assert metrics.freshness == pytest.approx(freshness)


def test_a_cold_day_by_hand() -> None:
    """Pages 0 and 1 are visited at 0:00 and 12:00; page 0 changes at 6:00 on the first day."""
    truth = ground_truth(
        without_history(drawn("..", "..").pages), [np.array([21_600.0]), np.empty(0)]
    )
    curves = crawl_by_day(RoundRobin(), truth, 2, 2, warm_up_seed=None)
    assert curves.column("visits").tolist() == [2, 2]
    assert curves.column("changerate").tolist() == [0.0, 0.5]
    assert curves.column("freshness") == pytest.approx([(0.25 + 0.5) / 2, 1.0], abs=1e-6)
    assert curves.column("detected")[-1] == 1.0


@pytest.mark.parametrize("run", [run_policies, run_policies_continuously])
def test_cold_rows_say_so_and_have_every_cycle(run: object) -> None:
    trace = in_groups(by_chance(30, 8, seed=2))
    for cold, cycles in ((True, 8), (False, 6)):
        result = next(run(trace, ["age"], [0.2], seeds=1, cold=cold))  # type: ignore[operator]
        assert len(result.runs[0]) == cycles
        assert result.to_row(trace).cold is cold
