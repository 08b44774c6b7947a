"""Posterior change rates of pages from their whole history.

The rates are estimated as for forecasts, with a prior fitted to the pages themselves. Old visits do
not decay, because the rate describes the whole history and not the next visit.
"""

from collections.abc import Sequence

import numpy as np

from freshet.core.tables import PageIdArray, PageTable, VisitTable, hash_names
from freshet.core.types import FloatArray, Page
from freshet.measure.statistics.page_summary import UNKNOWN_MARK, MarkArray
from freshet.schedule.cadence import CELL_COUNT, CONTINUOUS_CADENCE
from freshet.schedule.columns import ColumnSpec
from freshet.schedule.forecast_model import FIRST_PRIOR_STEPS
from freshet.schedule.objectives import OUTLIER_CHANCE
from freshet.schedule.page_states import PageStates
from freshet.schedule.posterior import RatePosterior
from freshet.schedule.prior import HierarchicalPrior

NO_DECAY = 1.0


def fit_rates(
    pages: Sequence[Page], look_pages: PageIdArray, look_times: FloatArray, look_marks: MarkArray
) -> FloatArray:
    """Return the mean of each page's posterior, in changes a day, fitted to all looks together.

    The looks have the ids of their pages, their times and whether they found a change (1 yes, 0 no,
    -1 unknown); those of a page are in time order.
    """
    ids = np.array([page.id for page in pages], np.int64)
    table = PageTable(
        ids,
        hash_names([page.host for page in pages]),
        hash_names([page.site for page in pages]),
        hash_names([page.directory for page in pages]),
        np.ones(len(ids)),
        np.full(len(ids), np.nan),
    )
    visits = VisitTable(
        look_pages,
        look_times,
        np.ones(len(look_marks), np.bool_),
        look_marks != UNKNOWN_MARK,
        look_marks == 1,
        np.full(len(look_marks), -1, np.int32),
    )
    states = PageStates(None, {"likelihood": ColumnSpec(np.float32, width=CELL_COUNT)})
    posterior = RatePosterior(CONTINUOUS_CADENCE.rates, OUTLIER_CHANCE, NO_DECAY)
    states.add(table)
    looks = states.add_visits(visits)
    posterior.add_looks(states.column("likelihood"), looks, np.zeros(len(looks)))
    prior = HierarchicalPrior(CONTINUOUS_CADENCE.rates)
    prior.fit(states, posterior, 0.0, steps=FIRST_PRIOR_STEPS, seed=0)
    rows = states.find_rows(ids)
    likelihood, seconds_unchanged = states.column("likelihood"), np.zeros(len(rows))
    return posterior.mean_rates(likelihood, rows, seconds_unchanged, prior.rows_for(states, rows))
