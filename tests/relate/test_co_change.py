"""Pages that change together or one after the other."""

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from freshet.core.content.content_grid import ContentGrid, changed_steps
from freshet.relate.co_change import CoChange
from tests.relate.grids import text_grid


def changing_grid(*changes: list[int]) -> ContentGrid:
    """Return pages that change at the steps with a 1."""
    pages: list[list[str | None]] = []
    for row in changes:
        states = np.concatenate([[0], np.cumsum(row)]) % 2
        pages.append(["ab"[state] for state in states.tolist()])
    return text_grid(*pages)


def random_changes(*, seed: int = 0) -> list[int]:
    return (np.random.default_rng(seed).random(60) < 0.4).astype(int).tolist()


def test_a_page_that_changes_before_another_is_found_with_its_lag() -> None:
    leader = random_changes()
    grid = changing_grid([0, 0, 0, *leader[:-3]], random_changes(seed=1), leader)
    pages, weights, lags = CoChange().related(grid, 1).of(0)
    assert (pages.tolist(), lags.tolist()) == ([2], [3])
    assert weights[0] > 0.8


def test_pages_that_change_together_are_found_at_lag_zero_only_if_it_is_allowed() -> None:
    grid = changing_grid(random_changes(), random_changes())
    assert CoChange(first_lag=0).related(grid, 1).of(0)[2].tolist() == [0]
    assert CoChange(first_lag=1, last_lag=1).related(grid, 1).of(0)[0].tolist() == []


def test_the_weight_is_that_of_the_mutual_information() -> None:
    grid = changing_grid(random_changes(), random_changes(seed=5))
    labels = changed_steps(grid)
    relation = CoChange(first_lag=2, last_lag=2, evidence=0.0, positive_only=False)
    information = mutual_info_score(labels[0, 2:], labels[1, :-2])
    expected = np.sqrt(1 - np.exp(-2 * information))
    assert relation.related(grid, 1).of(0)[1] == pytest.approx([expected])


def test_pages_that_change_in_turn_count_unless_only_positive_relations_do() -> None:
    changes = random_changes()
    grid = changing_grid(changes, [1 - change for change in changes])
    both = CoChange(first_lag=0, last_lag=0, positive_only=False)
    assert both.related(grid, 1).of(0)[1][0] > 0.8
    assert CoChange(first_lag=0, last_lag=0).related(grid, 1).of(0)[0].tolist() == []


def test_independent_pages_are_rarely_related() -> None:
    grid = changing_grid(*(random_changes(seed=seed) for seed in range(30)))
    related = CoChange(last_lag=1).related(grid, 30)
    assert len(related.pages) < 0.06 * 30 * 29


def test_above_chance_of_all_comparisons_hardly_any_is_related() -> None:
    grid = changing_grid(*(random_changes(seed=seed) for seed in range(60)))
    assert len(CoChange().related(grid, 60).pages) > 5 * 60
    assert len(CoChange(above_chance=True).related(grid, 60).pages) < 0.4 * 60
