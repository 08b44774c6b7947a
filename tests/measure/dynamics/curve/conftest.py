"""Series made by hand, so that curves are tested without parsing."""

from collections.abc import Callable

import numpy as np
import pytest

from freshet.core.types import TermCounts
from freshet.core.version_series import VersionSeries, build_series
from freshet.measure.dynamics.curve.change_curve import change_curve

HOUR = 3600.0
MakeSeries = Callable[..., VersionSeries]


def _terms(words: set[int]) -> TermCounts:
    ids = np.array(sorted(words), np.uint64)
    return TermCounts(ids, np.ones(len(ids), np.uint32))


def _series(states: list[set[int]], hours: list[float] | None = None) -> VersionSeries:
    """Return a page that showed these words, one state an hour unless hours are given."""
    kinds = {kind: number for number, kind in enumerate(dict.fromkeys(map(frozenset, states)))}
    shown = [kinds[frozenset(state)] for state in states]
    times = [HOUR * hour for hour in hours or range(len(states))]
    return build_series(times, shown, [_terms(set(kind)) for kind in kinds])


@pytest.fixture(scope="session")
def series_from() -> MakeSeries:
    """Return what makes a series of sets of words."""
    return _series


@pytest.fixture(scope="session", autouse=True)
def _curves_compiled() -> None:
    """Compile the kernels before hypothesis watches the clock."""
    change_curve(_series([{1, n} for n in range(12)]), rng=np.random.default_rng(1))
