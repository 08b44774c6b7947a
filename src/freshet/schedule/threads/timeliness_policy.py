"""The policy of the objective ``timeliness``: posts should not wait long until they are found.

A visit of a thread is worth the time for which its posts have waited by now, all together: the
integral of the expected number of waiting posts since the last look, corrected for the rate at
which more are expected (docs/decisions/0057). Visits at the same value of it everywhere keep the
mean delay of all posts shortest for their number. The curves come from a forecast of posts, which
is made when a thread was looked at (``waiting_curves``). The chance that a thread has changed is
that of its next post.

Pages that are no threads have the value of the objective ``freshness``: the time for which the copy
would be out of date. For a page with few changes between two looks that is the time for which one
post has waited, so that threads and pages share a budget.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import PageIdArray, PolicyExplanation
from freshet.core.types import FloatArray
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.cadence import CrawlCadence
from freshet.schedule.columns import NOT_FOUND, ColumnSpec
from freshet.schedule.forecast_model import ForecastModel
from freshet.schedule.objectives import PageScores
from freshet.schedule.page_states import PageStates, RevisitDelays
from freshet.schedule.threads.waiting_curves import WaitingCurves

# Where the curve of a page is among all curves.
CURVE_COLUMN, NO_CURVE = "curve", -1


class ThreadForecastModel(ForecastModel):
    """Values looks at threads by the posts that wait there, and looks at other pages as usual."""

    curves: WaitingCurves

    def page_scores(self, rows: NDArray[Any], now: float) -> PageScores:
        """Return ages, chances of a change and values of pages now."""
        scores = super().page_scores(rows, now)
        return self._with_threads(rows, scores, self.page_states.days_since_look(rows, now))

    def scores_after_days(self, row: int, now: float, days: FloatArray) -> PageScores:
        """Return the scores of one page that many days from now, if nothing else is learned."""
        rows = np.full(len(days), row)
        ages = self.page_states.days_since_look(rows, now) + days
        return self._with_threads(rows, super().scores_after_days(row, now, days), ages)

    def growth_days(self, rows: NDArray[Any], ages: FloatArray, now: float) -> FloatArray:
        """Return the days in which the exposure of pages grows as much as since their last look.

        It is 0 for threads, whose values may grow fast: they are scored again within a minute.
        """
        days = super().growth_days(rows, ages, now)
        return np.where(self.page_states.column(CURVE_COLUMN)[rows] == NO_CURVE, days, 0.0)

    def _with_threads(self, rows: NDArray[Any], scores: PageScores, ages: FloatArray) -> PageScores:
        """Replace the scores of threads that were looked at."""
        states = self.page_states
        places = states.column(CURVE_COLUMN)[rows]
        is_thread = (places != NO_CURVE) & np.isfinite(ages)
        if not is_thread.any():
            return scores
        thread_rows, places, ages = rows[is_thread], places[is_thread], ages[is_thread]
        chances, values = scores.chances.copy(), scores.values.copy()
        chances[is_thread] = self.curves.chances(places, ages)
        weights = states.importance[thread_rows] * states.look_chances(thread_rows)
        values[is_thread] = weights * self.curves.values(places, ages)
        return PageScores(scores.ages, chances, values)


class TimelinessPolicy(BayesPolicy):
    """Visits the threads and pages where new posts and changes have waited longest."""

    def __init__(
        self,
        name: str,
        *,
        cadence: CrawlCadence,
        seed: int = 0,
        delays: RevisitDelays | None = None,
    ) -> None:
        columns = {CURVE_COLUMN: ColumnSpec(np.int32, NO_CURVE)}
        self.curves = WaitingCurves()
        super().__init__(
            name, objective="freshness", cadence=cadence, seed=seed, delays=delays, columns=columns
        )

    def learn_curves(
        self, pages: PageIdArray, posts: FloatArray, values: FloatArray, waits: FloatArray
    ) -> None:
        """Learn the curves of threads since their last looks; unknown pages are ignored.

        A row per page, a column for each of ``CURVE_AGES``: how many posts are expected, and what a
        look is worth then, in days that posts wait. ``waits`` has a column for each of
        ``NEXT_POST_CHANCES``: the days by which the next post has come with that chance.
        """
        rows = self.page_states.find_rows(pages)
        is_known = rows != NOT_FOUND
        rows, places = rows[is_known], self._places
        is_new = places[rows] == NO_CURVE
        places[rows[is_new]] = self.curves.take_places(int(is_new.sum()))
        self.curves.put(places[rows], posts[is_known], values[is_known], waits[is_known])
        self._due_pages.mark(rows)

    def forget(self, pages: PageIdArray) -> None:
        """Remove pages."""
        rows = self.page_states.find_rows(pages)
        places = self._places[rows[rows != NOT_FOUND]]
        self.curves.release(places[places != NO_CURVE])
        super().forget(pages)

    def explain(self, page: int, now: datetime) -> PolicyExplanation:
        """Return the figures behind a page's value."""
        explanation = super().explain(page, now)
        rows = self.page_states.known_rows(np.array([page], np.int64))
        places, age = self._places[rows], np.array([explanation.age_days])
        if places[0] == NO_CURVE or not np.isfinite(age[0]):
            return explanation
        return replace(explanation, waiting_posts=float(self.curves.expected_posts(places, age)[0]))

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned; the curves have to be learned again."""
        super().restore(state)
        self._places[:] = NO_CURVE
        self.curves.release_all()

    def _make_model(self, page_states: PageStates) -> ForecastModel:
        model = ThreadForecastModel(page_states, self.objective, self.cadence, self.seed)
        model.curves = self.curves
        return model

    @property
    def _places(self) -> NDArray[np.int32]:
        places: NDArray[np.int32] = self.page_states.column(CURVE_COLUMN)
        return places
