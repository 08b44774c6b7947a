"""How fast pages change by all that was seen of them: posterior rates of any pages, live or not.

They are learnt as forecasts are, with a prior from the pages themselves; but nothing fades, for
what is asked is how a page changed over its whole history, not what it will do next.
"""

import numpy as np

from freshet.core.tables import PageTable, VisitTable
from freshet.core.types import FloatArray
from freshet.schedule.cadence import CONTINUOUS_CADENCE, RATE_COUNT
from freshet.schedule.columns import ColumnSpec
from freshet.schedule.forecast_model import FIRST_PRIOR_STEPS
from freshet.schedule.objectives import OBJECTIVES
from freshet.schedule.posterior import RatePosterior
from freshet.schedule.prior import HierarchicalPrior
from freshet.schedule.states import PageStates

NO_DECAY = 1.0


def mean_posterior_rates(pages: PageTable, visits: VisitTable) -> FloatArray:
    """Return the mean of each page's posterior, in changes a day; those of a page in time order."""
    states = PageStates(None, {"likelihood": ColumnSpec(np.float32, width=RATE_COUNT)})
    learning = RatePosterior(
        CONTINUOUS_CADENCE.rates, OBJECTIVES["freshness"].outlier_chance, NO_DECAY
    )
    states.add(pages)
    learning.add_looks(states.column("likelihood"), states.add_visits(visits))
    prior = HierarchicalPrior(CONTINUOUS_CADENCE.rates)
    prior.fit(states, learning, 0.0, steps=FIRST_PRIOR_STEPS, seed=0)
    rows = states.find_rows(pages.ids)
    still = np.zeros(len(rows))
    likelihood = states.column("likelihood")
    return learning.mean_rates(likelihood, rows, still, prior.rows_for(states, rows))
