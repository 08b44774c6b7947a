"""The batch crawl selects the same pages as a policy and as the crawl by classes."""

import subprocess
import sys
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.backtest.class_crawl.history_class_crawl import HistoryClassCrawl
from freshet.backtest.cycle_crawl import crawl_in_cycles, cycle_time
from freshet.backtest.devices import open_device
from freshet.backtest.fitness import FormulaResult
from freshet.backtest.gpu.cpu import CpuDevice
from freshet.backtest.gpu.crawl import FormulaBatchCrawl
from freshet.backtest.trace import PageGroupKeys, Trace, build_trace
from freshet.core.errors import UsageError
from freshet.formula.expression import Formula, parse_formula
from freshet.formula.variables import PAPER_VARIABLES, WeightClock
from freshet.learning.evolve.genetic_operators import PrimitiveSet, random_tree
from freshet.schedule.formulas.formula_policy import FormulaPolicy
from freshet.schedule.top_k import tie_break_key

TEXTS = ("t", "X", "t * X", "CG + 0.01 * t", "pow(SAD, t) + AAD / (GAD - n)", "log(t) / 0")


def some_trace(seed: int, pages: int = 60, cycles: int = 14) -> Trace:
    rng = np.random.default_rng(seed)
    rates = rng.choice([0.0, 0.02, 0.2, 0.9], pages)
    keys = PageGroupKeys(*(np.zeros(pages, np.uint64),) * 3)
    return build_trace("some", keys, rng.random((pages, cycles)) < rates[:, None])


def keys(seed: int, cycles: int) -> np.ndarray:
    moments = (cycle_time(cycle).timestamp() for cycle in range(cycles))
    return np.array([tie_break_key(seed, moment) for moment in moments], np.uint64)


def some_formulas(seed: int, count: int) -> list[Formula]:
    rng, language = Random(seed), PrimitiveSet(PAPER_VARIABLES)
    depths = [1 + index % 7 for index in range(count)]
    return [
        Formula(tuple(random_tree(rng, language, depth, is_full=depth < 4))) for depth in depths
    ]


def columns(result: FormulaResult) -> list[tuple[int, int, int]]:
    columns = (result.changes_found, result.stale_before, result.stale_after)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def by_policy(
    trace: Trace, formula: Formula, k: int, seed: int, clock: WeightClock
) -> list[tuple[int, int, int]]:
    policy = FormulaPolicy("some", formula, seed=seed, clock=clock)
    return [
        (int(cycle.changed.sum()), cycle.stale_before, int(cycle.stale.sum()))
        for cycle in crawl_in_cycles(trace, policy, k)
    ]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 70), st.sampled_from(["visit", "cycle"]))
def test_formulas_crawled_side_by_side_find_what_their_policies_find(
    seed: int, k: int, clock: WeightClock
) -> None:
    trace, formulas = some_trace(seed), some_formulas(seed, 5)
    results = FormulaBatchCrawl(trace, k, keys(seed, trace.cycles), clock=clock).run(formulas)
    for formula, result in zip(formulas, results, strict=True):
        assert columns(result) == by_policy(trace, formula, k, seed, clock)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([-np.inf, 0.2, 0.5, 0.8]),
    st.sampled_from(["ndcg", "changerate"]),
)
def test_a_result_is_that_of_the_crawl_by_classes(seed: int, floor: float, measure: str) -> None:
    trace, formulas = some_trace(seed, cycles=30), some_formulas(seed, 9)
    tie_break_keys = keys(seed, trace.cycles)
    results = FormulaBatchCrawl(trace, 6, tie_break_keys).run(
        formulas, floor=floor, measure=measure
    )
    by_classes = HistoryClassCrawl(trace, 6, tie_break_keys)
    for formula, result in zip(formulas, results, strict=True):
        expected = by_classes.run(formula, floor=floor, measure=measure)
        assert (result.is_stopped, columns(result)) == (expected.is_stopped, columns(expected))
        assert result.fitness == pytest.approx(expected.fitness, abs=1e-9)
        assert result.gain == pytest.approx(expected.gain, abs=1e-8)
        assert result.ideal_gain.tolist() == expected.ideal_gain.tolist()


def test_each_formula_may_have_its_own_floor() -> None:
    trace = some_trace(5, pages=80, cycles=30)
    formulas = [parse_formula(text, PAPER_VARIABLES) for text in TEXTS]
    floors = [0.99, -np.inf, 0.5, 0.9, 0.8, 0.99]
    crawl = FormulaBatchCrawl(trace, 4, keys(1, 30))
    together = crawl.run(formulas, floor=floors)
    apart = [crawl.run([one], floor=floor)[0] for one, floor in zip(formulas, floors, strict=True)]
    assert len({result.is_stopped for result in together}) == 2
    assert [(one.fitness, columns(one)) for one in together] == [
        (one.fitness, columns(one)) for one in apart
    ]


def test_formulas_do_the_same_in_one_batch_and_in_many() -> None:
    trace, formulas = (
        some_trace(5, pages=80),
        [parse_formula(text, PAPER_VARIABLES) for text in TEXTS],
    )
    narrow = CpuDevice()
    narrow.max_cells = 160
    together = FormulaBatchCrawl(trace, 4, keys(1, 14)).run(formulas, floor=0.4)
    apart = FormulaBatchCrawl(trace, 4, keys(1, 14), device=narrow).run(formulas, floor=0.4)
    assert [columns(one) for one in together] == [columns(one) for one in apart]
    assert [one.fitness for one in together] == [one.fitness for one in apart]


def test_a_trace_without_cycles_after_the_warm_up_finds_no_changes() -> None:
    (result,) = FormulaBatchCrawl(some_trace(1, cycles=2), 3, keys(0, 2)).run([
        parse_formula("t", PAPER_VARIABLES)
    ])
    assert (columns(result), result.fitness) == ([], 0.0)


def test_no_formulas_have_no_results() -> None:
    assert FormulaBatchCrawl(some_trace(1), 3, keys(0, 14)).run([]) == []


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(UsageError, match="'tpu' is unknown; use one of cpu, cuda"):
        open_device("tpu")


def test_a_formula_with_an_extended_variable_is_rejected() -> None:
    crawl = FormulaBatchCrawl(some_trace(1), 3, keys(0, 14))
    with pytest.raises(UsageError, match="does not support the variables weekday; use n, X, t"):
        crawl.run([Formula(("*", "t", "weekday"))])


def test_the_gpu_package_is_loaded_only_when_a_device_is_opened() -> None:
    script = (
        "import sys\n"
        "import freshet.learning.evolve.evolution\n"
        "from freshet.backtest.devices import open_device\n"
        "assert not any(name.startswith('freshet.backtest.gpu') for name in sys.modules)\n"
        "open_device('cpu')\n"
        "assert 'freshet.backtest.gpu.cpu' in sys.modules\n"
    )
    result = subprocess.run([sys.executable, "-c", script], check=False, stderr=subprocess.PIPE)
    assert not result.returncode, result.stderr.decode()
