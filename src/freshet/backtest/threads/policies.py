"""What is replayed: a rule of visits with the model that it needs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from freshet.backtest.threads.kernels.replay import RATE_RULE
from freshet.core.types import FloatArray
from freshet.predict.threads.kernels.post_rate import RateTables
from freshet.predict.threads.rate_model import FORESIGHT, RateModel, rate_terms
from freshet.predict.threads.regular_gaps import no_regular_gaps
from freshet.predict.threads.rhythm import FLAT_RHYTHM
from freshet.predict.threads.thread_posts import ThreadPosts
from freshet.predict.threads.visit_rules import GapRule

Predictor = Callable[[ThreadPosts], FloatArray]
NO_TERMS = rate_terms(np.zeros(0), np.zeros(0))


@dataclass(frozen=True, slots=True)
class ThreadPolicy:
    """A policy with a name; its gaps are proportional to its scale.

    ``predictor`` returns the predicted interval after each post of a thread, of which the one
    after a post may use the posts up to it only, and trains on the first three quarters.
    ``rate_of`` returns the rate model of a thread: one that was trained on other threads.
    """

    name: str
    rule: GapRule | None = None
    predictor: Predictor | None = None
    rate_of: Callable[[ThreadPosts], RateModel] | None = None
    foresight: float = FORESIGHT

    @property
    def rule_code(self) -> int:
        """Number of the rule in the compiled replay."""
        return RATE_RULE if self.rule is None else int(self.rule)

    def prepare(self, thread: ThreadPosts) -> "PreparedThread":
        """Return what the replay of a thread reads."""
        if self.rate_of is not None:
            model = self.rate_of(thread)
            tables = model.tables(thread, thread.training_posts)
            return PreparedThread(tables, np.zeros(0), model)
        counts = np.zeros((len(thread), 0))
        tables = RateTables(thread.times, counts, FLAT_RHYTHM, no_regular_gaps(len(thread)))
        predictions = np.ones(len(thread)) if self.predictor is None else self.predictor(thread)
        return PreparedThread(tables, predictions, None)


@dataclass(frozen=True, slots=True)
class PreparedThread:
    """The tables of a thread, the predicted interval after each post, or the rate model."""

    tables: RateTables
    predictions: FloatArray
    model: RateModel | None
