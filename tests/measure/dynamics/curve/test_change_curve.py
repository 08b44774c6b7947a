"""Curves: the mean over starts of what plain sets say, and nothing where there is too little."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.version_series import VersionSeries, build_series
from freshet.measure.dynamics.curve.change_curve import ChangeCurve, change_curve
from freshet.measure.dynamics.time_grid import DAY, HOUR

MakeSeries = Callable[..., VersionSeries]

LIST = 10
HOURS = 400
pages = st.lists(st.sets(st.integers(0, 9), max_size=6), min_size=16, max_size=40)


def curve_of(series: VersionSeries, seed: int = 1, **options: float) -> ChangeCurve:
    return change_curve(series, rng=np.random.default_rng(seed), **options)


def news(hour: int) -> set[int]:
    """Return standing words and the ten latest of a list that grows by one every three hours."""
    newest = hour // 3
    return {*range(20), *range(100 + newest - LIST, 100 + newest)}


def by_sets(states: list[set[int]], starts: list[int]) -> list[float]:
    lags = range(len(states) - min(starts))
    return [
        float(np.mean([alike(states[s], states[s + lag]) for s in starts if s + lag < len(states)]))
        for lag in lags
    ]


def alike(a: set[int], b: set[int]) -> float:
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0


@given(pages, st.integers(0, 5))
def test_a_curve_is_the_mean_over_starts_of_what_plain_sets_say(
    series_from: MakeSeries, states: list[set[int]], seed: int
) -> None:
    curve = curve_of(series_from(states), seed)
    starts = (curve.starts / HOUR).astype(int).tolist()
    assert len(set(starts)) == len(starts) == 5
    np.testing.assert_allclose(curve.dice, by_sets(states, starts), atol=1e-12)


@given(pages)
def test_a_curve_begins_at_one_and_stays_between_none_and_all(
    series_from: MakeSeries, states: list[set[int]]
) -> None:
    curve = curve_of(series_from(states))
    assert curve.dice[0] == 1
    assert (curve.dice >= 0).all()
    assert (curve.dice <= 1).all()
    assert curve.shape in ("flat", "sloped", "knotted")
    assert curve.knot is None or 0 < curve.knot.hours < curve.hours[-1]


@given(pages, st.randoms(use_true_random=False))
def test_a_curve_does_not_depend_on_the_order_of_storage(
    series_from: MakeSeries, states: list[set[int]], shuffler: object
) -> None:
    stored = series_from(states)
    looks, versions = list(range(len(stored))), list(range(len(stored.terms)))
    shuffler.shuffle(looks)  # type: ignore[attr-defined]
    shuffler.shuffle(versions)  # type: ignore[attr-defined]
    reordered = build_series(
        [float(stored.times[look]) for look in looks],
        [versions.index(stored.version_indices[look]) for look in looks],
        [stored.terms[version] for version in versions],
    )
    first, second = curve_of(stored), curve_of(reordered)
    np.testing.assert_array_equal(first.dice, second.dice)
    assert (first.knot, first.shape) == (second.knot, second.shape)


def test_a_list_that_moves_on_has_its_knot_where_the_last_is_gone(series_from: MakeSeries) -> None:
    curve = curve_of(series_from([news(hour) for hour in range(HOURS)]))
    gone = [3 * (start // 3 + LIST) - start for start in curve.starts / HOUR]
    assert curve.shape == "knotted"
    assert curve.knot is not None
    assert curve.knot.hours == pytest.approx(np.mean(gone), rel=0.05)
    assert curve.knot.dice == pytest.approx(2 / 3, abs=0.01)
    assert curve.knot.dice == np.interp(curve.knot.hours, curve.hours, curve.dice)
    assert curve.paper_knot is not None
    assert curve.paper_knot.dice == np.interp(curve.paper_knot.hours, curve.hours, curve.dice)
    falling, level = curve.segments
    assert falling.slope == pytest.approx(-1 / 90, rel=0.1)
    assert level.slope == pytest.approx(0, abs=1e-4)
    assert falling.intercept == pytest.approx(1, abs=0.02)


def test_the_knot_is_that_of_words_and_not_of_hours_that_were_livelier(
    series_from: MakeSeries,
) -> None:
    changes = np.cumsum([1 if hour % 24 < 4 else 0 for hour in range(800)])
    states = [{*range(20), *range(100 + n - 20, 100 + n)} for n in changes.tolist()]
    curve = curve_of(series_from(states))
    starts = (curve.starts / HOUR).astype(int)
    gone = [np.searchsorted(changes, changes[start] + 20) - start for start in starts]
    assert curve.knot is not None
    assert curve.knot.hours == pytest.approx(np.mean(gone), rel=0.05)


def test_a_block_that_rotates_does_not_hide_the_knot(series_from: MakeSeries) -> None:
    turns = np.random.default_rng(3).integers(0, 4, HOURS).tolist()
    states = [
        news(hour) | {1000 + 2 * turns[hour], 1001 + 2 * turns[hour]} for hour in range(HOURS)
    ]
    plain = curve_of(series_from([news(hour) for hour in range(HOURS)]))
    rotating = curve_of(series_from(states))
    assert plain.knot is not None
    assert rotating.knot is not None
    assert rotating.knot.hours == pytest.approx(plain.knot.hours, rel=0.05)


def test_a_list_too_slow_to_be_gone_is_sloped(series_from: MakeSeries) -> None:
    states = [{*range(20), *range(1000 + h // 20, 1040 + h // 20)} for h in range(HOURS)]
    curve = curve_of(series_from(states))
    assert curve.shape == "sloped"
    assert curve.knot is None
    (line,) = curve.segments
    assert line.slope < 0


@pytest.mark.parametrize("states", [[{1, 2, 3}] * 50, [set[int]()] * 50])
def test_a_page_that_never_changes_is_flat(series_from: MakeSeries, states: list[set[int]]) -> None:
    curve = curve_of(series_from(states))
    assert curve.shape == "flat"
    assert curve.knot is None
    assert (curve.dice == 1).all()


def test_a_page_that_only_rotates_is_flat(series_from: MakeSeries) -> None:
    turns = np.random.default_rng(4).integers(0, 4, 840)
    curve = curve_of(series_from([{*range(50), 100 + turn} for turn in turns.tolist()]))
    assert curve.shape == "flat"
    assert curve.knot is None


@pytest.mark.parametrize("looks", [0, 1, 7])
def test_too_few_looks_make_no_curve_and_it_says_so(series_from: MakeSeries, looks: int) -> None:
    curve = curve_of(series_from([{n} for n in range(looks)]))
    assert len(curve) == 0
    assert (curve.shape, curve.knot, curve.segments) == (None, None, ())
    assert curve.why


def test_looks_at_one_moment_make_no_curve(series_from: MakeSeries) -> None:
    curve = curve_of(series_from([{n} for n in range(20)], [5.0] * 20))
    assert curve.shape is None
    assert curve.why == "looks at 1 time; a curve needs 8"


def test_a_start_does_not_count_where_nobody_knows_the_page(series_from: MakeSeries) -> None:
    hours = [float(h) for h in [*range(40), *range(60, 200)]]
    curve = curve_of(series_from([news(int(hour)) for hour in hours], hours))
    starts = curve.starts / HOUR
    unknown = [int(hour) for hour in range(44, 60)]
    for hour, count in zip(curve.hours.tolist(), curve.counts.tolist(), strict=True):
        known_starts = [s for s in starts if s + hour < 200 and int(s + hour) not in unknown]
        assert count == len(known_starts)


def test_a_gap_of_a_year_leaves_what_is_known_on_both_sides(series_from: MakeSeries) -> None:
    hours = [float(h) for h in [*range(100), *range(9000, 9100)]]
    curve = curve_of(series_from([news(int(hour)) for hour in hours], hours))
    assert not ((curve.hours > 110) & (curve.hours < 8700)).any()
    assert curve.hours[-1] > 8700
    assert curve.dice[-1] == pytest.approx(2 / 3)


def test_daily_looks_make_a_curve_of_days(series_from: MakeSeries) -> None:
    hours = [24.0 * day for day in range(60)]
    curve = curve_of(series_from([news(int(hour)) for hour in hours], hours))
    assert curve.step == DAY
    assert curve.hours[1] == 24
    assert len(curve.starts) == 5
    assert (curve.starts < 7 * DAY).all()


def test_a_page_of_ten_thousand_versions_has_a_curve(series_from: MakeSeries) -> None:
    states = [{*range(20), *range(100 + n, 140 + n)} for n in range(10_000)]
    curve = curve_of(series_from(states))
    assert curve.knot is not None
    assert curve.knot.hours == pytest.approx(40, rel=0.05)


def test_two_looks_a_year_apart_make_no_curve(series_from: MakeSeries) -> None:
    apart = build_series([0.0, 400 * DAY], [0, 1], series_from([{1, 2}, {1, 3}]).terms)
    curve = curve_of(apart)
    assert (len(curve), curve.shape, curve.knot) == (0, None, None)
    assert curve.why == "looks at 2 times; a curve needs 8"


def test_no_knot_is_placed_where_nobody_looked(series_from: MakeSeries) -> None:
    words = [{1, 2, 3, 4, *range(100 + n, 110 + n)} for n in range(6)]
    early = [24 * HOUR * day for day in range(6)]
    late = [364 * DAY + HOUR * 24 * day for day in range(6)]
    states = [*words, *({1, 2, 3, 4, *range(500, 510)} for _ in range(6))]
    hourly = series_from(states)
    curve = curve_of(build_series([*early, *late], hourly.version_indices.tolist(), hourly.terms))
    assert len(curve) > 0
    assert curve.knot is None
