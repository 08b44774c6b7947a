"""Rules of the next visit of a thread.

Minimising the delay of posts plus the price of visits gives gaps proportional to rate^(-1/2). A
model with a rate visits when the expected posts that wait, added up over the minutes since the last
visit, are worth the price (`freshet.predict.threads.rate_model.RateModel.next_visit`). The rules
here need a predicted interval, or nothing. No rule visits twice in a minute, and none leaves a
thread out: the longest gap is a year.
"""

from enum import IntEnum

from freshet.predict.threads.kernels import gap_rules
from freshet.predict.threads.kernels.gap_rules import rule_gap


class GapRule(IntEnum):
    """How the gap follows from a predicted interval and the time since the last post.

    LAST_POST_STEPS is the rule of the report of Tan (2012), section 3: last post + prediction, then
    steps of the same size; it never slows down. REMAINING_TIME revisits after the predicted time
    that remains, and slows down geometrically once the prediction is overdue. Both are kept to
    reproduce the report.
    """

    FIXED = gap_rules.FIXED_GAP
    ROOT_OF_WAIT = gap_rules.ROOT_OF_WAIT
    FOURTH_ROOT = gap_rules.FOURTH_ROOT
    LAST_POST_STEPS = gap_rules.LAST_POST_STEPS
    REMAINING_TIME = gap_rules.REMAINING_TIME


def gap_minutes(
    rule: GapRule, *, elapsed: float, prediction: float = 1.0, scale: float = 1.0
) -> float:
    """Return the minutes to the next visit, ``elapsed`` minutes after the last known post.

    >>> gap_minutes(GapRule.ROOT_OF_WAIT, elapsed=99.0, scale=2.0)
    20.0
    >>> gap_minutes(GapRule.LAST_POST_STEPS, elapsed=70.0, prediction=60.0)
    50.0
    """
    return float(rule_gap(rule, prediction, elapsed, scale))
