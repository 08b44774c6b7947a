"""The compared policies; models that learn from other threads never see the replayed one."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from experiments.threads.recorded_threads import RecordedThread
from freshet.backtest.threads.policies import ThreadPolicy
from freshet.core.types import FloatArray
from freshet.predict.threads.hazard_training import train_self_exciting
from freshet.predict.threads.interval_models import (
    ConstantInterval,
    IntervalModel,
    RunningMean,
    WindowMean,
)
from freshet.predict.threads.rate_model import RateModel, kernel_rate, pooled_hazard
from freshet.predict.threads.sigmoid_regression import SigmoidRegression
from freshet.predict.threads.thread_posts import ThreadPosts
from freshet.predict.threads.visit_rules import GapRule
from freshet.predict.threads.window_features import ContentFeatures
from freshet.predict.threads.window_regression import WindowRegression, WindowSettings

FOLDS = 3
DEFAULT = "default"
FIXED = "fixed"
KERNEL = "kernel"


def closed_form_policies() -> Iterator[ThreadPolicy]:
    """Yield the policies that need no training on other threads and no texts."""
    yield ThreadPolicy(FIXED, GapRule.FIXED)
    yield ThreadPolicy("root of wait", GapRule.ROOT_OF_WAIT)
    yield _interval_policy("training mean", ConstantInterval)
    yield _interval_policy("running mean", RunningMean)
    yield _interval_policy("window 20", partial(WindowMean, 20))
    yield _interval_policy(
        "training mean, report's rule", ConstantInterval, GapRule.LAST_POST_STEPS
    )
    yield _interval_policy(
        "window 20, report's rule", partial(WindowMean, 20), GapRule.LAST_POST_STEPS
    )
    yield _interval_policy(
        "window 20, remaining time", partial(WindowMean, 20), GapRule.REMAINING_TIME
    )
    yield ThreadPolicy(KERNEL, rate_of=lambda _: kernel_rate())
    yield ThreadPolicy("kernel, S only", rate_of=lambda _: kernel_rate(), foresight=0.0)


def learned_policies(
    threads: Sequence[RecordedThread], hazards: Callable[[ThreadPosts], RateModel]
) -> Iterator[ThreadPolicy]:
    """Yield the policies that learn: the hazard and the self-exciting process by folds."""
    yield ThreadPolicy(DEFAULT, rate_of=hazards)
    yield ThreadPolicy("default, S only", rate_of=hazards, foresight=0.0)
    yield ThreadPolicy("default, as shipped", rate_of=lambda _: pooled_hazard())
    yield ThreadPolicy("self-exciting", rate_of=models_by_fold(threads, train_self_exciting))
    yield _interval_policy("online sigmoid", SigmoidRegression)
    yield _interval_policy("online sigmoid, literal", partial(SigmoidRegression, literal=True))
    for name, settings in (
        ("SVR, 10 words", WindowSettings()),
        ("SVR of logs, 10 words", WindowSettings(logarithm=True)),
        ("SVR, discounted words", WindowSettings(discount=0.8)),
    ):
        yield _interval_policy(name, partial(WindowRegression, settings))
    yield regression_policy("SVR, 10 words, report's rule", WindowSettings())


def regression_policy(name: str, settings: WindowSettings) -> ThreadPolicy:
    """Return the report's policy: regression on a window, last post + prediction."""
    return _interval_policy(name, partial(WindowRegression, settings), GapRule.LAST_POST_STEPS)


def sweep_settings() -> Iterator[tuple[str, WindowSettings]]:
    """Yield the rows of Table 3.2, the windows, and the other contents."""
    for tokens in range(5, 55, 5):
        yield f"w = 5, words, K = {tokens}", WindowSettings(5, tokens)
    for posts in (2, 10, 20):
        yield f"w = {posts}, words, K = 10", WindowSettings(posts, 10)
    for content in (ContentFeatures.NONE, ContentFeatures.TF_IDF, ContentFeatures.PARTS_OF_SPEECH):
        yield f"w = 5, {content}, K = 10", WindowSettings(5, 10, content)
    yield "discounted words, 0.8, K = 10", WindowSettings(5, 10, discount=0.8)
    yield from _raw_minutes()


def short_sweep_settings() -> Iterator[tuple[str, WindowSettings]]:
    """Yield a few rows of the table for issues and mail, which take longer."""
    for tokens in (5, 50):
        yield f"w = 5, words, K = {tokens}", WindowSettings(5, tokens)
    yield "w = 5, none, K = 10", WindowSettings(5, 10, ContentFeatures.NONE)
    yield from _raw_minutes()


def _raw_minutes() -> Iterator[tuple[str, WindowSettings]]:
    for tokens in (5, 50):
        settings = WindowSettings(5, tokens, scaled_minutes=False)
        yield f"w = 5, words, K = {tokens}, raw minutes", settings


def _interval_policy(
    name: str, make: Callable[[], IntervalModel], rule: GapRule = GapRule.FOURTH_ROOT
) -> ThreadPolicy:
    def predict(thread: ThreadPosts) -> FloatArray:
        return make().fit([thread.first(thread.training_posts)]).predictions(thread)

    return ThreadPolicy(name, rule, predict)


def models_by_fold(
    threads: Sequence[RecordedThread], train: Callable[[list[ThreadPosts]], RateModel]
) -> Callable[[ThreadPosts], RateModel]:
    """Return a function of a thread: the model trained on the threads of the other folds."""
    folds = np.random.default_rng(5).permutation(len(threads)) % FOLDS
    fold_of = {
        thread.posts.times.tobytes(): fold
        for thread, fold in zip(threads, folds.tolist(), strict=True)
    }
    models: dict[int, RateModel] = {}

    def model_of(thread: ThreadPosts) -> RateModel:
        fold = fold_of[thread.times.tobytes()]
        if fold not in models:
            others = [other.posts for other, own in zip(threads, folds, strict=True) if own != fold]
            models[fold] = train(others)
        return models[fold]

    return model_of
