"""The simulated crawl: its protocol, and the classic rules against a plain loop over pages."""

from collections.abc import Callable

import numpy as np
import pytest

from freshet.backtest.cycle_crawl import crawl_in_cycles, cycle_time, visits_per_cycle
from freshet.backtest.trace import Trace
from freshet.core.clock import CYCLE_SECONDS
from freshet.schedule.policies import make_policy
from freshet.schedule.top_k import tie_breaker
from tests.backtest.traces import by_chance, choices, drawn, in_groups

Look = tuple[int, bool]
Score = Callable[[list[Look], int], float]


def chance(rate: float, age: int) -> float:
    return float(-np.expm1(-rate * age))


def cho(looks: list[Look], now: int) -> float:
    n, changes = len(looks), sum(found for _, found in looks)
    return float(-np.log((n - changes + 0.5) / (n + 0.5)))


def weighted(weights: Callable[[int], float], looks: list[Look], now: int) -> float:
    shares = [weights(number) for number in range(1, len(looks) + 1)]
    seen = sum(share * found for share, (_, found) in zip(shares, looks, strict=True))
    return chance(seen / sum(shares), now - looks[-1][0])


def last_only(looks: list[Look], now: int) -> float:
    return chance(float(looks[-1][1]), now - looks[-1][0])


def adaptive(grow: float, shrink: float, longest: float, looks: list[Look], now: int) -> float:
    interval = 86_400.0
    for _, found in looks:
        interval = min(longest * 86_400, max(60.0, interval * (shrink if found else grow)))
    return (now - looks[-1][0]) / (interval / 86_400)


SCORES: dict[str, Score] = {
    "age": lambda looks, now: float(now - looks[-1][0]),
    "cg": cho,
    "nad": lambda looks, now: weighted(lambda number: 1, looks, now),
    "sad": last_only,
    "aad": lambda looks, now: weighted(lambda number: number, looks, now),
    "gad": lambda looks, now: weighted(lambda number: 2**number, looks, now),
    "nutch": lambda looks, now: adaptive(1.4, 0.8, 365, looks, now),
}


def plain_crawl(trace: Trace, score: Score, k: int, seed: int) -> list[list[int]]:
    """Return the choices of a rule, page by page from lists of all looks."""
    changed = np.column_stack([trace.changed(cycle) for cycle in range(trace.cycles)])
    looks: list[list[Look]] = [[] for _ in range(len(trace.pages))]
    chosen = []
    for now in range(trace.cycles):
        visited = list(range(len(looks)))
        if now >= 2:
            draw = tie_breaker(seed, float(now * CYCLE_SECONDS))
            tie_break_keys = draw(np.arange(len(looks), dtype=np.int64)).tolist()
            order = sorted(
                visited, key=lambda page: (-score(looks[page], now), tie_break_keys[page])
            )
            visited = order[:k]
            chosen.append(visited)
        for page in visited:
            first = looks[page][-1][0] + 1 if looks[page] else 0
            looks[page].append((now, bool(changed[page, first : now + 1].any())))
    return chosen


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_crawl_selects_as_a_plain_loop_over_pages_does(name: str, seed: int) -> None:
    trace = in_groups(by_chance(60, 30, seed=seed))
    assert choices(trace, make_policy(name, seed=seed), 4) == plain_crawl(
        trace, SCORES[name], 4, seed
    )


def test_every_page_is_visited_in_the_first_two_cycles() -> None:
    trace = drawn("xx...", ".....")
    policy = make_policy("cg")
    cycles = list(crawl_in_cycles(trace, policy, 1))
    assert [cycle.number for cycle in cycles] == [2, 3, 4]
    assert [cycle.visited_pages.tolist() for cycle in cycles] == [[0]] * 3


def test_a_visit_finds_every_change_since_the_visit_before() -> None:
    trace = drawn("..x....", ".......", ".......")
    found = {}
    for cycle in crawl_in_cycles(trace, make_policy("age", seed=1), 1):
        if cycle.visited_pages.tolist() == [0]:
            found[cycle.number] = bool(cycle.changed[0])
    first, second = sorted(found)[:2]
    assert found[first]
    assert not found[second]


def test_a_change_between_two_visits_is_found_once() -> None:
    trace = drawn("..xxx..", ".......", ".......", ".......")
    changed_by_cycle = sum(
        int(cycle.changed.sum()) for cycle in crawl_in_cycles(trace, make_policy("age", seed=1), 1)
    )
    assert changed_by_cycle <= 2


def test_copies_are_stale_until_they_are_visited() -> None:
    trace = drawn("..x...", "xxxxxx")
    stale = [cycle.stale.tolist() for cycle in crawl_in_cycles(trace, make_policy("cg"), 1)]
    assert stale == [[True, False]] * 4


def test_the_budget_is_a_share_of_the_pages_and_at_least_one() -> None:
    assert [visits_per_cycle(share, 3994) for share in (0.05, 0.1, 1e-9, 1.0)] == [
        199, 399, 1, 3994,
    ]  # fmt: skip
    assert visits_per_cycle(0.29, 100) == 29


def test_a_budget_of_all_pages_keeps_every_copy_fresh() -> None:
    trace = in_groups(by_chance(30, 10, seed=1))
    assert not any(cycle.stale.any() for cycle in crawl_in_cycles(trace, make_policy("rand"), 30))


def test_no_page_of_a_trace_counts_as_never_seen() -> None:
    trace = drawn("x...", "....")
    policy = make_policy("age")
    policy.add(trace.pages)
    assert policy.explain(0, cycle_time(0)).value == 1.0
