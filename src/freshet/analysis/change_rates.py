"""Posterior change rates of pages from their whole history.

The rates are estimated as for forecasts, with a prior fitted to the pages themselves. Old visits do
not decay, because the rate describes the whole history and not the next visit.
"""

import numpy as np

from freshet.core.tables import PageTable, VisitTable
from freshet.core.types import FloatArray
from freshet.schedule.cadence import CONTINUOUS_CADENCE, RATE_COUNT
from freshet.schedule.columns import ColumnSpec
from freshet.schedule.forecast_model import FIRST_PRIOR_STEPS
from freshet.schedule.objectives import OBJECTIVES
from freshet.schedule.page_states import PageStates
from freshet.schedule.posterior import RatePosterior
from freshet.schedule.prior import HierarchicalPrior

NO_DECAY = 1.0


def mean_posterior_rates(pages: PageTable, visits: VisitTable) -> FloatArray:
    """Return the mean of each page's posterior, in changes a day.

    The visits of a page are in time order.
    """
    states = PageStates(None, {"likelihood": ColumnSpec(np.float32, width=RATE_COUNT)})
    posterior = RatePosterior(
        CONTINUOUS_CADENCE.rates, OBJECTIVES["freshness"].outlier_chance, NO_DECAY
    )
    states.add(pages)
    posterior.add_looks(states.column("likelihood"), states.add_visits(visits))
    prior = HierarchicalPrior(CONTINUOUS_CADENCE.rates)
    prior.fit(states, posterior, 0.0, steps=FIRST_PRIOR_STEPS, seed=0)
    rows = states.find_rows(pages.ids)
    seconds_unchanged = np.zeros(len(rows))
    likelihood = states.column("likelihood")
    return posterior.mean_rates(likelihood, rows, seconds_unchanged, prior.rows_for(states, rows))
