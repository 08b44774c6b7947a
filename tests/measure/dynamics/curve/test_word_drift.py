"""The page's own clock: words that come and go, without those that flicker."""

import numpy as np

from freshet.core.types import TermCounts
from freshet.measure.dynamics.curve import word_drift as module
from freshet.measure.dynamics.curve.word_drift import word_drift


def terms(*words: int) -> TermCounts:
    ids = np.array(sorted(words), np.uint64)
    return TermCounts(ids, np.ones(len(ids), np.uint32))


def states(*versions: int) -> np.ndarray:
    return np.array(versions, np.int32)


def test_a_word_replaced_by_another_moves_a_page_by_two() -> None:
    moved = word_drift(states(*[0] * 20, *[1] * 20), [terms(1, 2), terms(1, 3)])
    assert moved.tolist() == [0.0] * 20 + [2.0] * 20


def test_words_that_are_soon_back_do_not_move_a_page() -> None:
    versions = [terms(1, 2), terms(1, 3)]
    moved = word_drift(states(*[0, 1] * 40), versions)
    assert moved[-1] == 1
    assert len(set(moved[1:])) == 1


def test_words_that_come_back_after_long_move_it_again() -> None:
    moved = word_drift(states(*[0] * 100, *[1] * 100, *[0] * 100), [terms(1, 2), terms(1)])
    assert (moved[99], moved[100], moved[199], moved[200]) == (0, 1, 1, 2)


def test_a_gap_is_no_absence_of_words() -> None:
    moved = word_drift(states(*[0] * 20, *[-1] * 100, *[0] * 20), [terms(1, 2)])
    assert moved.tolist() == [0.0] * 140


def test_nothing_known_is_no_movement() -> None:
    assert word_drift(states(-1, -1), []).tolist() == [0.0, 0.0]
    assert word_drift(states(), []).tolist() == []


def test_more_words_than_the_first_table_holds_are_all_counted() -> None:
    versions = [terms(*range(1000 * n, 1000 * (n + 1))) for n in range(40)]
    moved = word_drift(np.repeat(np.arange(40, dtype=np.int32), 4), versions)
    assert moved[4] == 2000
    assert moved[100] == 50_000


def test_a_sample_of_very_many_words_moves_in_step_with_all_of_them(monkeypatch) -> None:
    rng = np.random.default_rng(1)
    words = np.sort(rng.integers(0, 2**63, (60, 400)).astype(np.uint64) * np.uint64(2), axis=1)
    versions = [TermCounts(row, np.ones(400, np.uint32)) for row in words]
    shown = np.repeat(np.arange(60, dtype=np.int32), 3)
    everything = word_drift(shown, versions)
    monkeypatch.setattr(module, "MAX_WORDS", 6000)
    sample = word_drift(shown, versions)
    assert 0 < sample[-1] < everything[-1] / 2
    np.testing.assert_allclose(sample / sample[-1], everything / everything[-1], atol=0.03)
