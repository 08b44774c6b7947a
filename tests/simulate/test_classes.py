"""The crawl by classes chooses what a policy with the same formula and seed chooses."""

from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.formula import parse
from freshet.core.tables import Caps, Choices, Truths
from freshet.core.types import Floats
from freshet.schedule.evolve.known import ALL, known_for
from freshet.schedule.pick import lot_key
from freshet.schedule.ranked import Ranked
from freshet.simulate.classes import ClassCrawl, Tally
from freshet.simulate.loop import crawl, moment
from freshet.simulate.metrics import discount
from freshet.simulate.trace import Keys, Trace, packed

FORMULAS = (
    "t",
    "X",
    "t * X",
    "1 - exp(0 - NAD * t)",
    "CG + 0.01 * t",
    "pow(SAD, t) + AAD / (GAD - n)",
    "log(t) * exp(X) / 0",
)


def some_trace(seed: int, pages: int = 60, cycles: int = 14) -> Trace:
    rng = np.random.default_rng(seed)
    rates = rng.choice([0.0, 0.02, 0.2, 0.9], pages)
    keys = Keys(*(np.zeros(pages, np.uint64),) * 3)
    return packed("some", keys, rng.random((pages, cycles)) < rates[:, None])


def by_classes(trace: Trace, text: str, k: int, seed: int, clock: str = "visit") -> list[Tally]:
    formula = parse(text, ALL)
    memory = known_for(formula.names, clock)  # type: ignore[arg-type]
    crawled = ClassCrawl(
        trace, memory, k, lambda cycle: lot_key(seed, moment(cycle).timestamp()), discount(k)
    )
    return list(crawled.run(formula.values))


def by_policy(
    trace: Trace, text: str, k: int, seed: int, clock: str = "visit"
) -> list[tuple[int, int, int]]:
    policy = Ranked(text, parse(text, ALL), seed=seed, clock=clock)  # type: ignore[arg-type]
    return [
        (int(cycle.found.sum()), cycle.stale_before, int(cycle.stale.sum()))
        for cycle in crawl(trace, policy, k)
    ]


@pytest.mark.parametrize("clock", ["visit", "cycle"])
@pytest.mark.parametrize("text", FORMULAS)
def test_a_crawl_by_classes_finds_what_the_policy_finds(text: str, clock: str) -> None:
    trace = some_trace(3)
    tallies = by_classes(trace, text, 5, seed=7, clock=clock)
    found = [(tally.found, tally.stale_before, tally.stale_after) for tally in tallies]
    assert found == by_policy(trace, text, 5, seed=7, clock=clock)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 60), st.sampled_from(FORMULAS))
def test_it_does_so_on_any_trace_with_any_budget(seed: int, k: int, text: str) -> None:
    trace = some_trace(seed)
    found = [(t.found, t.stale_before, t.stale_after) for t in by_classes(trace, text, k, seed)]
    assert found == by_policy(trace, text, k, seed)


def expected_gain(found: Truths, scores: Floats) -> float:
    """Add up the discounts of finds, each that of the mean place of its score."""
    weights = discount(len(scores))
    return sum(
        float(found[scores == score].mean() * weights[scores == score].sum())
        for score in set(scores.tolist())
    )


class Noting(Ranked):
    """Remembers the values of its last choice."""

    values: Floats

    def choose(self, now: datetime, k: int, caps: Caps) -> Choices:
        choices = super().choose(now, k, caps)
        self.values = choices.values
        return choices


@pytest.mark.parametrize("text", FORMULAS)
def test_the_gain_is_the_mean_over_the_order_of_pages_with_equal_scores(text: str) -> None:
    trace, policy = some_trace(5), Noting(text, parse(text, ALL), seed=1)
    gains = [expected_gain(cycle.found, policy.values) for cycle in crawl(trace, policy, 12)]
    assert [tally.gain for tally in by_classes(trace, text, 12, seed=1)] == pytest.approx(gains)
