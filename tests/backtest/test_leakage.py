"""No policy looks ahead: changes that no visit has seen alter no choice."""

import numpy as np
import pytest

from freshet.backtest.cycle_crawl import WARM_UP_CYCLES, crawl_in_cycles
from freshet.core.clock import from_epoch
from freshet.core.tables import DAY_SECONDS, BoolArray, HostCaps
from freshet.schedule.policies import CYCLE_POLICY_NAMES, POLICY_NAMES, make_policy
from tests.backtest.traces import by_chance, choices, in_groups
from tests.schedule.bayes_samples import pages, visits

PAGES, CYCLES, CUT, K = 60, 40, 22, 4
FORMULAS = ("t * X", "chance", "rate * around", "quiet - t", "weekday + NAD")
EVERY = (*POLICY_NAMES, *CYCLE_POLICY_NAMES, *FORMULAS)


def up_to_the_cut(changed: BoolArray, name: str) -> list[list[int]]:
    return choices(in_groups(changed), make_policy(name, seed=5), K)[: CUT + 1 - WARM_UP_CYCLES]


@pytest.fixture(scope="module")
def changed() -> BoolArray:
    return by_chance(PAGES, CYCLES, seed=11)


@pytest.mark.parametrize("name", EVERY)
def test_shuffling_the_columns_after_a_cut_alters_no_choice_before_it(
    name: str, changed: BoolArray
) -> None:
    later = CUT + 1 + np.random.default_rng(2).permutation(CYCLES - CUT - 1)
    shuffled = np.column_stack([changed[:, : CUT + 1], changed[:, later]])
    assert not np.array_equal(shuffled, changed)
    assert up_to_the_cut(shuffled, name) == up_to_the_cut(changed, name)


@pytest.mark.parametrize("name", EVERY)
def test_rewriting_truth_that_no_visit_saw_alters_no_choice(name: str, changed: BoolArray) -> None:
    rewritten = unseen_rewritten(changed, name)
    assert np.count_nonzero(rewritten != changed) > 100
    assert up_to_the_cut(rewritten, name) == up_to_the_cut(changed, name)


def unseen_rewritten(changed: BoolArray, name: str) -> BoolArray:
    """Return cells that every visit up to the cut would have found the same, and are not.

    A change that a visit found is moved to any one cell since the visit before; what follows a
    page's last visit is drawn anew.
    """
    rng = np.random.default_rng(3)
    rewritten = rng.random(changed.shape) < 0.3
    for page, cycles in enumerate(visited_cycles(changed, name)):
        for before, now in zip([-1, *cycles], cycles, strict=False):
            cells = rewritten[page, before + 1 : now + 1]
            cells[:] = False
            cells[rng.integers(len(cells))] = changed[page, before + 1 : now + 1].any()
    return rewritten


def visited_cycles(changed: BoolArray, name: str) -> list[list[int]]:
    """Return the cycles up to the cut in which each page is visited."""
    visited = [list(range(WARM_UP_CYCLES)) for _ in range(PAGES)]
    for cycle in crawl_in_cycles(in_groups(changed), make_policy(name, seed=5), K):
        for page in cycle.visited_pages.tolist():
            if cycle.number <= CUT:
                visited[page].append(cycle.number)
    return visited


@pytest.mark.parametrize("name", POLICY_NAMES)
def test_rewriting_moments_that_no_visit_saw_alters_no_choice_in_continuous_time(
    name: str,
) -> None:
    rng = np.random.default_rng(6)
    moments = [np.sort(rng.uniform(0, 20, rng.integers(0, 30))) for _ in range(PAGES)]
    visited = visited_moments(moments, name)
    rewritten = [unseen_moments(moments[page], visited[page], rng) for page in range(PAGES)]
    assert visited_moments(rewritten, name) == visited
    assert sum(not np.array_equal(*pair) for pair in zip(moments, rewritten, strict=True)) > 30


def unseen_moments(moments: np.ndarray, days: list[float], rng: np.random.Generator) -> np.ndarray:
    """Return moments of changes that visits on some days would have found the same."""
    rewritten = list(days[-1:] + rng.uniform(0.01, 5, 4)) if days else []
    for before, day in zip([0.0, *days], days, strict=False):
        if np.any((moments > before) & (moments <= day)):
            rewritten.append(day - rng.uniform(0, 1) * (day - before) * 0.99)
    return np.sort(rewritten)


def visited_moments(moments: list[np.ndarray], name: str) -> list[list[float]]:
    """Return the days on which a live policy visits each page."""
    policy, visited = make_policy(name, seed=5, live=True), [[] for _ in range(PAGES)]
    policy.add(pages(range(PAGES), host_pages=20))
    for step in range(60):
        day = (step + 1) / 4
        chosen = policy.choose(from_epoch(day * DAY_SECONDS), K, HostCaps()).pages
        changed = []
        for page in chosen.tolist():
            before = visited[page][-1] if visited[page] else 0.0
            changed.append(bool(np.any((moments[page] > before) & (moments[page] <= day))))
            visited[page].append(day)
        policy.learn(visits(chosen, day, changed))
    return visited
