"""Generated histories: pieces come and go as planned, so knots are where the truth says."""

from dataclasses import replace

import numpy as np
import pytest
from experiments.curve_shapes.histories import (
    HOUR,
    WEEK,
    GeneratedHistory,
    LookSchedule,
    PageParameters,
    generate_history,
)

LIST = PageParameters(standing=50, turnover=12, words=8, per_day=12.0)


def drawn(
    parameters: PageParameters, seed: int = 1, looks: LookSchedule | None = None
) -> GeneratedHistory:
    return generate_history(parameters, np.random.default_rng(seed), looks)


def words_at(page: GeneratedHistory, look: int) -> set[int]:
    return set(page.series.terms[page.series.version_indices[look]].hashes.tolist())


def test_the_same_chance_gives_the_same_history() -> None:
    one, two, other = drawn(LIST), drawn(LIST), drawn(LIST, seed=2)
    np.testing.assert_array_equal(one.series.version_indices, two.series.version_indices)
    np.testing.assert_array_equal(one.pieces, two.pieces)
    assert not np.array_equal(one.pieces, other.pieces)


def test_looks_are_hourly_for_five_weeks_unless_said_otherwise() -> None:
    times = drawn(LIST).series.times
    assert len(times) == 840
    assert set(np.diff(times)) == {HOUR}


def test_a_version_has_the_standing_words_and_the_latest_pieces() -> None:
    page = drawn(LIST)
    for look in (0, 100, 839):
        seen = page.changes[page.series.version_indices[look]]
        happened = np.searchsorted(page.truth.changes, page.series.times[look], side="right")
        assert seen == happened
        pieces = page.pieces[seen : seen + LIST.turnover].ravel()
        assert words_at(page, look) == {*page.standing.tolist(), *pieces.tolist()}


def test_a_version_is_stored_once_however_often_it_is_observed() -> None:
    page = drawn(replace(LIST, per_day=2.0))
    assert len(page.series.terms) == len(np.unique(page.series.version_indices))
    assert len(page.series.terms) <= len(page.truth.changes) + 1


def test_counts_are_how_often_a_word_stands_there() -> None:
    page = drawn(LIST)
    assert {terms.total for terms in page.series.terms} == {50 + 12 * 8}


def test_when_the_last_piece_is_gone_none_of_the_start_is_left() -> None:
    page = drawn(LIST)
    start = page.truth.span.start + 30 * HOUR
    gone = page.truth.gone_by(start)
    assert gone is not None
    began, before, after = (
        int(np.searchsorted(page.truth.changes, moment, side="right"))
        for moment in (start, gone - 1, gone)
    )
    assert before == began + LIST.turnover - 1
    assert after == began + LIST.turnover


def test_the_knot_is_the_mean_over_starts() -> None:
    truth = drawn(LIST).truth
    starts = truth.span.start + HOUR * np.array([5.0, 50.0])
    each = [truth.knot(starts[n : n + 1]) for n in (0, 1)]
    assert truth.knot(starts) == pytest.approx(np.mean(np.array(each, float)))
    assert truth.knot(np.array([truth.span.end])) is None


def test_shapes_follow_from_how_fast_all_is_replaced() -> None:
    assert drawn(LIST).truth.shape == "knotted"
    assert drawn(replace(LIST, per_day=0.3)).truth.shape == "sloped"
    assert drawn(replace(LIST, turnover=0)).truth.shape == "flat"
    assert drawn(replace(LIST, per_day=0.0)).truth.shape == "flat"


def test_a_page_that_never_changes_has_one_version() -> None:
    assert len(drawn(replace(LIST, per_day=0.0)).series.terms) == 1


def test_a_rotating_block_has_a_few_texts_that_come_again() -> None:
    page = drawn(PageParameters(turnover=0, rotating=9))
    assert len(page.series.terms) == 6
    assert page.truth.shape == "flat"
    assert (np.diff(page.series.version_indices) != 0).mean() > 0.7


def test_regular_changes_come_after_always_the_same_time() -> None:
    changes = drawn(replace(LIST, regular=True)).truth.changes
    np.testing.assert_allclose(np.diff(changes), 2 * HOUR)


def test_common_words_come_again_in_any_text() -> None:
    page = drawn(replace(LIST, standing=0, per_day=48.0))
    first, last = words_at(page, 0), words_at(page, 800)
    assert 0 < len(first & last) < len(first) / 2


def test_changes_rest_at_night_and_on_weekends() -> None:
    page = drawn(replace(LIST, per_day=60.0, night=0.05, weekend=0.1))
    hours = (page.truth.changes / HOUR).astype(int)
    night, weekend = hours % 24 < 4, (hours - 96) % 168 >= 120
    assert night.mean() < 0.05
    assert weekend.mean() < 0.1


def test_looks_can_be_late_missed_and_away() -> None:
    looks = LookSchedule(jitter=0.5, missed=0.2, gaps=1, gap_hours=100.0)
    times = drawn(LIST, looks=looks).series.times
    assert len(times) < 840 * 0.8
    assert (np.diff(times) > 0).all()
    assert np.diff(times).max() > 90 * HOUR
    assert len(set(np.diff(times))) > 100


def test_a_short_time_of_looking_is_enough() -> None:
    page = drawn(LIST, looks=LookSchedule(days=2.0))
    assert len(page.series) == 48
    assert page.truth.span.end - page.truth.span.start < WEEK
