"""The forecast of all pages: likelihoods of change rates, their prior, and shared events."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS, BoolArray
from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.cadence import CrawlCadence
from freshet.schedule.columns import row_blocks
from freshet.schedule.hosts.event_counts import counted_event_rates
from freshet.schedule.hosts.publication_times import PublicationTimes
from freshet.schedule.hosts.shared_events import SharedEvents
from freshet.schedule.kernels.posterior import Exposure, days_to_first_change, survival_of_cells
from freshet.schedule.kernels.visit_values import weigh_values
from freshet.schedule.objectives import (
    OUTLIER_CHANCE,
    CrawlObjective,
    PageScores,
    concatenate_scores,
)
from freshet.schedule.page_states import LookBatch, PageStates
from freshet.schedule.posterior import RatePosterior
from freshet.schedule.prior import HierarchicalPrior

PRIOR_STEPS, FIRST_PRIOR_STEPS = 2, 6
MIN_SURVIVAL = 1e-3
# Publication times are fitted in so many steps at a time, each through one look.
MAX_PROFILE_STEPS = 1 << 19


class ForecastModel:
    """Learns from looks how pages change, and computes chances of change and values of looks."""

    def __init__(
        self,
        page_states: PageStates,
        objective: CrawlObjective,
        cadence: CrawlCadence,
        seed: int,
        *,
        has_events: bool = True,
    ) -> None:
        self.page_states = page_states
        self.objective = objective
        self.cadence = cadence
        self.seed = seed
        self.posterior = RatePosterior(cadence.rates, OUTLIER_CHANCE, objective.daily_retention)
        self.prior = HierarchicalPrior(cadence.rates)
        self.publication_times = PublicationTimes() if has_events else None
        self.events = SharedEvents(self.publication_times) if self.publication_times else None
        self._is_fitted = False

    @property
    def nbytes(self) -> int:
        """Return the memory of prior, shared events and publication times in bytes."""
        parts = (self.prior, self.events, self.publication_times)
        return sum(part.nbytes for part in parts if part is not None)

    def add(self, rows: IndexArray) -> None:
        """Add the rows of new pages."""
        if self.events:
            self.events.add(self.page_states, rows)
        if self.publication_times:
            self.publication_times.add_hosts(len(self.page_states.hosts))

    def keep_rows(self, kept: BoolArray) -> None:
        """Remove the rows outside the mask."""
        if self.events:
            self.events.keep_rows(self.page_states, kept)

    def learn(self, looks: LookBatch) -> None:
        """Learn from looks."""
        hosts, ends = self.page_states.host[looks.rows], looks.times / DAY_SECONDS
        begins = ends - looks.gap_days
        hazards = np.zeros(len(looks))
        if self.events:
            hazards = self.events.hazards(hosts, begins, ends)
            self.events.learn(hosts, looks, hazards)
        elapsed = self.elapsed_days(hosts, begins, ends)
        by_hours = LookBatch(looks.rows, looks.times, elapsed, looks.measured, looks.changed)
        self.posterior.add_looks(self.page_states.column("likelihood"), by_hours, hazards)

    def refit(self, now: float) -> None:
        """Fit the prior and the shared events to everything learned so far."""
        self.refit_events(now, all_moved=True)
        self.refit_prior(now)

    def are_large(self, hosts: NDArray[np.intp], min_pages: int) -> BoolArray:
        """Return which of some hosts have shared events and at least a number of pages."""
        if not self.events:
            return np.zeros(len(hosts), np.bool_)
        return self.events.page_counts(hosts) >= min_pages

    def refit_prior(self, now: float) -> None:
        """Fit the prior to all pages.

        A crawl in continuous time takes more steps the first time, so that a policy that is rebuilt
        from stored visits soon gives the same forecasts as before.
        """
        is_first = not (self._is_fitted or self.cadence.in_cycles)
        steps = FIRST_PRIOR_STEPS if is_first else PRIOR_STEPS
        self.prior.fit(self.page_states, self.posterior, now, steps=steps, seed=self.seed)
        self._is_fitted = True

    def refit_events(self, now: float, *, all_moved: bool) -> NDArray[np.intp]:
        """Fit the shared events of hosts with new looks; return these hosts.

        Without ``all_moved`` only hosts are fitted whose fit should not wait.
        """
        if not self.events:
            return np.empty(0, np.intp)
        if all_moved:
            self._fit_publication_times(now)
        hosts = self.events.hosts_to_fit(all_moved=all_moved)
        likelihood, today = self.page_states.column("likelihood"), now / DAY_SECONDS
        for corrections in self.events.fit(hosts, today, self.own_hazards):
            self.posterior.correct_looks(likelihood, corrections)
        if all_moved:
            self.events.trim_small_hosts()
            self.events.compact()
        return hosts

    def _fit_publication_times(self, now: float) -> None:
        """Fit the publication times of hosts to their stored looks; some may wait an hour more."""
        if not (self.events and self.publication_times):
            return
        counts, steps = self.events.short_change_counts(), 0
        for host in self.publication_times.hosts_to_fit(counts, now / DAY_SECONDS).tolist():
            looks = self.events.recent_looks(host, -np.inf)
            rates = self.mean_rates(looks.rows, now)
            rates = rates + self.events.event_rates(np.array([host], np.int32))
            fit = self.publication_times.fit(host, looks, rates, now / DAY_SECONDS)
            steps += fit.steps
            if fit.has_moved:
                self.events.restart(host, now / DAY_SECONDS)
            if steps > MAX_PROFILE_STEPS:
                return

    def elapsed_days(self, hosts: IndexArray, begins: FloatArray, ends: FloatArray) -> FloatArray:
        """Return the days between two times by the publication times of hosts."""
        if not self.publication_times:
            return ends - begins
        return self.publication_times.elapsed_days(hosts, begins, ends)

    def growth_days(self, rows: NDArray[Any], ages: FloatArray, now: float) -> FloatArray:
        """Return the days in which the exposure of pages grows as much as since their last look.

        ``ages`` are by the publication times of hosts, which may pass faster than the calendar, and
        the hazard of shared events may grow faster than before.
        """
        hosts = self.page_states.host[rows]
        days = ages / self.publication_times.paces(hosts) if self.publication_times else ages
        if not self.events:
            return days
        begins = now / DAY_SECONDS - self.page_states.days_since_look(rows, now, never=0.0)
        ends = np.full(len(rows), now / DAY_SECONDS)
        hazards = self.events.hazards(hosts, begins, ends)
        slopes = self.events.steepest_hazards(hosts, ends)
        return np.minimum(days, np.divide(hazards, slopes, out=days.copy(), where=slopes > 0.0))

    def own_hazards(self, rows: NDArray[Any], gaps: FloatArray) -> FloatArray:
        """Return the hazard of each page's own changes within a gap in days."""
        prior = self.prior.rows_for(self.page_states, rows)
        likelihood = self.page_states.column("likelihood")
        survival = self.posterior.survival(likelihood, rows, gaps, prior)
        return -np.log(np.maximum(survival, MIN_SURVIVAL))

    def mean_rates(self, rows: NDArray[Any], now: float) -> FloatArray:
        """Return each page's mean rate, in changes per day."""
        ages = self.page_states.days_since_look(rows, now, never=0.0)
        prior = self.prior.rows_for(self.page_states, rows)
        return self.posterior.mean_rates(self.page_states.column("likelihood"), rows, ages, prior)

    def days_to_first_change(self, rows: NDArray[Any], gap_days: FloatArray) -> FloatArray:
        """Return the expected days from a look to the page's first change, within a gap."""
        prior = self.prior.rows_for(self.page_states, rows)
        likelihood = self.page_states.column("likelihood")
        weights = self.posterior.posteriors(likelihood, rows, gap_days, prior)
        return days_to_first_change(gap_days, weights, self.cadence.rates)

    def fresh_days_after_look(self, rows: NDArray[Any], days: float) -> FloatArray:
        """Return for how many of the days after a look a copy is expected to be fresh."""
        prior = self.prior.rows_for(self.page_states, rows)
        likelihood = self.page_states.column("likelihood")
        weights = self.posterior.posteriors(likelihood, rows, np.zeros(len(rows)), prior)
        rates = np.broadcast_to(self.cadence.rates, weights.shape)
        if self.events:
            event_rates = self.events.event_rates(self.page_states.host[rows])
            rates = rates + event_rates[:, np.newaxis]
        fresh_days: FloatArray = (weights * -np.expm1(-rates * days) / rates).sum(axis=1)
        return fresh_days

    def exposure(self, rows: NDArray[Any], now: float) -> Exposure:
        """Return ages in days, hazards of shared events since the last look, and their rates.

        Ages are by the publication times of hosts. Ages and hazards are 0 for pages that were never
        looked at.
        """
        ages = self.page_states.days_since_look(rows, now, never=0.0)
        if not self.events:
            return ages, np.zeros(len(rows)), np.zeros(len(rows))
        hosts, ends = self.page_states.host[rows], np.full(len(rows), now / DAY_SECONDS)
        hazards = self.events.hazards(hosts, ends - ages, ends)
        elapsed = self.elapsed_days(hosts, ends - ages, ends)
        return elapsed, hazards, self.events.event_rates(hosts)

    def page_scores(self, rows: NDArray[Any], now: float) -> PageScores:
        """Return ages, chances of a change and values of pages now."""
        return concatenate_scores([
            self._scores(block, self.exposure(block, now)) for block in row_blocks(rows)
        ])

    def scores_after_days(self, row: int, now: float, days: FloatArray) -> PageScores:
        """Return the scores of one page that many days from now, if nothing else is learned."""
        rows = np.full(len(days), row)
        ages, hazards, event_rates = self.exposure(rows, now)
        begins = np.full(len(days), now / DAY_SECONDS)
        added = self.elapsed_days(self.page_states.host[rows], begins, begins + days)
        return self._scores(rows, (ages + added, hazards + event_rates * added, event_rates))

    def survival(self, rows: NDArray[Any], now: float, horizons: FloatArray) -> FloatArray:
        """Return the chance that pages are unchanged since their last look, a column per horizon.

        Horizons are days from now; pages that were never looked at count from now.
        """
        ages, hazards, _ = self.exposure(rows, now)
        prior = self.prior.rows_for(self.page_states, rows)
        likelihood = self.page_states.column("likelihood")
        weights = self.posterior.posteriors(likelihood, rows, ages, prior)
        begins, hosts = np.full(len(rows), now / DAY_SECONDS), self.page_states.host[rows]
        added = [self.elapsed_days(hosts, begins, begins + horizon) for horizon in horizons]
        added_days = np.stack(added, axis=1) if added else np.empty((len(rows), 0))
        days = ages[:, None] + added_days
        survival = survival_of_cells(days, self.cadence.rates, weights)
        event_rates = self.counted_event_rates(rows, now)
        return survival * np.exp(-hazards[:, None] - event_rates[:, None] * added_days)

    def counted_event_rates(self, rows: NDArray[Any], now: float) -> FloatArray:
        """Return the mean number of shared events a day at the hosts of pages, for forecasts."""
        if self.events is None:
            return np.zeros(len(rows))
        return counted_event_rates(self.events, self.page_states.host[rows], now / DAY_SECONDS)

    def change_chances(self, rows: NDArray[Any], times: FloatArray) -> FloatArray:
        """Return the chance that pages have changed since their last look, each at its own time.

        It is NaN for pages that were never looked at.
        """
        return np.concatenate([
            self._change_chances(block, moments)
            for block, moments in zip(row_blocks(rows), row_blocks(times), strict=True)
        ])

    def state(self) -> dict[str, Any]:
        """Return prior, shared events and publication times as plain arrays."""
        parts = (self.events, self.publication_times)
        events = {name: column for part in parts if part for name, column in part.state().items()}
        return self.prior.state() | events | {"refreshed": self._is_fitted}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        self.prior.restore(state)
        if self.events:
            self.events.restore(state)
        if self.publication_times:
            self.publication_times.restore(state)
        self._is_fitted = bool(state["refreshed"])

    def _change_chances(self, rows: NDArray[Any], times: FloatArray) -> FloatArray:
        states = self.page_states
        begins, hosts = states.last_look[rows] / DAY_SECONDS, states.host[rows]
        is_seen = ~np.isnan(begins)
        ends = np.maximum(times / DAY_SECONDS, np.where(is_seen, begins, 0.0))
        begins = np.where(is_seen, begins, ends)
        ages = self.elapsed_days(hosts, begins, ends)
        weights = self.posterior.posteriors(
            states.column("likelihood"), rows, ages, self.prior.rows_for(states, rows)
        )
        survival = survival_of_cells(ages[:, np.newaxis], self.cadence.rates, weights)[:, 0]
        if self.events:
            survival = survival * np.exp(-self.events.hazards(hosts, begins, ends))
        return np.where(is_seen, 1.0 - survival, np.nan)

    def _scores(self, rows: NDArray[Any], exposure: Exposure) -> PageScores:
        """Return the scores of pages with an exposure."""
        states, prior = self.page_states, self.prior.rows_for(self.page_states, rows)
        likelihood = states.column("likelihood")
        options = (self.objective.name == "freshness", 1.0 if self.cadence.in_cycles else 0.0)
        chances, gains = self.posterior.change_chances_and_values(
            likelihood, rows, exposure, prior, options
        )
        visits = (states.importance, states.recent_looks, states.recent_failures)
        weigh_values(rows, chances, gains, visits, states.last_look)
        gains *= states.value_factor[rows]
        return PageScores(exposure[0], chances, gains)
