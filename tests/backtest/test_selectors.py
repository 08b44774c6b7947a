"""Selectors are made by name, formula or file; unknown names give a one-line error."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from freshet.backtest.cycle_crawl import Selector, crawl_in_cycles
from freshet.backtest.cycle_oracles import CycleLifetimeOracle
from freshet.backtest.selectors import (
    ACCEPTED_NAMES,
    ALL_NAMES,
    check_name,
    make_selector,
    models_trained_on,
)
from freshet.backtest.trace import PageGroupKeys, Trace, build_trace
from freshet.core.errors import BadInputError, UsageError
from freshet.formula.expression import parse_formula
from freshet.schedule.policies import FormulaRanking, make_policy
from tests.schedule.test_model_file import MODEL


@pytest.fixture
def trace() -> Trace:
    rng = np.random.default_rng(5)
    rates = rng.choice([0.02, 0.2, 0.9], 40)
    keys = PageGroupKeys(*(np.zeros(40, np.uint64),) * 3)
    return build_trace("some", keys, rng.random((40, 12)) < rates[:, None])


def visits(trace: Trace, selector: Selector) -> list[list[int]]:
    return [cycle.visited_pages.tolist() for cycle in crawl_in_cycles(trace, selector, 4)]


@pytest.mark.parametrize("name", ACCEPTED_NAMES)
def test_every_name_has_a_selector(trace: Trace, name: str) -> None:
    check_name(name)
    assert make_selector(name, trace, 1).name == name


def test_all_means_policies_and_oracles_without_variants() -> None:
    assert {"rand", "bayes-freshness", "oracle-life", "known-rate"} <= set(ALL_NAMES)
    assert "nad-cycle" in ACCEPTED_NAMES
    assert "nad-cycle" not in ALL_NAMES


def test_an_oracle_reads_the_trace(trace: Trace) -> None:
    assert isinstance(make_selector("oracle-life", trace, 1), CycleLifetimeOracle)


def test_a_formula_is_shown_as_it_is_usually_written(trace: Trace) -> None:
    check_name(" t*( X+ .5)")
    assert make_selector(" t*( X+ .5)", trace, 1).name == "t * (X + 0.5)"


@pytest.mark.parametrize(("text", "rule"), [("t", "age"), ("1 - exp(-NAD * t)", "nad")])
def test_a_formula_chooses_what_the_rule_chooses_that_it_spells(
    trace: Trace, text: str, rule: str
) -> None:
    assert visits(trace, make_selector(text, trace, 3)) == visits(
        trace, make_selector(rule, trace, 3)
    )


def test_a_model_file_chooses_by_its_formula_and_clock(trace: Trace, tmp_path: Path) -> None:
    model = replace(MODEL, formula=parse_formula("NAD", ("NAD",)))
    model.save(tmp_path / "news.json")
    found = make_selector(str(tmp_path / "news.json"), trace, 3)
    check_name(str(tmp_path / "news.json"))
    assert found.name == "news"
    chosen = visits(trace, found)
    assert chosen == visits(trace, make_policy(FormulaRanking(model.formula, "cycle"), seed=3))
    assert chosen != visits(trace, make_policy(FormulaRanking(model.formula, "visit"), seed=3))


def test_a_model_trained_on_the_trace_is_recognised(trace: Trace, tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("other.json", "own.json")]
    MODEL.save(Path(names[0]))
    replace(MODEL, digest=trace.digest).save(Path(names[1]))
    assert models_trained_on(trace, ["age", "t * X", *names]) == names[1:]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "'' is not a policy; there are"),
        ("nutsch", "'nutsch' is not a policy; did you mean nutch? There are rand,"),
        ("oracle-live", "did you mean oracle-life"),
        ("known-rates", "did you mean known-rate"),
        ("t*Y", "'Y' is unknown"),
        ("t X", "'X' is one too many"),
        ("t * (X + 1", "')' is missing"),
        ("__import__('os').system('true')", "cannot read"),
        ("open(t)", "'open' is unknown"),
        ("(" * 5_000 + "t", "deep"),
        ("x" * 50_000, "is not a policy"),
        ("t*" * 50_000, "shorten it"),
    ],
)
def test_an_unknown_name_gives_a_one_line_error(name: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_name(name)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 500


def test_a_model_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadInputError, match=r"gone\.json: cannot be read"):
        check_name("models/gone.json")
