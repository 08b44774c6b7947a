"""The policy of the objective ``links``: it looks where new links are lost or wait for long.

A look now finds C (1 - exp(-u)) new links, u = r x / C, x days after the last look (link_rates).
Finding them all in the same number of visits would be enough if no link ever got lost: then one
look at the very end would do. What a look is worth now, compared with a later one, is what waiting
costs. Links get lost: C (1 - (1 + u) exp(-u)) is the price at which a page that is looked at every
x days brings the most links for its visits. And links wait: r x² / 2 is the number of days that
they have waited by now, of which each costs ``WAITING_COST`` links. Without losses this makes the
visits of pages proportional to the square roots of their rates, which keeps the mean waiting time
of all links shortest.

One visit in a hundred goes to the page that was not looked at for longest. Pages without new links
so far still have the rate of their host's prior, so that they are looked at now and then.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.clock import to_epoch
from freshet.core.policy import PolicyReport
from freshet.core.tables import (
    DAY_SECONDS,
    HOUR_SECONDS,
    ChoiceTable,
    HostCaps,
    PageIdArray,
    PolicyExplanation,
    VisitTable,
)
from freshet.core.types import FloatArray, Forecast
from freshet.schedule.cadence import CrawlCadence
from freshet.schedule.columns import NOT_FOUND
from freshet.schedule.links.link_looks import add_link_visits
from freshet.schedule.links.link_rates import LINK_RATE_COLUMNS, LinkRates
from freshet.schedule.page_states import RevisitDelays
from freshet.schedule.rules.ranking_rule import RankingRule
from freshet.schedule.top_k import tie_breaker

WAITING_COST = 0.1
MAX_DUE_DAYS = 3_650.0
ROUND_ROBIN, ROUND_ROBIN_SHARE = "round-robin", 0.01


class LinkPolicy(RankingRule):
    """Visits the pages where waiting would lose or delay the most new links."""

    def __init__(
        self,
        name: str,
        *,
        cadence: CrawlCadence,
        seed: int = 0,
        delays: RevisitDelays | None = None,
    ) -> None:
        super().__init__(name, seed=seed, delays=delays, columns=LINK_RATE_COLUMNS)
        self.rates = LinkRates(self.page_states)
        self._cadence = cadence
        self._fitted_period = np.nan
        self._look_count = self._fitted_look_count = 0
        self._owed_visits = 0.0

    def learn(self, visits: VisitTable) -> None:
        """Learn from visits."""
        link_looks = add_link_visits(self.page_states, visits)
        for batch in link_looks.split_repeated_pages():
            self.rates.learn(batch)
        self._look_count += len(link_looks)

    def learn_page_links(self, pages: PageIdArray, page_links: FloatArray) -> None:
        """Learn how many links pages have, NaN if that is not known; unknown pages are ignored."""
        rows = self.page_states.find_rows(pages)
        is_known = rows != NOT_FOUND
        self.page_states.column("page_links")[rows[is_known]] = page_links[is_known]

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return the k pages of the highest value, best first, and mark them pending.

        The last ones of every hundred are the pages that were not looked at for longest.
        """
        self._fit_if_due(to_epoch(now))
        best = super().choose(now, max(0, k) - self._overdue_visits(k), caps)
        overdue = self._choose_overdue(now, k - len(best), caps, best.pages)
        pages = np.concatenate((best.pages, overdue.pages))
        rows, ages = self._known_rows(pages), np.concatenate((best.ages, overdue.ages))
        return ChoiceTable(
            pages,
            np.concatenate((best.values, overdue.values)),
            np.full(len(pages), np.nan),
            ages,
            choosers=("",) * len(best) + (ROUND_ROBIN,) * len(overdue),
            new_links=self.rates.expected_links(rows, np.nan_to_num(ages, posinf=0.0)),
        )

    def expected_links(
        self,
        pages: PageIdArray,
        now: datetime,
        horizons: FloatArray,
    ) -> FloatArray:
        """Return the new links that looks after each horizon find, a row per page; all are known.

        Horizons are in days from now. The time since the last look counts too; pages that were
        never looked at count from now.
        """
        self._fit_if_due(to_epoch(now), growth=1.0)
        rows = self.page_states.known_rows(pages)
        ages = self.page_states.days_since_look(rows, to_epoch(now), never=0.0)
        columns = [self.rates.expected_links(rows, ages + days) for days in horizons.tolist()]
        return np.stack(columns, axis=1) if columns else np.empty((len(rows), 0))

    def links_at_looks(
        self,
        pages: PageIdArray,
        times: FloatArray,
        now: datetime,
        page_links: FloatArray | None = None,
    ) -> FloatArray:
        """Return the new links that each of some later looks finds, as expected now.

        The looks are in the order of pages, and of time at each page; all pages are known. A look
        finds what has come since the look before; ``page_links`` is the number of links of the page
        at each, NaN if that is not known, if it is another than at its last look.
        """
        self._fit_if_due(to_epoch(now), growth=1.0)
        rows = self.page_states.known_rows(pages)
        ages = self.page_states.days_since_look(rows, to_epoch(now), never=0.0)
        is_first = np.diff(pages, prepend=-1) != 0
        gaps = np.diff(times, prepend=0.0)
        gaps = np.where(is_first, times - to_epoch(now), gaps) / DAY_SECONDS
        return self.rates.expected_links(rows, gaps + np.where(is_first, ages, 0.0), page_links)

    def link_rates(self, pages: PageIdArray) -> FloatArray:
        """Return the expected number of new links per day of pages."""
        return self.rates.found_rates(self.page_states.known_rows(pages))

    def forecast(self, pages: PageIdArray, now: datetime, horizons: FloatArray) -> Forecast:
        """Return the new links of known pages after each horizon, in days from now.

        The change whose ``survival`` it gives is a new link; new links come as a Poisson process.
        """
        new_links = self.expected_links(pages, now, horizons)
        return Forecast(pages.astype(np.int32), horizons, np.exp(-new_links), new_links)

    def explain(self, page: int, now: datetime) -> PolicyExplanation:
        """Return the figures behind a page's value."""
        self._fit_if_due(to_epoch(now), growth=1.0)
        explanation = super().explain(page, now)
        rows = self._known_rows(np.array([page], np.int64))
        age = 0.0 if explanation.age_days == np.inf else explanation.age_days
        return replace(
            explanation,
            due=self._due_time(rows, to_epoch(now)),
            new_links=float(self.rates.expected_links(rows, np.array([age]))[0]),
            link_rate=float(self.rates.found_rates(rows)[0]),
            prior_link_rate=float(self.rates.prior_rates(rows)[0]),
        )

    def score(self, rows: NDArray[Any], now: float) -> FloatArray:
        """Return the links that waiting loses or delays, weighted by importance."""
        days = self.page_states.days_since_look(rows, now, never=0.0)
        rates, capacities = self.rates.rates(rows), self.rates.capacities(rows)
        filled = rates * days / capacities
        lost = capacities * (-np.expm1(-filled) - filled * np.exp(-filled))
        waited = rates * days**2 / 2
        costs: FloatArray = self.page_states.importance[rows] * (lost + WAITING_COST * waited)
        return costs

    def report(self) -> PolicyReport:
        """Return the value of the last choice, which cannot be learned again from visits."""
        return PolicyReport(self.name, {}, {"multiplier": self._multiplier})

    def resume(self, report: PolicyReport) -> None:
        """Continue with the value of a report."""
        multiplier = report.memory.get("multiplier", 0.0)
        self._multiplier = multiplier if 0.0 < multiplier < np.inf else self._multiplier

    def state(self) -> Mapping[str, Any]:
        """Return everything learned, as plain arrays and numbers."""
        plan = {
            "fitted": self._fitted_period,
            "look_count": self._look_count,
            "fitted_look_count": self._fitted_look_count,
            "owed_visits": self._owed_visits,
        }
        return {**super().state(), **self.rates.state(), **plan}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        super().restore(state)
        self.rates.restore(state)
        self._fitted_period = float(state["fitted"])
        self._look_count = int(state["look_count"])
        self._fitted_look_count = int(state["fitted_look_count"])
        self._owed_visits = float(state["owed_visits"])

    def _fit_if_due(self, seconds: float, growth: float = 2.0) -> None:
        """Fit the prior once per cycle or hour, and when looks have grown by a factor."""
        period = seconds if self._cadence.in_cycles else seconds // HOUR_SECONDS
        if period != self._fitted_period or self._look_count > growth * self._fitted_look_count:
            self.page_states.bound_times(seconds)
            self.rates.fit()
            self._fitted_period, self._fitted_look_count = period, self._look_count

    def _due_time(self, rows: NDArray[Any], now: float) -> float | None:
        """Return when the value of one page reaches that of the last choice; None if never."""
        if not self._multiplier > 0 or np.isnan(self.page_states.last_look[rows[0]]):
            return None
        low, high = now, now + MAX_DUE_DAYS * DAY_SECONDS
        if self._values(rows, high)[0] < self._multiplier:
            return None
        while high - low > 1.0:
            middle = (low + high) / 2
            is_reached = self._values(rows, middle)[0] >= self._multiplier
            low, high = (low, middle) if is_reached else (middle, high)
        return high

    def _overdue_visits(self, k: int) -> int:
        """Return how many of the next k visits go to the pages that have waited for longest."""
        self._owed_visits += ROUND_ROBIN_SHARE * max(0, k)
        count = min(max(0, k), int(self._owed_visits))
        self._owed_visits -= count
        return count

    def _choose_overdue(
        self, now: datetime, k: int, caps: HostCaps, chosen: PageIdArray
    ) -> ChoiceTable:
        """Return the pages that were not looked at for longest, within what hosts have left."""
        seconds, states = to_epoch(now), self.page_states
        caps = self._remaining_caps(caps, chosen)
        rows = states.eligible_rows(seconds, caps)
        ages = states.days_since_look(rows, seconds)
        positions = states.select_top_k(rows, ages, k, caps, tie_breaker(self._seed, seconds))
        states.mark_pending(rows[positions])
        values = self._values(rows[positions], seconds)
        return ChoiceTable(
            states.ids[rows[positions]], values, np.full(len(values), np.nan), ages[positions]
        )

    def _remaining_caps(self, caps: HostCaps, chosen: PageIdArray) -> HostCaps:
        """Return how many more visits hosts may have after some choices."""
        states = self.page_states
        hosts = states.host[self._known_rows(chosen)]
        limits = states.host_limits(caps) - np.bincount(hosts, minlength=len(states.hosts))
        differs = limits != caps.default_limit
        return replace(caps, hosts=states.hosts.keys[differs], limits=limits[differs])

    def _known_rows(self, pages: PageIdArray) -> NDArray[Any]:
        return self.page_states.known_rows(pages)
