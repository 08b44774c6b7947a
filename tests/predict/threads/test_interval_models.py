from collections.abc import Callable

import numpy as np
import pytest

from freshet.predict.threads.interval_models import (
    ConstantInterval,
    IntervalModel,
    RunningMean,
    WindowMean,
)
from freshet.predict.threads.sigmoid_regression import SigmoidRegression
from freshet.predict.threads.thread_posts import ThreadPosts
from freshet.predict.threads.visit_rules import GapRule, gap_minutes
from freshet.predict.threads.window_features import ContentFeatures
from freshet.predict.threads.window_regression import WindowRegression, WindowSettings
from tests.predict.threads.generated_threads import generate_thread

MODELS: tuple[Callable[[], IntervalModel], ...] = (
    ConstantInterval,
    RunningMean,
    WindowMean,
    SigmoidRegression,
    lambda: SigmoidRegression(literal=True),
    WindowRegression,
    lambda: WindowRegression(WindowSettings(content=ContentFeatures.TF_IDF, logarithm=True)),
    lambda: WindowRegression(WindowSettings(content=ContentFeatures.PARTS_OF_SPEECH)),
    lambda: WindowRegression(WindowSettings(discount=0.8)),
)


@pytest.mark.parametrize("make", MODELS)
def test_predictions_use_the_posts_up_to_each_post_only(make: Callable[[], IntervalModel]) -> None:
    thread = generate_thread(1)
    cut = len(thread) - 5
    moved = np.concatenate((thread.times[:cut], thread.times[cut:] + 5000.0))
    texts = thread.texts[:cut] + tuple("question " * 9 for _ in thread.texts[cut:])
    model = make().fit([thread.first(thread.training_posts)])
    predictions = model.predictions(thread)
    changed = model.predictions(ThreadPosts(moved, texts))
    assert predictions[:cut] == pytest.approx(changed[:cut])
    assert (predictions >= 1.0).all()
    assert model.forecast(thread, thread.times[-1]).median > 0.0


def test_means_are_of_all_posts_and_of_the_window() -> None:
    thread = ThreadPosts(np.array([0.0, 10.0, 40.0, 100.0]))
    assert RunningMean().predictions(thread)[1:].tolist() == pytest.approx([10.0, 20.0, 100 / 3])
    assert WindowMean(2).predictions(thread)[1:].tolist() == pytest.approx([10.0, 20.0, 45.0])
    online = RunningMean()
    for interval in thread.intervals:
        online.partial_fit(float(interval))
    assert online.minutes == pytest.approx(100 / 3)


def test_an_online_step_equals_that_of_the_predictions() -> None:
    thread = generate_thread(4)
    model = SigmoidRegression().fit([thread.first(thread.training_posts)])
    expected = model.predictions(thread)
    for known in range(thread.training_posts + 1, len(thread) + 1):
        model.partial_fit(thread.first(known))
    online = model.predictions(thread.first(len(thread)).first(1))
    assert np.isfinite(online).all()
    assert model.forecast(thread, thread.times[-1]).median == pytest.approx(
        expected[-1] * np.log(2.0), rel=0.02
    )


def test_the_scaled_sigmoid_recovers_from_a_long_interval_and_the_literal_one_does_not() -> None:
    intervals = np.tile([20.0, 50.0, 90.0, 40.0], 100)
    intervals[50] = 1e6
    thread = ThreadPosts(np.cumsum(intervals))
    scaled, literal = (
        SigmoidRegression(literal=is_literal).fit([thread]) for is_literal in (False, True)
    )
    assert 20.0 < scaled.predictions(thread)[-1] < 90.0
    saturated = literal.predictions(thread)[-50:]
    assert ((saturated < 2.0) | (saturated > 0.99 * literal.high_)).all()


def test_rules_of_the_report_step_on_or_back_off() -> None:
    steps = [
        gap_minutes(GapRule.LAST_POST_STEPS, elapsed=elapsed, prediction=60.0)
        for elapsed in (0.0, 10.0, 60.0, 6000.0)
    ]
    assert steps == [60.0, 50.0, 60.0, 60.0]
    later = gap_minutes(GapRule.REMAINING_TIME, elapsed=600.0, prediction=60.0)
    assert later == 600.0
    assert gap_minutes(GapRule.FOURTH_ROOT, elapsed=99.0, prediction=100.0) == pytest.approx(10.0)


def test_a_thread_with_one_post_has_no_regression() -> None:
    with pytest.raises(ValueError, match="posts"):
        WindowRegression().fit([ThreadPosts(np.array([5.0]))])
