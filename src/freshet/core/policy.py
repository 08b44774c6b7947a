"""The interface of scheduling policies, which the live crawl and the backtests drive."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from freshet.core.tables import (
    ChoiceTable,
    HostCaps,
    PageIdArray,
    PageTable,
    PolicyExplanation,
    VisitTable,
)
from freshet.core.types import FloatArray


class Policy(Protocol):
    """Decides which pages to visit.

    A chosen page is pending until its visit is learned or it is released.
    """

    name: str

    def add(self, pages: PageTable) -> None:
        """Add pages; for pages that are already there, the importance is updated."""
        ...

    def forget(self, pages: PageIdArray) -> None:
        """Remove pages; unknown ones are ignored."""
        ...

    def learn(self, visits: VisitTable) -> None:
        """Update the state with the results of visits; visits of unknown pages are ignored."""
        ...

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return at most k pages worth a visit now, best first; they become pending."""
        ...

    def release(self, pages: PageIdArray) -> None:
        """Take back pages that were chosen and not visited."""
        ...

    def next_time(self, now: datetime) -> datetime | None:
        """Return when a page can next be chosen: now if one can, None if none ever will."""
        ...

    def explain(self, page: int, now: datetime) -> PolicyExplanation:
        """Explain the place of a page in the plan; KeyError if the page is unknown."""
        ...

    def state(self) -> Mapping[str, Any]:
        """Return the whole state, as plain arrays, numbers and texts."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Replace the state by one that ``state`` returned."""
        ...


@dataclass(frozen=True, slots=True)
class PolicyReport:
    """What a policy reports about itself; a crawl stores it and returns it after a restart.

    ``weights`` are the shares of the visits that each of several mixed policies gets now, by name;
    empty for a policy that mixes none. ``memory`` has the numbers that the policy cannot learn
    again from its visits.
    """

    policy: str
    weights: Mapping[str, float]
    memory: Mapping[str, float]


@runtime_checkable
class RefittingPolicy(Policy, Protocol):
    """A policy whose forecasts depend on the order in which it learns and fits."""

    @property
    def nbytes(self) -> int:
        """Return the memory of everything learned, in bytes."""
        ...

    def refit(self, now: datetime) -> None:
        """Fit everything that is not learned visit by visit, unless nothing was learned since.

        A fit in an earlier hour is always done again.
        """
        ...


@runtime_checkable
class ReportingPolicy(Policy, Protocol):
    """A policy that reports about itself."""

    def report(self) -> PolicyReport:
        """Return the present report."""
        ...

    def resume(self, report: PolicyReport) -> None:
        """Continue from a report of the same policy, after all visits have been learned.

        Numbers that are missing or that make no sense are ignored.
        """
        ...


@runtime_checkable
class CorrectablePolicy(Policy, Protocol):
    """A policy that forecasts changes, and whose values a learned forecast can correct."""

    def change_chances(self, pages: PageIdArray, times: FloatArray) -> FloatArray:
        """Return the chance that pages have changed since their last look, by given times.

        It is NaN for pages that were never looked at or are unknown.
        """
        ...

    def set_value_factors(self, pages: PageIdArray, factors: FloatArray) -> None:
        """Multiply the values of pages by factors from now on, at first 1; ignore unknown ones."""
        ...

    def reset_value_factors(self) -> None:
        """Set all factors to 1."""
        ...
