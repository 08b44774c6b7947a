"""The targets by the names that tables and settings use."""

from collections.abc import Mapping

from freshet.core.errors import UsageError
from freshet.measure.targets.content_targets import (
    AnyTextChange,
    DistributionShift,
    SignificantChange,
    WordsChanged,
)
from freshet.measure.targets.new_outlink import NewOutlink
from freshet.measure.targets.target import Target

# BecomesRelevant ("relevant") is not here: it needs queries.
TARGETS: Mapping[str, Target] = {
    target.name: target
    for target in (
        AnyTextChange(), WordsChanged(), DistributionShift(), SignificantChange(), NewOutlink()
    )
}  # fmt: skip


def target_of_name(name: str) -> Target:
    """Return the target with a name.

    >>> target_of_name("words10").min_words
    10
    """
    try:
        return TARGETS[name]
    except KeyError:
        raise UsageError(f"{name!r} is not a target; choose one of {', '.join(TARGETS)}") from None
