"""How fast pages change by all that was seen of them: posterior rates of any pages, live or not.

They are learnt as forecasts are, with a prior from the pages themselves; but nothing fades, for
what is asked is how a page changed over its whole history, not what it will do next.
"""

import numpy as np

from freshet.core.tables import PageTable, VisitTable
from freshet.core.types import Floats
from freshet.schedule.cadence import CONTINUOUS, RATES
from freshet.schedule.columns import Column
from freshet.schedule.forecast_model import FIRST_STEPS
from freshet.schedule.objectives import OBJECTIVES
from freshet.schedule.posterior import Learning
from freshet.schedule.prior import HierarchicalPrior
from freshet.schedule.states import PageStates

LASTING = 1.0


def mean_rates(pages: PageTable, visits: VisitTable) -> Floats:
    """Return the mean of each page's posterior, in changes a day; those of a page in time order."""
    states = PageStates(None, {"likelihood": Column(np.float32, width=RATES)})
    learning = Learning(CONTINUOUS.rates, OBJECTIVES["freshness"].outliers, LASTING)
    states.add(pages)
    learning.observe(states.column("likelihood"), states.learn(visits))
    prior = HierarchicalPrior(CONTINUOUS.rates)
    prior.learn(states, learning, 0.0, steps=FIRST_STEPS, seed=0)
    rows = states.rows(pages.ids)
    still = np.zeros(len(rows))
    likelihood = states.column("likelihood")
    return learning.mean_rates(likelihood, rows, still, prior.of(states, rows))
