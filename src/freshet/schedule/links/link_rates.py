"""How fast new links appear on pages: a Gamma-Poisson rate per page with an empirical prior.

A page's rate of new links per day has a Gamma distribution whose mean comes from its host, and the
host's from the collection. How many days of looks the prior counts for is first estimated from the
variances of the collection (Bühlmann and Straub 1970): few if pages differ much from each other,
many if the counts of one page differ much from look to look. After a thousand looks it is the
number that would have forecast them best (prior_comparison). Old evidence fades.

A list page holds only so many links. With room for C links and r new ones a day, each replacing
another, a look after x days finds C (1 - exp(-r x / C)) of the r x links; the others have come and
gone. C is not known: the greatest number that one look has found, and some more, stands for it.
That makes visits frequent enough for lists that lose links. Forecasts take the rate at which links
were found, and the number of links of the page for C if it is known and greater.

At a page with several looks a day the prior counts for looks instead of days. If none of them has
found a new link, each makes the rate of its host matter less.

Links that a second look within minutes replaces are noise, as on link farms that show other links
at every visit. The counts of such pages are not used; their rate is that of their host. If the
number of links of a page is known, a page that still has all links found within minutes is no such
page: its list grows. A page that was looked at and has never shown a link is expected to have no
more than any page before anything is known.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray
from freshet.schedule.columns import ColumnSpec
from freshet.schedule.links.link_looks import LinkLooks
from freshet.schedule.links.prior_comparison import (
    PRIOR_WEIGHTS,
    LinkEvidence,
    PriorComparison,
)
from freshet.schedule.page_states import PageStates

LINK_RATE_COLUMNS: Mapping[str, ColumnSpec] = {
    # Faded sums over looks: new links found, the same with those lost in between, days, squares
    # of the latter over days, and looks.
    "found_links": ColumnSpec(np.float32),
    "link_sum": ColumnSpec(np.float32),
    "link_days": ColumnSpec(np.float32),
    "link_squares": ColumnSpec(np.float32),
    "link_looks": ColumnSpec(np.float32),
    "most_links": ColumnSpec(np.float32),
    "quick_links": ColumnSpec(np.float32),
    "quick_looks": ColumnSpec(np.float32),
    # The number of links that the page has; NaN if that is not known.
    "page_links": ColumnSpec(np.float32, np.nan),
}
# The share of the evidence that remains after a look; over d days it is this to the power √d.
RETENTION = 0.95
SPARE_CAPACITY = 10.0
# The greatest share of a page's capacity that counts as found, so that the rate stays finite.
MAX_FILLED_SHARE = 0.9
MIN_GAP_DAYS = 1 / 86_400
QUICK_GAP_DAYS = 15 / 1_440
MIN_QUICK_LOOKS, ROTATING_SHARE, MIN_ROTATING_LINKS = 2, 0.5, 5
# Before anything is known: a new link in twenty days, and the prior counts for a few days.
INITIAL_RATE, INITIAL_PRIOR_DAYS = 0.05, 5.0
MIN_FITTED_PAGES, MIN_PRIOR_DAYS, MAX_PRIOR_DAYS = 10, 3.0, 100.0
# In too few pages to estimate its days the prior counts for a link at most: minutes of looks at a
# page with many new links would not count against days.
MAX_UNFITTED_LINKS = 1.0
# After so many looks in quick succession without any new link the rate of the host counts half.
HALVING_LOOKS = 5.0


class LinkRates:
    """Learns the rate of new links of every page, and forecasts how many a look finds."""

    def __init__(self, page_states: PageStates) -> None:
        self._page_states = page_states
        self.collection_rate = INITIAL_RATE
        self.prior_days = INITIAL_PRIOR_DAYS
        self._host_sums: FloatArray = np.empty(0)
        self._host_days: FloatArray = np.empty(0)
        self._comparison = PriorComparison()

    def learn(self, link_looks: LinkLooks) -> None:
        """Learn from looks, in which no page occurs twice."""
        known = link_looks[~np.isnan(link_looks.new_links)]
        self._compare_priors(known)
        rows, counts, days = known.looks.rows, known.new_links, known.looks.gap_days
        states = self._page_states
        is_quick = days <= QUICK_GAP_DAYS
        states.column("quick_links")[rows[is_quick]] += counts[is_quick]
        states.column("quick_looks")[rows[is_quick]] += 1
        most_links = states.column("most_links")
        most_links[rows] = np.maximum(most_links[rows], counts)
        capacity = self.capacities(rows)
        days = np.maximum(days, MIN_GAP_DAYS)
        filled = np.minimum(counts / capacity, MAX_FILLED_SHARE)
        appeared = -capacity * np.log1p(-filled)
        remaining = RETENTION ** np.sqrt(days)
        additions: dict[str, FloatArray | float] = {
            "found_links": counts,
            "link_sum": appeared,
            "link_days": days,
            "link_squares": appeared**2 / days,
            "link_looks": 1.0,
        }
        for name, added in additions.items():
            column = states.column(name)
            column[rows] = column[rows] * remaining + added

    def fit(self) -> None:
        """Fit the prior to all pages."""
        states = self._page_states
        is_usable = (states.column("link_days") > 0) & ~self._are_rotating(slice(None))
        sums, days, squares, looks = (
            states.column(name)[is_usable].astype(np.float64)
            for name in ("link_sum", "link_days", "link_squares", "link_looks")
        )
        total_days = float(days.sum())
        if not total_days:
            return
        prior_days = self.prior_days
        rate = (float(sums.sum()) + prior_days * INITIAL_RATE) / (total_days + prior_days)
        self.collection_rate = rate
        best_days = self._comparison.best_weight
        self.prior_days = best_days or credibility_days(sums, days, squares, looks)
        hosts, host_count = states.host[is_usable], len(states.hosts)
        self._host_sums = np.bincount(hosts, sums, host_count).astype(np.float64)
        self._host_days = np.bincount(hosts, days, host_count).astype(np.float64)

    def _compare_priors(self, link_looks: LinkLooks) -> None:
        """Compare weights of the prior at looks, before they are learnt from.

        Looks at rotating links, or within minutes, say nothing about it.
        """
        is_compared = link_looks.looks.gap_days > QUICK_GAP_DAYS
        is_compared &= ~self._are_rotating(link_looks.looks.rows)
        if not len(self._host_sums) or not is_compared.any():
            return
        compared = link_looks[is_compared]
        rows = compared.looks.rows
        evidence = LinkEvidence(
            *self.evidence(rows),
            *self._host_evidence(rows),
            np.minimum(self._mean_gaps(rows), 1.0),
        )
        rates = evidence.rates(PRIOR_WEIGHTS, self.collection_rate)
        expected = expected_links(rates, self.capacities(rows), compared.looks.gap_days)
        self._comparison.add(expected, compared.new_links)

    def _host_evidence(self, rows: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
        """Return the new links and days of each page's host; 0 of hosts that came later."""
        host_count, known = len(self._page_states.hosts), len(self._host_sums)
        sums, days = np.zeros(host_count), np.zeros(host_count)
        sums[:known], days[:known] = self._host_sums, self._host_days
        hosts = self._page_states.host[rows]
        return sums[hosts], days[hosts]

    def prior_rates(self, rows: NDArray[Any]) -> FloatArray:
        """Return the new links per day that pages of the same host have on average."""
        sums, days = self._host_evidence(rows)
        prior_rates: FloatArray = (sums + self.prior_days * self.collection_rate) / (
            days + self.prior_days
        )
        return prior_rates

    def evidence(
        self, rows: NDArray[Any], page_links: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the new links of pages and the days in which they appeared, 0 if rotating."""
        states = self._page_states
        page_links = self.page_links(rows, page_links)
        is_used = ~self._are_rotating(rows)
        is_used |= page_links > states.column("quick_links")[rows]
        sums = states.column("link_sum")[rows].astype(np.float64) * is_used
        return sums, states.column("link_days")[rows].astype(np.float64) * is_used

    def rates(self, rows: NDArray[Any], page_links: FloatArray | None = None) -> FloatArray:
        """Return the expected number of new links per day of pages.

        ``page_links`` are the numbers of links that the pages have, NaN if that is not known, if
        they are others than those at the last looks.
        """
        page_links = self.page_links(rows, page_links)
        sums, days = self.evidence(rows, page_links)
        prior_rates, prior_days = self.prior_rates(rows), self._prior_days(rows)
        is_empty = self._page_states.column("most_links")[rows] == 0
        fading = 1 + is_empty * self._close_looks(rows) / HALVING_LOOKS
        prior_rates = prior_rates / fading
        rates: FloatArray = (sums + prior_days * prior_rates) / (days + prior_days)
        return np.where((page_links == 0) & is_empty, np.minimum(rates, INITIAL_RATE), rates)

    def page_links(self, rows: NDArray[Any], given: FloatArray | None = None) -> FloatArray:
        """Return the numbers of links of pages: those given, or those at the last looks."""
        if given is not None:
            return given
        known: FloatArray = self._page_states.column("page_links")[rows].astype(np.float64)
        return known

    def capacities(self, rows: NDArray[Any]) -> FloatArray:
        """Return how many new links one look at each page can find at most."""
        most_links: FloatArray = self._page_states.column("most_links")[rows].astype(np.float64)
        return SPARE_CAPACITY + most_links

    def found_rates(self, rows: NDArray[Any], page_links: FloatArray | None = None) -> FloatArray:
        """Return the number of new links per day that looks as frequent as before find."""
        found, appeared = (
            self._page_states.column(name)[rows].astype(np.float64)
            for name in ("found_links", "link_sum")
        )
        shares: FloatArray = np.divide(found, appeared, out=np.ones_like(found), where=appeared > 0)
        return self.rates(rows, page_links) * shares

    def expected_links(
        self, rows: NDArray[Any], days: FloatArray, page_links: FloatArray | None = None
    ) -> FloatArray:
        """Return how many new links a look after that many days is expected to find.

        ``page_links`` is as in ``rates``.
        """
        capacities = np.fmax(self.capacities(rows), self.page_links(rows, page_links))
        return expected_links(self.found_rates(rows, page_links), capacities, days)

    def _prior_days(self, rows: NDArray[Any]) -> FloatArray:
        """Return the days of looks that the prior counts for.

        At a page with several looks a day it counts for as many looks instead.
        """
        prior_days = self.prior_days * np.minimum(self._mean_gaps(rows), 1.0)
        if np.count_nonzero(self._page_states.column("link_looks")) < MIN_FITTED_PAGES:
            prior_days = np.minimum(prior_days, MAX_UNFITTED_LINKS / self.prior_rates(rows))
        return prior_days

    def _mean_gaps(self, rows: NDArray[Any]) -> FloatArray:
        """Return the mean days between the looks at each page, 1 without looks."""
        days, looks = (
            self._page_states.column(name)[rows].astype(np.float64)
            for name in ("link_days", "link_looks")
        )
        gaps: FloatArray = np.divide(days, looks, out=np.ones(len(rows)), where=looks > 0)
        return gaps

    def _close_looks(self, rows: NDArray[Any]) -> FloatArray:
        """Return the number of looks at each page, less if they are hours apart, 0 if days."""
        looks = self._page_states.column("link_looks")[rows].astype(np.float64)
        close_looks: FloatArray = looks * (1.0 - np.minimum(self._mean_gaps(rows), 1.0))
        return close_looks

    def _are_rotating(self, rows: NDArray[Any] | slice) -> NDArray[np.bool_]:
        """Return whether looks within minutes have replaced most links of pages."""
        states = self._page_states
        looks, most = states.column("quick_looks")[rows], states.column("most_links")[rows]
        replaced = states.column("quick_links")[rows] >= ROTATING_SHARE * looks * most
        is_rotating: NDArray[np.bool_] = (
            (looks >= MIN_QUICK_LOOKS) & (most >= MIN_ROTATING_LINKS) & replaced
        )
        return is_rotating

    def state(self) -> dict[str, Any]:
        """Return the fitted prior; the sums are columns of the page states."""
        return {
            "collection_rate": self.collection_rate,
            "prior_days": self.prior_days,
            "host_sums": self._host_sums.copy(),
            "host_days": self._host_days.copy(),
            **self._comparison.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        self.collection_rate = float(state["collection_rate"])
        self.prior_days = float(state["prior_days"])
        self._host_sums = np.array(state["host_sums"], np.float64)
        self._host_days = np.array(state["host_days"], np.float64)
        self._comparison.restore(state)


def expected_links(rates: FloatArray, capacities: FloatArray, days: FloatArray) -> FloatArray:
    """Return the new links that looks find after some days.

    >>> expected_links(np.array([0.1, 90.0]), np.array([30.0, 30.0]), np.array([1.0, 1.0])).round(2)
    array([ 0.1 , 28.51])
    """
    found: FloatArray = -capacities * np.expm1(-rates * days / capacities)
    return found


def credibility_days(
    sums: FloatArray, days: FloatArray, squares: FloatArray, looks: FloatArray
) -> float:
    """Return the days of looks that the prior counts for (Bühlmann and Straub 1970).

    That is the variance of a page's counts per day over the variance of rates between pages.
    ``squares`` are the sums of squared counts over days.
    """
    total_days, degrees = float(days.sum()), float(np.maximum(looks - 1, 0).sum())
    spread = total_days - float((days**2).sum()) / total_days
    if len(days) < MIN_FITTED_PAGES or not degrees or spread <= 0:
        return INITIAL_PRIOR_DAYS
    rates, mean = sums / days, float(sums.sum()) / total_days
    within = float(np.maximum(squares - sums**2 / days, 0).sum()) / degrees
    between = float((days * (rates - mean) ** 2).sum()) - (len(days) - 1) * within
    if between <= 0:
        return MAX_PRIOR_DAYS
    return float(np.clip(within / (between / spread), MIN_PRIOR_DAYS, MAX_PRIOR_DAYS))
