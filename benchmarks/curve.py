"""Change curves of long histories, against plain Python sets (limit: 50 ms for 1,000 versions).

Both compare every version with those of five starts, from words that are counted already, as
columns or as sets; ours also finds the knot and the shape.
"""

import numpy as np
from experiments.curve_shapes.histories import HOUR, LookSchedule, PageParameters, generate_history

from benchmarks.report import BenchmarkResult, compare_rates, report
from freshet.core.version_series import VersionSeries
from freshet.measure.dynamics.curve.change_curve import change_curve

PARAMETERS = PageParameters(standing=600, turnover=60, words=16, per_day=96.0)


def long_history(versions: int) -> VersionSeries:
    """Return a page that shows another version at each of so many hourly looks, 900 words each."""
    return generate_history(
        PARAMETERS, np.random.default_rng(1), LookSchedule(days=versions * HOUR / 86_400)
    ).series


def as_sets(series: VersionSeries) -> list[set[int]]:
    """Return the words of every look."""
    sets = [set(terms.hashes.tolist()) for terms in series.terms]
    return [sets[version] for version in series.version_indices.tolist()]


def by_sets(states: list[set[int]], starts: list[int]) -> list[float]:
    """Return the curve by plain sets: the means of intersections."""
    return [mean_dice(states, starts, lag) for lag in range(len(states) - starts[0])]


def mean_dice(states: list[set[int]], starts: list[int], lag: int) -> float:
    """Return the mean Dice of states to those of the starts, so many steps later."""
    pairs = [(states[start], states[start + lag]) for start in starts if start + lag < len(states)]
    dice = [2 * len(a & b) / (len(a) + len(b)) for a, b in pairs]
    return sum(dice) / len(dice)


def measure(versions: int) -> BenchmarkResult:
    """Return versions a second by both."""
    series = long_history(versions)
    states = as_sets(series)
    starts = check(series, states)
    return compare_rates(
        f"curve of {versions}",
        lambda: change_curve(series, rng=np.random.default_rng(2)),
        lambda: by_sets(states, starts),
        amount=versions,
        unit="versions/s",
    )


def check(series: VersionSeries, states: list[set[int]]) -> list[int]:
    """Return the grid points of the starts; stop unless both curves are the same."""
    curve = change_curve(series, rng=np.random.default_rng(2))
    starts = np.round((curve.starts - series.times[0]) / curve.step).astype(int).tolist()
    if not np.allclose(curve.dice, by_sets(states, starts)):
        raise SystemExit("curve: the curve is not that of plain sets")
    return starts


def main() -> None:
    """Print the ratio for a long and for a very long history."""
    report(measure(1_000), measure(10_000))


if __name__ == "__main__":
    main()
