"""Patterns of looks: equal to the series of events, and texts that come back."""

import numpy as np
import pytest

from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.types import FloatArray
from freshet.features.event_series import context_forecast, gap_hazard, repeat_share
from freshet.features.look_patterns import PATTERN_NAMES, LookPatterns


def looks_of(outcomes: FloatArray, hashes: list[int] | None = None) -> MeasuredLooks:
    """Return looks at pages in turn: their outcomes by page and look, NaN being not measured."""
    pages, steps = outcomes.shape
    values = outcomes.T.ravel()
    unknown = np.full(len(values), np.nan)
    return MeasuredLooks(
        np.tile(np.arange(pages, dtype=np.int32), steps),
        np.repeat(np.arange(steps) * 86_400.0, pages),
        ~np.isnan(values),
        values == 1,
        np.array(hashes or np.arange(1, len(values) + 1), np.uint64),
        unknown,
        unknown,
        unknown,
        unknown,
    )


def column(features: FloatArray, name: str) -> FloatArray:
    return features[:, PATTERN_NAMES.index(name)].astype(float)


def test_patterns_are_those_of_the_series_of_events() -> None:
    rng = np.random.default_rng(4)
    events = (rng.random((3, 80)) < [[0.2], [0.5], [0.7]]).astype(float)
    features = LookPatterns(3).add_looks(looks_of(events))
    series = {
        "context_chance": context_forecast(events),
        "gap_hazard": gap_hazard(events),
        "repeat_1": repeat_share(events, 1, 20),
        "repeat_7": repeat_share(events, 7, 20),
    }
    for name, expected in series.items():
        before_looks = column(features, name).reshape(80, 3).T[:, 1:]
        np.testing.assert_allclose(before_looks, expected[:, :-1], rtol=1e-4, err_msg=name)


def test_a_text_that_comes_back_is_known() -> None:
    outcomes = np.array([[np.nan, 0, 1, 1, 0, 1]])
    patterns = LookPatterns(1)
    features = patterns.add_looks(looks_of(outcomes, [7, 7, 8, 7, 7, 9]))
    assert column(features, "text_visits")[1:].tolist() == [1, 1, 1, 2, 2]
    assert column(features, "text_stay")[1:].tolist() == [1, 2, 1, 1, 2]
    assert column(features, "text_last_stay")[4:].tolist() == [2, 2]
    assert column(features, "text_change_share")[[4, 5]].tolist() == pytest.approx([0.5, 0.375])
    assert np.isnan(column(features, "text_change_share")[1])
    assert column(patterns.at(np.zeros(1, np.int32)), "text_visits").tolist() == [1]


def test_features_before_a_look_do_not_depend_on_it_or_on_later_ones() -> None:
    rng = np.random.default_rng(6)
    events = (rng.random((2, 50)) < 0.4).astype(float)
    looks = looks_of(events, rng.integers(1, 6, 100).tolist())
    full = LookPatterns(2).add_looks(looks)
    patterns = LookPatterns(2)
    patterns.add_looks(looks.select(np.arange(60, dtype=np.int32)))
    np.testing.assert_array_equal(patterns.at(np.array([0, 1], np.int32)), full[60:62])


def test_a_page_with_many_texts_forgets_the_oldest_and_unknown_texts_have_no_features() -> None:
    outcomes = np.ones((1, 60))
    features = LookPatterns(1).add_looks(looks_of(outcomes, [*range(1, 59), 0, 1]))
    assert column(features, "text_visits")[1:59].tolist() == [1.0] * 58
    assert np.isnan(column(features, "text_visits")[59])
