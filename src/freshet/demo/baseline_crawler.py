"""A crawl by another rule, simulated: it asks the same hosts in the same way as Freshet does.

It has the same budget and keeps to the hosts' delays, Retry-After included; it asks conditionally,
with audits, and meets the same errors, lies and noise. Only its choice of pages is its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus

import numpy as np

from freshet.backtest.continuous import SimulatedCrawler
from freshet.core.clock import FixedClock, from_epoch
from freshet.core.policy import Policy
from freshet.core.tables import HostCaps, VisitTable, hash_names
from freshet.demo.demo_collection import AUDIT_EVERY, DELAY, DemoCollection
from freshet.demo.hosts import HostResponse, LoggedRequest, SimulatedHosts

CONDITION_HEADERS = {"ETag": "if-none-match", "Last-Modified": "if-modified-since"}


@dataclass(slots=True)
class PageValidators:
    """What a page's last content came with, and how often it was "not modified" since then."""

    conditions: Mapping[str, str] = field(default_factory=dict)
    unchanged_count: int = 0

    def request_headers(self) -> Mapping[str, str]:
        """Return the conditions to ask by; none when an audit is due."""
        return self.conditions if self.unchanged_count < AUDIT_EVERY else {}

    def update(self, answer: HostResponse, asked: LoggedRequest) -> None:
        """Take in how a request was answered."""
        if asked.shows_content:
            given = dict(answer.headers)
            named = [
                (CONDITION_HEADERS[name], given[name])
                for name in CONDITION_HEADERS
                if name in given
            ]
            self.conditions, self.unchanged_count = dict(named[:1]), 0
        elif asked.status == HTTPStatus.NOT_MODIFIED:
            self.unchanged_count += 1


class BaselineCrawler(SimulatedCrawler):
    """A policy that crawls a stage's web at an even pace; ``log`` has every request it makes."""

    def __init__(
        self, policy: Policy, stage: DemoCollection, budget_per_day: int, start: datetime
    ) -> None:
        super().__init__(policy, stage.ground_truth(), budget_per_day, start)
        self._stage = stage
        self._clock = FixedClock(start)
        self._hosts = SimulatedHosts(stage.web, self._clock, stage.origins)
        self.log = self._hosts.log
        self._host_keys = hash_names([origin.removeprefix("http://") for origin in stage.origins])
        self._closed_until = np.full(len(stage.web.hosts), -np.inf)
        self._memories = [PageValidators() for _ in stage.web.pages]

    def visit(self, now: float) -> None:
        """Let the policy choose a page, ask for it, and let the policy learn what came of it."""
        self._clock.at = from_epoch(now)
        for page in self._policy.choose(self._clock.at, 1, self._caps(now)).pages.tolist():
            place = self._stage.web_indices[page]
            asked = self._ask(place)
            seen_before = bool(self._copies.exists(_just(place))[0])
            changed = asked.shows_content and bool(self._copies.refresh(_just(place), now)[0])
            self.visits += 1
            self.changes_found += changed
            seems_changed = asked.shows_content and (changed or bool(self._truth.is_noisy[place]))
            is_look = asked.shows_content or asked.status == HTTPStatus.NOT_MODIFIED
            self._policy.learn(
                VisitTable(
                    pages=_just(page),
                    times=np.array([now]),
                    looks=np.array([is_look]),
                    measured=np.array([is_look and seen_before]),
                    changed=np.array([seems_changed and seen_before]),
                    new_links=np.array([-1], np.int32),
                )
            )

    def _ask(self, place: int) -> LoggedRequest:
        """Ask for a page as a crawl would, and note what its host wants and what it said."""
        page, memory = self._stage.web.pages[place], self._memories[place]
        answer = self._hosts.respond(page.host, "GET", page.path, memory.request_headers())
        asked = self.log.requests[-1]
        memory.update(answer, asked)
        delay = max(DELAY, self._stage.web.hosts[page.host].crawl_delay, asked.retry_after or 0.0)
        self._closed_until[page.host] = asked.time + delay
        return asked

    def _caps(self, now: float) -> HostCaps:
        """Return which hosts may be asked now."""
        return HostCaps(self._host_keys, (self._closed_until <= now).astype(np.int64))


def _just(number: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.array([number], np.int64)
