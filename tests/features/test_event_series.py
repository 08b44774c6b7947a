"""Series of events: values by hand, and that no column depends on later ones."""

from collections.abc import Callable

import numpy as np
import pytest

from freshet.core.types import FloatArray
from freshet.features import event_series as series

X = np.nan
SeriesFunction = Callable[[FloatArray], FloatArray]
FUNCTIONS: dict[str, SeriesFunction] = {
    "shifted": lambda events: series.shifted(events, 2),
    "window mean": lambda events: series.window_mean(events, 4),
    "faded mean": lambda events: series.faded_mean(events, 3.0),
    "last known": series.last_known,
    "steps since": lambda events: series.steps_since(events, 2),
    "mean gap": lambda events: series.gap_moments(events)[0],
    "spread of gaps": lambda events: series.gap_moments(events)[1],
    "hazard": series.gap_hazard,
    "phase mean": lambda events: series.phase_mean(events, 7),
    "repeat share": lambda events: series.repeat_share(events, 1, 5.0),
    "context forecast": lambda events: series.context_forecast(events, 3),
}


def row(*values: float) -> FloatArray:
    return np.array([values])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_column_depends_on_later_ones(name: str) -> None:
    rng = np.random.default_rng(1)
    events = (rng.random((5, 30)) < 0.4).astype(float)
    events[rng.random(events.shape) < 0.2] = np.nan
    full = FUNCTIONS[name](events)
    for step in (0, 1, 6, 20):
        np.testing.assert_array_equal(FUNCTIONS[name](events[:, : step + 1]), full[:, : step + 1])


def test_a_window_counts_known_values_only() -> None:
    assert series.window_mean(row(X, 1, 0, X, 1), 2).tolist()[0][1:] == [1.0, 0.5, 0.0, 1.0]
    assert np.isnan(series.window_mean(row(X, 1), 2)[0, 0])


def test_gaps_are_the_steps_between_events() -> None:
    means, spreads = series.gap_moments(row(1, 0, 1, 0, 0, 0, 1))
    assert np.isnan(means[0, 1])
    assert (means[0, 2], means[0, 6], spreads[0, 6]) == (2.0, 3.0, 1.0)


def test_a_regular_page_is_about_to_change_at_its_usual_gap() -> None:
    events = np.zeros((1, 40))
    events[0, ::4] = 1
    hazards = series.gap_hazard(events)[0]
    assert hazards[39] > 0.8
    assert hazards[38] < 0.2
    assert series.phase_mean(events, 4)[0, 39] == 1.0


def test_contexts_learn_a_page_that_alternates_and_one_that_never_changes() -> None:
    events = np.zeros((2, 60))
    events[0, ::2] = 1
    chances = series.context_forecast(events)
    assert chances[0, 59] > 0.9
    assert chances[0, 58] < 0.1
    assert chances[1, 59] < 0.02


def test_the_faded_mean_halves_weights() -> None:
    assert series.faded_mean(row(1, 0), 1.0)[0, 1] == pytest.approx(1 / 3)
