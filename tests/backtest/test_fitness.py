"""The fitness of formulas: single measures and mixtures, against the measures of a crawl."""

from dataclasses import replace

import numpy as np
import pytest

from freshet.backtest.cycle_crawl import crawl_in_cycles
from freshet.backtest.fitness import parse_fitness
from freshet.backtest.gpu.cpu import CpuDevice
from freshet.backtest.metrics import BacktestMetrics, measure_crawl
from freshet.backtest.trace import Trace
from freshet.core.errors import UsageError
from freshet.formula.expression import parse_formula
from freshet.learning.evolve.formula_trial import FormulaTrial
from freshet.schedule.policies import FORMULA_VARIABLES, make_policy
from tests.backtest.traces import by_chance, in_groups

FORMULA = parse_formula("t * (X + 0.1)", FORMULA_VARIABLES)
WEIGHTED = parse_formula("t * (X + 0.1) * importance", FORMULA_VARIABLES)
BUDGET, PAGES, CYCLES = 0.1, 60, 20


def some_trace() -> Trace:
    """Return pages that differ in importance and in the number of new links a day."""
    rng = np.random.default_rng(2)
    trace = in_groups(by_chance(PAGES, CYCLES, seed=2))
    importance = np.exp(rng.normal(0, 1, PAGES))
    links = rng.poisson(np.exp(rng.normal(-1, 1, PAGES)), (CYCLES, PAGES)).astype(np.uint16)
    most_links = np.full(PAGES, 3, np.uint16)
    pages = replace(trace.pages, importance=importance)
    return replace(trace, pages=pages, new_links=links, most_links=most_links)


def metrics_of(trace: Trace, formula: str) -> BacktestMetrics:
    crawl = crawl_in_cycles(trace, make_policy(formula, seed=1), int(BUDGET * PAGES))
    return measure_crawl(crawl, trace.pages.importance, int(BUDGET * PAGES))


def fitness(trace: Trace, measure: str) -> float:
    return FormulaTrial(trace, BUDGET, measure, seed=1).fitness(FORMULA)


@pytest.mark.parametrize("measure", ["changerate", "freshness", "weighted_freshness"])
def test_the_fitness_is_the_measure_of_the_crawl(measure: str) -> None:
    trace = some_trace()
    expected = getattr(metrics_of(trace, str(FORMULA)), measure)
    assert fitness(trace, measure) == pytest.approx(expected, abs=1e-12)


def test_the_fitness_for_links_is_the_share_of_the_links_found() -> None:
    trace = replace(some_trace(), most_links=None)
    expected = metrics_of(trace, str(FORMULA)).links_detected
    assert fitness(trace, "links") == pytest.approx(expected)


def test_a_mixture_is_the_weighted_mean_of_its_measures() -> None:
    trace = some_trace()
    parts = {"ndcg": 0.5, "freshness": 0.25, "links": 0.125, "weighted_freshness": 0.125}
    text = " + ".join(f"{weight}*{name}" for name, weight in parts.items())
    expected = sum(weight * fitness(trace, name) for name, weight in parts.items())
    assert fitness(trace, text) == pytest.approx(expected)


def test_a_device_has_the_same_fitness_for_a_mixture() -> None:
    trace, text = some_trace(), "2*changerate+ndcg+freshness"
    trial = FormulaTrial(trace, BUDGET, text, seed=1, device=CpuDevice())
    (joint,) = trial.joint_fitnesses(None, [([FORMULA], -np.inf)])
    assert joint == pytest.approx([fitness(trace, text)], abs=1e-9)


@pytest.mark.parametrize("measure", ["freshness", "changerate+freshness", "weighted_freshness"])
def test_a_stopped_crawl_keeps_a_bound_above_its_fitness(measure: str) -> None:
    always_changing = in_groups(np.ones((PAGES, CYCLES), np.bool_))
    trial = FormulaTrial(always_changing, BUDGET, measure, seed=1)
    result = trial.crawl(FORMULA, 0.99)
    assert result.is_stopped
    assert trial.fitness(FORMULA) < result.fitness < 0.99


def test_a_formula_may_use_importance() -> None:
    trial = FormulaTrial(some_trace(), BUDGET, "weighted_freshness", seed=1)
    assert trial.fitness(WEIGHTED) > trial.fitness(FORMULA)


@pytest.mark.parametrize("text", ["", "age", "ndcg+", "0*ndcg", "-1*ndcg", "ndcg*2", "1e9*ndcg"])
def test_a_fitness_that_is_no_measure_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="fitness"):
        parse_fitness(text)


def test_links_need_a_trace_with_links() -> None:
    trace = replace(some_trace(), new_links=None)
    with pytest.raises(UsageError, match="no numbers of new links"):
        fitness(trace, "links")
