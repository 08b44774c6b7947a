"""The default policy with a safety net of simple policies, which get more visits if they gain more.

The simple policies are adaptive intervals, as in Apache Nutch, and round-robin. Each chooses at
least one visit in a hundred in place of the default's least valuable ones. What the visits of all
three found decides how many visits each gets (``policy_judge``). They share one set of page states.
Round-robin gets further visits for pages that have waited for very long (``overdue_visits``).
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
    ChoiceTable,
    HostCaps,
    PageIdArray,
    PageTable,
    PolicyExplanation,
    VisitTable,
)
from freshet.core.types import FloatArray, Forecast
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.cadence import CrawlCadence
from freshet.schedule.columns import ColumnSpec
from freshet.schedule.mixture.candidate_ranking import CandidateRanking
from freshet.schedule.mixture.kernels import policy_judge as kernels
from freshet.schedule.mixture.overdue_visits import OverdueVisits
from freshet.schedule.mixture.policy_judge import PROBE_SHARE, RECENT_VISITS, PolicyJudge
from freshet.schedule.objectives import ObjectiveName
from freshet.schedule.page_states import (
    LookBatch,
    PageStates,
    RevisitDelays,
    ranks_within_groups,
)
from freshet.schedule.rules.interval_rules import INTERVAL_COLUMN, NUTCH_STEPS, share_of_interval

MIXED_POLICIES = ("default", "nutch", "round-robin")
LABEL_COLUMN = "chooser"
VISITS_PER_DAY = "visits_per_day"
NOBODY, DEFAULT_CHOOSER = 0, 1


class GuardedPolicy:
    """Mixes the default policy with adaptive intervals and round-robin, judged by their visits."""

    def __init__(
        self,
        name: str,
        *,
        objective: ObjectiveName,
        cadence: CrawlCadence,
        seed: int = 0,
        delays: RevisitDelays | None = None,
    ) -> None:
        self.name = name
        columns = {
            INTERVAL_COLUMN: ColumnSpec(np.float32, DAY_SECONDS),
            LABEL_COLUMN: ColumnSpec(np.uint8),
        }
        self.default = BayesPolicy(
            name, objective=objective, cadence=cadence, seed=seed, delays=delays, columns=columns
        )
        for_freshness = objective == "freshness"
        preferred = MIXED_POLICIES.index("round-robin" if for_freshness else "nutch")
        self.judge = PolicyJudge(
            MIXED_POLICIES, gains_fresh_days=for_freshness, preferred=preferred
        )
        self._page_states = self.default.page_states
        oldest_first = CandidateRanking(self._page_states, PageStates.days_since_look, seed)
        self._alternatives = (
            CandidateRanking(self._page_states, share_of_interval, seed),
            oldest_first,
        )
        self._overdue_visits = OverdueVisits(self._page_states, oldest_first)
        self._owed_visits = np.zeros(len(self._alternatives))

    @property
    def nbytes(self) -> int:
        """Return the memory of everything learned, in bytes."""
        return self.default.nbytes

    def add(self, pages: PageTable) -> None:
        """Add pages, and update the importance of known ones."""
        self.default.add(pages)
        self._reset_candidates()

    def forget(self, pages: PageIdArray) -> None:
        """Remove pages, and the changes found there that wait for the next look."""
        states = self._page_states
        rows = states.known_rows(pages)
        days = states.days_since_look(rows, DAY_SECONDS * self.judge.last_update, never=0.0)
        labels, importance = states.column(LABEL_COLUMN)[rows], states.importance[rows]
        kernels.forget_waiting(labels, importance, days, self.judge.sums)
        self.default.forget(pages)
        self._reset_candidates()

    def learn(self, visits: VisitTable) -> None:
        """Learn from visits, and credit what they found to the policies that chose them."""
        looks, states = self._page_states.add_visits(visits), self._page_states
        kernels.credit_looks(
            (
                *(looks.rows, looks.gap_days, looks.measured, looks.changed),
                *(self._fresh_days(looks), self._expected_days(looks)),
            ),
            (states.column(LABEL_COLUMN), states.column(INTERVAL_COLUMN), states.importance),
            (
                NUTCH_STEPS.unchanged_factor,
                NUTCH_STEPS.changed_factor,
                NUTCH_STEPS.shortest_seconds,
                NUTCH_STEPS.longest_seconds,
            ),
            self.judge.sums,
            (self.judge.gains_fresh_days, 1.0 - 1.0 / RECENT_VISITS),
        )
        self.default.learn_looks(looks)

    def release(self, pages: PageIdArray) -> None:
        """Make pages that were chosen and not visited available again."""
        rows = self._page_states.known_rows(pages)
        self._return_visits(rows[self._page_states.pending[rows]])
        self._release(rows)

    def next_time(self, now: datetime) -> datetime | None:
        """Return when a page can next be chosen."""
        return self.default.next_time(now)

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return k pages within host limits, and mark them pending.

        The alternatives replace choices of the default only where a page was looked at before:
        pages that were never seen come first in any case.
        """
        choices = self._choose_by_default(now, k, caps)
        self.judge.update(to_epoch(now) / DAY_SECONDS)
        seen = np.flatnonzero(np.isfinite(choices.ages))
        counts = self._visits_of_alternatives(len(seen) if len(choices) == k else 0)
        overdue_rows = self._overdue_rows(now, choices, caps)[: len(seen) - counts[:-1].sum()]
        counts[-1] = max(counts[-1], len(overdue_rows))
        self._overdue_visits.add_visits(len(seen))
        if not counts.any():
            return choices
        replaced = self._positions_to_replace(choices, overdue_rows, caps)[: counts.sum()]
        replaced_pages = choices.pages[replaced]
        self._release(self._page_states.find_rows(replaced_pages))
        parts = [_select(choices, np.setdiff1d(np.arange(len(choices)), replaced))]
        # Overdue pages come first, because their hosts were given room for them.
        for number in (1, 0) if len(overdue_rows) else (0, 1):
            rest = self._remaining_caps(caps, parts)
            probes = self._choose_by_alternative(number, now, int(counts[number]), rest)
            is_other = ~np.isin(probes.pages, replaced_pages)
            parts.append(replace(probes, exploratory=_flags(probes) & is_other))
        missing = len(choices) - sum(map(len, parts))
        if missing:
            parts.append(self._choose_by_default(now, missing, self._remaining_caps(caps, parts)))
        return _join(parts)

    def forecast(self, pages: PageIdArray, now: datetime, horizons: FloatArray) -> Forecast:
        """Return the default policy's chances that pages are unchanged after each horizon."""
        return self.default.forecast(pages, now, horizons)

    def change_chances(self, pages: PageIdArray, times: FloatArray) -> FloatArray:
        """Return the default policy's chance that pages have changed by given times."""
        return self.default.change_chances(pages, times)

    def set_value_factors(self, pages: PageIdArray, factors: FloatArray) -> None:
        """Multiply the default policy's values of pages by factors from now on."""
        self.default.set_value_factors(pages, factors)

    def reset_value_factors(self) -> None:
        """Set all factors of the default policy to 1."""
        self.default.reset_value_factors()

    def explain(self, page: int, now: datetime) -> PolicyExplanation:
        """Return the figures behind the default's value of a page, and the current weights."""
        return replace(self.default.explain(page, now), weights=self.judge.weights_by_name)

    def refit(self, now: datetime) -> None:
        """Fit the default policy to all looks, unless the last fit of the hour did."""
        self.default.refit(now)

    def report(self) -> PolicyReport:
        """Return the weights, and what cannot be learned again from visits."""
        memory = {
            **self.default.report().memory,
            **self.judge.memory(),
            VISITS_PER_DAY: self._overdue_visits.visits_per_day,
        }
        return PolicyReport(self.name, self.judge.weights_by_name, memory)

    def resume(self, report: PolicyReport) -> None:
        """Continue with the weights of a report."""
        self.default.resume(report)
        self.judge.resume(report.memory)
        visits_per_day = report.memory.get(VISITS_PER_DAY, 0.0)
        self._overdue_visits.visits_per_day = visits_per_day if visits_per_day < np.inf else 0.0

    def state(self) -> Mapping[str, Any]:
        """Return everything learned, as plain arrays and numbers."""
        mixture = {
            "judge": self.judge.memory(),
            "judge_sums": self.judge.sums.copy(),
            "owed_visits": self._owed_visits.copy(),
            "visits_per_day": self._overdue_visits.visits_per_day,
        }
        return {**self.default.state(), **mixture}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        self.default.restore(state)
        self.judge.resume(state["judge"])
        self.judge.sums[:] = state["judge_sums"]
        self._owed_visits = np.array(state["owed_visits"], np.float64)
        self._overdue_visits.visits_per_day = float(state["visits_per_day"])
        self._reset_candidates()

    def _fresh_days(self, looks: LookBatch) -> FloatArray:
        """Return for how many days before each look the copy of the look before was fresh.

        If the look found a change, that is the expected time to the first change since. It is
        computed only where the look before was credited to a policy for a change that it found.
        """
        fresh_days = looks.gap_days.copy()
        if self.judge.gains_fresh_days:
            labels = self._page_states.column(LABEL_COLUMN)[looks.rows]
            is_follow_up = kernels.are_found_changes(labels) & looks.measured & looks.changed
            rows, gaps = looks.rows[is_follow_up], looks.gap_days[is_follow_up]
            if len(rows):
                model = self.default.forecast_model
                fresh_days[is_follow_up] = model.days_to_first_change(rows, gaps)
        return fresh_days

    def _expected_days(self, looks: LookBatch) -> FloatArray:
        """Return for how many days of the month after each look its copy is expected to be fresh.

        It is computed only where a policy chose the look and a change was found.
        """
        days = np.zeros(len(looks))
        if self.judge.gains_fresh_days:
            labels = self._page_states.column(LABEL_COLUMN)[looks.rows]
            is_found = kernels.are_chosen(labels) & looks.measured & looks.changed
            rows = looks.rows[is_found]
            if len(rows):
                model, month = self.default.forecast_model, kernels.MAX_FRESH_DAYS
                days[is_found] = model.fresh_days_after_look(rows, month)
        return days

    def _choose_by_default(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        choices = self.default.choose(now, k, caps)
        self._set_chooser(self._page_states.find_rows(choices.pages), DEFAULT_CHOOSER)
        return replace(choices, choosers=("",) * len(choices))

    def _choose_by_alternative(
        self, number: int, now: datetime, k: int, caps: HostCaps
    ) -> ChoiceTable:
        """Return the choices of an alternative; they explore while it gets no more than a probe."""
        seconds = to_epoch(now)
        rows = self._alternatives[number].choose_rows(seconds, k, caps)
        self._page_states.mark_pending(rows)
        chooser = number + 1
        self._set_chooser(rows, DEFAULT_CHOOSER + chooser)
        self._owed_visits[number] -= len(rows)
        scores = self.default.page_scores(rows, seconds)
        return ChoiceTable(
            self._page_states.ids[rows],
            scores.values,
            scores.chances,
            self._page_states.days_since_look(rows, seconds),
            np.full(len(rows), self.judge.weights[chooser] < 2 * PROBE_SHARE),
            (MIXED_POLICIES[chooser],) * len(rows),
        )

    def _visits_of_alternatives(self, k: int) -> NDArray[np.intp]:
        """Return how many of the next k visits each alternative chooses; fractions are owed."""
        owed = np.clip(self._owed_visits + k * self.judge.weights[1:], -1.0, k + 1.0)
        self._owed_visits = owed
        counts = np.floor(np.maximum(owed, 0.0)).astype(np.intp)
        before = np.cumsum(counts) - counts
        visits: NDArray[np.intp] = np.clip(k - before, 0, counts)
        return visits

    def _overdue_rows(
        self, now: datetime, choices: ChoiceTable, caps: HostCaps
    ) -> NDArray[np.intp]:
        """Return the overdue pages to visit within the room that choices never seen leave."""
        unseen = np.flatnonzero(~np.isfinite(choices.ages))
        if len(unseen):
            caps = self._remaining_caps(caps, [_select(choices, unseen)])
        return self._overdue_visits.next_rows(to_epoch(now), len(choices) - len(unseen), caps)

    def _positions_to_replace(
        self, choices: ChoiceTable, overdue_rows: NDArray[np.intp], caps: HostCaps
    ) -> NDArray[np.intp]:
        """Return the choices of pages seen before, those to replace first.

        Those are choices at hosts that have no room for their overdue pages, then the least
        valuable ones, and sentinels last.
        """
        seen, states = np.flatnonzero(np.isfinite(choices.ages)), self._page_states
        order = seen[np.lexsort((choices.values[seen], _flags(choices)[seen]))]
        hosts = states.host[states.find_rows(choices.pages)]
        visits = _count_equal(hosts, hosts[order])
        overdue_visits = _count_equal(states.host[overdue_rows], hosts[order])
        lacking = overdue_visits + visits - states.limits_of_hosts(hosts[order], caps)
        is_later = ranks_within_groups(hosts[order]) >= lacking
        positions: NDArray[np.intp] = order[np.argsort(is_later, kind="stable")]
        return positions

    def _return_visits(self, rows: NDArray[Any]) -> None:
        """Undo the count of chosen visits that are not made: alternatives are owed them again."""
        choosers = self._page_states.column(LABEL_COLUMN)[rows] & kernels.CHOOSER_MASK
        is_seen = np.isfinite(self._page_states.last_look[rows])
        counted = np.bincount(choosers[is_seen], minlength=DEFAULT_CHOOSER + len(MIXED_POLICIES))
        visits = counted[DEFAULT_CHOOSER:]
        self._owed_visits += visits[1:] - visits.sum() * self.judge.weights[1:]
        self._overdue_visits.add_visits(-int(visits.sum()))

    def _release(self, rows: NDArray[Any]) -> None:
        """Make chosen pages available again."""
        self._page_states.pending[rows] = False
        self._set_chooser(rows, NOBODY)

    def _remaining_caps(self, caps: HostCaps, parts: list[ChoiceTable]) -> HostCaps:
        """Return what choices so far leave of the host limits."""
        states = self._page_states
        rows = states.find_rows(np.concatenate([choices.pages for choices in parts]))
        hosts, visits = np.unique(states.host[rows], return_counts=True)
        limits, keys = states.limits_of_hosts(hosts, caps) - visits, states.hosts.keys[hosts]
        is_other = ~np.isin(caps.hosts, keys)
        return replace(
            caps,
            hosts=np.append(caps.hosts[is_other], keys),
            limits=np.append(caps.limits[is_other], limits),
        )

    def _set_chooser(self, rows: NDArray[Any], chooser: int) -> None:
        """Note who chose the pending visits of pages."""
        labels = self._page_states.column(LABEL_COLUMN)
        labels[rows] = labels[rows] & np.uint8(0xFF ^ kernels.CHOOSER_MASK) | np.uint8(chooser)

    def _reset_candidates(self) -> None:
        for ranking in self._alternatives:
            ranking.reset()


def _flags(choices: ChoiceTable) -> NDArray[np.bool_]:
    """Return which choices are exploratory."""
    if choices.exploratory is None:
        return np.zeros(len(choices), np.bool_)
    return choices.exploratory


def _count_equal(numbers: NDArray[Any], wanted: NDArray[Any]) -> NDArray[np.intp]:
    """Return how many of the numbers are equal to each of the wanted ones."""
    ordered = np.sort(numbers)
    ends = np.searchsorted(ordered, wanted, side="right")
    counts: NDArray[np.intp] = ends - np.searchsorted(ordered, wanted)
    return counts


def _select(choices: ChoiceTable, positions: NDArray[np.intp]) -> ChoiceTable:
    """Return the choices at positions."""
    names = choices.choosers or ("",) * len(choices)
    return ChoiceTable(
        choices.pages[positions],
        choices.values[positions],
        choices.chances[positions],
        choices.ages[positions],
        _flags(choices)[positions],
        tuple(names[position] for position in positions.tolist()),
    )


def _join(parts: list[ChoiceTable]) -> ChoiceTable:
    """Return all choices: pages never seen, then by the chance of a change."""
    joined = ChoiceTable(
        np.concatenate([choices.pages for choices in parts]),
        np.concatenate([choices.values for choices in parts]),
        np.concatenate([choices.chances for choices in parts]),
        np.concatenate([choices.ages for choices in parts]),
        np.concatenate([_flags(choices) for choices in parts]),
        tuple(name for choices in parts for name in choices.choosers or ()),
    )
    return _select(joined, np.argsort(-np.nan_to_num(joined.chances, nan=np.inf), kind="stable"))
