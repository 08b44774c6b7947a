"""How many posts are expected to wait on threads, and for how long, by the time since a look.

A curve is computed when a thread was looked at, on a grid of ages that grows by a constant factor.
Between the points of the grid the logarithms of age and value are interpolated. A thread without
any look has no curve.
"""

import numpy as np

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
        self._free_places: list[int] = []

    @property
    def nbytes(self) -> int:
        """Return the memory of all curves in bytes."""
        return self._curves.nbytes

    def take_places(self, count: int) -> IndexArray:
        """Return places for new curves."""
        if len(self._free_places) < count:
            size = len(self._curves)
            grown = np.zeros((max(16, 2 * size, size + count), 2, CURVE_POINTS), np.float32)
            grown[:size] = self._curves
            self._curves, added = grown, range(size, len(grown))
            self._free_places += reversed(added)
        return np.array([self._free_places.pop() for _ in range(count)], np.int32)

    def release(self, places: IndexArray) -> None:
        """Make the places of curves available again."""
        self._free_places += places.tolist()

    def release_all(self) -> None:
        """Make all places available."""
        self._free_places = list(range(len(self._curves)))

    def put(self, places: IndexArray, posts: FloatArray, values: FloatArray) -> None:
        """Set curves: a row per place, a column for each of ``CURVE_AGES``."""
        for index, curves in enumerate((posts, values)):
            self._curves[places, index] = np.log(np.maximum(curves, MIN_VALUE))

    def expected_posts(self, places: IndexArray, ages: FloatArray) -> FloatArray:
        """Return how many posts are expected since the last looks, so many days ago."""
        return self._values(0, places, ages)

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
