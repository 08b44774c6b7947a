"""The crawl by arrays chooses what a policy and the crawl by classes choose."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.backtest.class_crawl import ClassCrawl
from freshet.backtest.cycle_crawl import crawl, moment
from freshet.backtest.fitness import Result
from freshet.backtest.gpu import ArrayCrawl
from freshet.backtest.gpu.cpu import Processor
from freshet.backtest.gpu.device import open_device
from freshet.backtest.trace import Keys, Trace, packed
from freshet.core.errors import UsageError
from freshet.formula.expression import Formula, parse
from freshet.formula.variables import ALL, Clock, Measure
from freshet.learning.evolve.genetic_operators import Language, grown
from freshet.schedule.ranked import Ranked
from freshet.schedule.top_k import lot_key

TEXTS = ("t", "X", "t * X", "CG + 0.01 * t", "pow(SAD, t) + AAD / (GAD - n)", "log(t) / 0")


def some_trace(seed: int, pages: int = 60, cycles: int = 14) -> Trace:
    rng = np.random.default_rng(seed)
    rates = rng.choice([0.0, 0.02, 0.2, 0.9], pages)
    keys = Keys(*(np.zeros(pages, np.uint64),) * 3)
    return packed("some", keys, rng.random((pages, cycles)) < rates[:, None])


def keys(seed: int, cycles: int) -> np.ndarray:
    moments = (moment(cycle).timestamp() for cycle in range(cycles))
    return np.array([lot_key(seed, each) for each in moments], np.uint64)


def some_formulas(seed: int, count: int) -> list[Formula]:
    rng, language = Random(seed), Language(ALL)
    depths = [1 + place % 7 for place in range(count)]
    return [Formula(tuple(grown(rng, language, depth, is_full=depth < 4))) for depth in depths]


def columns(result: Result) -> list[tuple[int, int, int]]:
    found = (result.found, result.stale_before, result.stale_after)
    return list(zip(*(column.tolist() for column in found), strict=True))


def by_policy(
    trace: Trace, formula: Formula, k: int, seed: int, clock: Clock
) -> list[tuple[int, int, int]]:
    policy = Ranked("some", formula, seed=seed, clock=clock)
    return [
        (int(cycle.found.sum()), cycle.stale_before, int(cycle.stale.sum()))
        for cycle in crawl(trace, policy, k)
    ]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 70), st.sampled_from(["visit", "cycle"]))
def test_formulas_crawled_side_by_side_find_what_their_policies_find(
    seed: int, k: int, clock: Clock
) -> None:
    trace, formulas = some_trace(seed), some_formulas(seed, 5)
    results = ArrayCrawl(trace, k, keys(seed, trace.cycles), clock=clock).run(formulas)
    for formula, result in zip(formulas, results, strict=True):
        assert columns(result) == by_policy(trace, formula, k, seed, clock)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([-np.inf, 0.2, 0.5, 0.8]),
    st.sampled_from(["ndcg", "changerate"]),
)
def test_a_result_is_that_of_the_crawl_by_classes(
    seed: int, floor: float, measure: Measure
) -> None:
    trace, formulas = some_trace(seed, cycles=30), some_formulas(seed, 9)
    lots = keys(seed, trace.cycles)
    results = ArrayCrawl(trace, 6, lots).run(formulas, floor=floor, measure=measure)
    by_classes = ClassCrawl(trace, 6, lots)
    for formula, result in zip(formulas, results, strict=True):
        expected = by_classes.run(formula, floor=floor, measure=measure)
        assert (result.stopped, columns(result)) == (expected.stopped, columns(expected))
        assert result.fitness == pytest.approx(expected.fitness, abs=1e-9)
        assert result.gain == pytest.approx(expected.gain, abs=1e-8)
        assert result.ideal.tolist() == expected.ideal.tolist()


def test_formulas_do_the_same_in_one_batch_and_in_many() -> None:
    trace, formulas = some_trace(5, pages=80), [parse(text, ALL) for text in TEXTS]
    narrow = Processor()
    narrow.cells = 160
    together = ArrayCrawl(trace, 4, keys(1, 14)).run(formulas, floor=0.4)
    apart = ArrayCrawl(trace, 4, keys(1, 14), device=narrow).run(formulas, floor=0.4)
    assert [columns(one) for one in together] == [columns(one) for one in apart]
    assert [one.fitness for one in together] == [one.fitness for one in apart]


def test_a_trace_without_cycles_after_the_warm_up_gives_no_finds() -> None:
    (result,) = ArrayCrawl(some_trace(1, cycles=2), 3, keys(0, 2)).run([parse("t", ALL)])
    assert (columns(result), result.fitness) == ([], 0.0)


def test_no_formulas_have_no_results() -> None:
    assert ArrayCrawl(some_trace(1), 3, keys(0, 14)).run([]) == []


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(UsageError, match="'tpu' is unknown; use one of cpu, cuda"):
        open_device("tpu")


def test_a_formula_that_knows_more_than_the_sums_tell_is_refused() -> None:
    crawl = ArrayCrawl(some_trace(1), 3, keys(0, 14))
    with pytest.raises(UsageError, match="know no weekday; use n, X, t"):
        crawl.run([Formula(("*", "t", "weekday"))])
