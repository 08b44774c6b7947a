"""How many posts are expected to wait on threads, and for how long, by the time since a look.

A curve is computed when a thread was looked at, on a grid of ages that grows by a constant factor.
Between the points of the grid the logarithms of age and value are interpolated. The chance that the
next post has come is not read from the expected posts: a steady feed has almost none until its
moment comes. It is stored as the days by which it is reached. A thread without any look has no
curve.
"""

import numpy as np

from freshet.core.content.posts import NEXT_POST_CHANCES
from freshet.core.tables import DAY_SECONDS
from freshet.core.types import Float32Array, FloatArray, IndexArray

CURVE_POINTS = 192
FIRST_AGE_DAYS, LAST_AGE_DAYS = 60 / DAY_SECONDS, 3_650.0
CURVE_AGES: FloatArray = np.geomspace(FIRST_AGE_DAYS, LAST_AGE_DAYS, CURVE_POINTS)
LOG_AGE_STEP = np.log(LAST_AGE_DAYS / FIRST_AGE_DAYS) / (CURVE_POINTS - 1)
# The least value that is told from 0.
MIN_VALUE = 1e-12


class WaitingCurves:
    """The curves of threads; each has a place of its own until it is released."""

    def __init__(self) -> None:
        # The logarithms of expected posts, and of the values of looks.
        self._curves: Float32Array = np.empty((0, 2, CURVE_POINTS), np.float32)
        # The days by which the next post has come with each of NEXT_POST_CHANCES.
        self._waits: Float32Array = np.empty((0, len(NEXT_POST_CHANCES)), np.float32)
        self._free_places: list[int] = []

    @property
    def nbytes(self) -> int:
        """Return the memory of all curves in bytes."""
        return self._curves.nbytes + self._waits.nbytes

    def take_places(self, count: int) -> IndexArray:
        """Return places for new curves."""
        if len(self._free_places) < count:
            size = len(self._curves)
            grown_size = max(16, 2 * size, size + count)
            self._curves = _grown(self._curves, grown_size)
            self._waits = _grown(self._waits, grown_size)
            self._free_places += reversed(range(size, grown_size))
        return np.array([self._free_places.pop() for _ in range(count)], np.int32)

    def release(self, places: IndexArray) -> None:
        """Make the places of curves available again."""
        self._free_places += places.tolist()

    def release_all(self) -> None:
        """Make all places available."""
        self._free_places = list(range(len(self._curves)))

    def put(
        self, places: IndexArray, posts: FloatArray, values: FloatArray, waits: FloatArray
    ) -> None:
        """Set curves: a row per place, a column for each of ``CURVE_AGES``.

        ``waits`` has a column for each of ``NEXT_POST_CHANCES``.
        """
        for index, curves in enumerate((posts, values)):
            self._curves[places, index] = np.log(np.maximum(curves, MIN_VALUE))
        self._waits[places] = waits

    def expected_posts(self, places: IndexArray, ages: FloatArray) -> FloatArray:
        """Return how many posts are expected since the last looks, so many days ago."""
        return self._values(0, places, ages)

    def chances(self, places: IndexArray, ages: FloatArray) -> FloatArray:
        """Return the chances that new posts have come since the last looks, so many days ago.

        They are interpolated between the stored ones, and stay at the last that is ever reached.
        """
        waits = np.pad(self._waits[places].astype(np.float64), ((0, 0), (1, 0)))
        chances: FloatArray = np.concatenate(([0.0], NEXT_POST_CHANCES))
        rows, ages = np.arange(len(places)), np.maximum(ages, 0.0)
        before = np.maximum((waits <= ages[:, None]).sum(axis=1) - 1, 0)
        after = np.minimum(before + 1, len(NEXT_POST_CHANCES))
        low, high = waits[rows, before], waits[rows, after]
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(np.isfinite(high) & (high > low), (ages - low) / (high - low), 0.0)
        low_chances, high_chances = chances[before], chances[after]
        interpolated: FloatArray = low_chances + shares * (high_chances - low_chances)
        return interpolated

    def values(self, places: IndexArray, ages: FloatArray) -> FloatArray:
        """Return what looks are worth so many days after the last ones, in days that posts wait."""
        return self._values(1, places, ages)

    def _values(self, index: int, places: IndexArray, ages: FloatArray) -> FloatArray:
        """Interpolate curves; before the first age posts grow like it, and values like its square.

        After the last age they stay.
        """
        with np.errstate(divide="ignore"):
            positions = np.log(np.maximum(ages, 0.0) / FIRST_AGE_DAYS) / LOG_AGE_STEP
        before = np.clip(np.floor(positions), 0, CURVE_POINTS - 2).astype(np.intp)
        shares = np.clip(positions - before, 0.0, 1.0)
        curves = self._curves[places, index]
        columns = np.arange(len(places))
        low, high = curves[columns, before], curves[columns, before + 1]
        values: FloatArray = np.exp(low + shares * (high - low))
        early = np.maximum(ages, 0.0) / FIRST_AGE_DAYS
        return np.where(early < 1.0, values * early ** (index + 1), values)


def _grown(rows: Float32Array, size: int) -> Float32Array:
    """Return rows with empty ones after them."""
    grown = np.zeros((size, *rows.shape[1:]), np.float32)
    grown[: len(rows)] = rows
    return grown
