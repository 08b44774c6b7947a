"""Whoever can be back-tested is found by name, formula or file; others are refused in one line."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from freshet.backtest.cycle_crawl import Chooser, crawl
from freshet.backtest.cycle_oracles import OracleLife
from freshet.backtest.selectors import EVERY, KNOWN, check, contender, learnt_on
from freshet.backtest.trace import Keys, Trace, packed
from freshet.core.errors import BadInput, UsageError
from freshet.formula.expression import parse
from freshet.schedule.policies import Ranking, make
from tests.schedule.test_model_file import MODEL


@pytest.fixture
def trace() -> Trace:
    rng = np.random.default_rng(5)
    rates = rng.choice([0.02, 0.2, 0.9], 40)
    keys = Keys(*(np.zeros(40, np.uint64),) * 3)
    return packed("some", keys, rng.random((40, 12)) < rates[:, None])


def visits(trace: Trace, chooser: Chooser) -> list[list[int]]:
    return [cycle.chosen.tolist() for cycle in crawl(trace, chooser, 4)]


@pytest.mark.parametrize("name", KNOWN)
def test_every_name_has_its_contender(trace: Trace, name: str) -> None:
    check(name)
    assert contender(name, trace, 1).name == name


def test_all_are_policies_and_ceilings_but_no_variants() -> None:
    assert {"rand", "bayes-freshness", "oracle-life", "known-rate"} <= set(EVERY)
    assert "nad-cycle" in KNOWN
    assert "nad-cycle" not in EVERY


def test_a_ceiling_looks_at_the_trace(trace: Trace) -> None:
    assert isinstance(contender("oracle-life", trace, 1), OracleLife)


def test_a_formula_is_shown_as_it_is_usually_written(trace: Trace) -> None:
    check(" t*( X+ .5)")
    assert contender(" t*( X+ .5)", trace, 1).name == "t * (X + 0.5)"


@pytest.mark.parametrize(("text", "rule"), [("t", "age"), ("1 - exp(-NAD * t)", "nad")])
def test_a_formula_chooses_what_the_rule_chooses_that_it_spells(
    trace: Trace, text: str, rule: str
) -> None:
    assert visits(trace, contender(text, trace, 3)) == visits(trace, contender(rule, trace, 3))


def test_a_model_file_chooses_by_its_formula_and_clock(trace: Trace, tmp_path: Path) -> None:
    model = replace(MODEL, formula=parse("NAD", ("NAD",)))
    model.save(tmp_path / "news.json")
    found = contender(str(tmp_path / "news.json"), trace, 3)
    check(str(tmp_path / "news.json"))
    assert found.name == "news"
    chosen = visits(trace, found)
    assert chosen == visits(trace, make(Ranking(model.formula, "cycle"), seed=3))
    assert chosen != visits(trace, make(Ranking(model.formula, "visit"), seed=3))


def test_a_model_that_was_learnt_on_the_trace_is_told_from_others(
    trace: Trace, tmp_path: Path
) -> None:
    names = [str(tmp_path / name) for name in ("other.json", "own.json")]
    MODEL.save(Path(names[0]))
    replace(MODEL, digest=trace.digest).save(Path(names[1]))
    assert learnt_on(trace, ["age", "t * X", *names]) == names[1:]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "'' is no policy; there are"),
        ("nutsch", "'nutsch' is no policy; did you mean nutch? There are rand,"),
        ("oracle-live", "did you mean oracle-life"),
        ("known-rates", "did you mean known-rate"),
        ("t*Y", "'Y' is unknown"),
        ("t X", "'X' is one too many"),
        ("t * (X + 1", "')' is missing"),
        ("__import__('os').system('true')", "cannot read"),
        ("open(t)", "'open' is unknown"),
        ("(" * 5_000 + "t", "deep"),
        ("x" * 50_000, "is no policy"),
        ("t*" * 50_000, "shorten it"),
    ],
)
def test_what_is_no_contender_is_refused_in_one_line(name: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        check(name)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 500


def test_a_model_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadInput, match=r"gone\.json: cannot be read"):
        check("models/gone.json")
