"""The report of the policy of a crawl: stored in the catalog, shown, and returned after a restart.

The report has the weights and the multiplier of the policy, which cannot be learned from the visits
alone. The crawl stores it every hour and when it ends. A restart needs it where the stored state of
the whole policy (``policy_state.py``) cannot be used.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from math import isclose, isfinite

from freshet.archive.catalog.catalog import Catalog
from freshet.core.budget import utc_day
from freshet.core.policy import Policy, PolicyReport, ReportingPolicy
from freshet.record.fault_isolation import isolate_faults

POLICY_REPORT_NOTE = "report of the policy"
REPORT_INTERVAL = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class PolicyStatus:
    """The last report of the configured policy: its name, the time, and weights of mixed policies.

    ``weights`` are shares of the visits by policy; empty if the policy mixes none. ``time`` is None
    if the last crawl used ``previous``, another policy.
    """

    policy: str
    time: datetime | None
    weights: Mapping[str, float]
    previous: str = ""


@dataclass(frozen=True, slots=True)
class ExplorationStatus:
    """How many of the page requests of the last UTC days, including today, were exploratory."""

    days: int
    requests: int
    exploratory: int
    share: float | None


class PolicyReportStore:
    """Stores the reports of a crawl's policy in the catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._stored: datetime | None = None

    def save_if_due(self, policy: Policy, now: datetime) -> None:
        """Store the report of a policy, unless that was done within the hour."""
        if self._stored is None or abs(now - self._stored) >= REPORT_INTERVAL:
            self.save(policy, now)

    def save(self, policy: Policy, now: datetime) -> None:
        """Store the report of a policy; that of one that reports nothing has only its name."""
        self._stored = now
        with isolate_faults("storing its report", f"policy {policy.name}"):
            report = PolicyReport(policy.name, {}, {})
            if isinstance(policy, ReportingPolicy):
                report = policy.report()
            document = {**asdict(report), "time": now.isoformat()}
            self._catalog.write_note(POLICY_REPORT_NOTE, json.dumps(document))


def resume_policy(catalog: Catalog, policy: Policy) -> None:
    """Return the stored report to a policy of the same name."""
    stored = read_policy_report(catalog)
    if stored and isinstance(policy, ReportingPolicy) and stored[0].policy == policy.name:
        policy.resume(stored[0])


def read_policy_report(catalog: Catalog) -> tuple[PolicyReport, datetime] | None:
    """Return the stored report of a policy and its time; None if there is none that is valid."""
    try:
        document = json.loads(catalog.read_note(POLICY_REPORT_NOTE) or "{}")
        time = datetime.fromisoformat(document["time"])
        weights, memory = _numbers(document["weights"]), _numbers(document["memory"])
        if weights and not (min(weights.values()) >= 0 and isclose(sum(weights.values()), 1)):
            return None
        return PolicyReport(str(document["policy"]), weights, memory), time
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def policy_status(catalog: Catalog, policy: str) -> PolicyStatus | None:
    """Return the last report of a crawl by the policy of that name; None if there was no crawl."""
    stored = read_policy_report(catalog)
    if stored is None:
        return None
    report, time = stored
    if report.policy != policy:
        return PolicyStatus(policy, None, {}, previous=report.policy)
    return PolicyStatus(policy, time, report.weights)


def exploration_status(catalog: Catalog, now: datetime, *, days: int) -> ExplorationStatus:
    """Return how many requests of the last days were exploratory."""
    first_day = utc_day(now - timedelta(days=days - 1))
    spendings = catalog.spending_since(first_day).values() if days else ()
    requests = sum(spending.requests for spending in spendings)
    exploratory = sum(spending.exploratory_requests for spending in spendings)
    return ExplorationStatus(days, requests, exploratory, exploration_share(exploratory, requests))


def exploration_share(exploratory: int, requests: int) -> float | None:
    """Return the share of requests that is exploratory; None without requests.

    >>> exploration_share(1, 4), exploration_share(0, 0)
    (0.25, None)
    """
    return exploratory / requests if requests > 0 else None


def _numbers(values: Mapping[str, float]) -> dict[str, float]:
    numbers = {str(name): float(value) for name, value in values.items()}
    return {name: number for name, number in numbers.items() if isfinite(number)}
