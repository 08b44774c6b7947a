"""Compares a model of posts with its baselines at later looks."""

import math

import numpy as np

from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.types import FloatArray
from freshet.learning.post_model.examples import MINUTE_SECONDS, PostExamples
from freshet.learning.resampling import mean_interval
from freshet.predict.change_model import DEFAULT_FORECAST, LEARNED, ModelValidation
from freshet.predict.forecast_scores import forecast_scores, log_losses
from freshet.predict.threads.rate_model import RateModel, kernel_rate, pooled_hazard
from freshet.predict.threads.thread_posts import ThreadPosts

KERNEL_RATE, MEAN_RATE = "decayed posts", "mean rate of the thread"
PROGRESS_LOOKS = 100


def validate_posts(
    later: PostExamples,
    hazard: RateModel,
    seed: int,
    progress: ProgressCallback = ignore_progress,
) -> ModelValidation:
    """Return how well a hazard does at later looks, against the shipped one and two rules.

    All are asked before each look how likely a post came since the look before it. The rules are
    decayed counts of posts without training, and the posts of the thread divided by its age.
    """
    chances = post_chances(later, hazard, progress)
    scores = {name: forecast_scores(values, later.has_post) for name, values in chances.items()}
    gains: FloatArray = log_losses(chances[DEFAULT_FORECAST], later.has_post)
    gains -= log_losses(chances[LEARNED], later.has_post)
    low, high = mean_interval(gains, later.groups(), seed)
    return ModelValidation(later.summary(), scores, float(gains.mean()), low, high)


def post_chances(
    examples: PostExamples, hazard: RateModel, progress: ProgressCallback = ignore_progress
) -> dict[str, FloatArray]:
    """Return the chances that looks find a new post, by a hazard and by its baselines."""
    models = {LEARNED: hazard, DEFAULT_FORECAST: pooled_hazard(), KERNEL_RATE: kernel_rate()}
    chances = {name: np.zeros(len(examples)) for name in (*models, MEAN_RATE)}
    for index, row in enumerate(examples.rows.tolist()):
        known = examples.threads[row].known_posts(float(examples.previous[index]))
        if known is not None:
            now = float(examples.previous[index]) / MINUTE_SECONDS
            gap = float(examples.times[index]) / MINUTE_SECONDS - now
            for name, model in models.items():
                chances[name][index] = model.forecast(known, now).chance_within(gap)
            chances[MEAN_RATE][index] = -math.expm1(-_mean_rate(known, now) * gap)
        if index % PROGRESS_LOOKS == 0:
            progress(index, len(examples))
    return chances


def _mean_rate(posts: ThreadPosts, now: float) -> float:
    """Return the posts per minute since the first one."""
    return len(posts) / max(now - float(posts.times[0]), 1.0)
