"""A simulated crawl by another policy that sends the same requests to the same hosts as Freshet.

It has the same budget and obeys delays and Retry-After. It makes conditional requests with audits
and meets the same errors, wrong validators and noise. Only its selection of pages differs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus

import numpy as np

from freshet.backtest.continuous.crawler import SimulatedCrawler
from freshet.core.clock import FixedClock, from_epoch
from freshet.core.policy import Policy
from freshet.core.tables import HostCaps, VisitTable, hash_names
from freshet.demo.demo_collection import AUDIT_EVERY, DELAY, DemoCollection
from freshet.demo.hosts import HostResponse, LoggedRequest, SimulatedHosts

CONDITION_HEADERS = {"ETag": "if-none-match", "Last-Modified": "if-modified-since"}


@dataclass(slots=True)
class PageValidators:
    """Validators of a page's last content, and the number of 304 responses since then."""

    conditions: Mapping[str, str] = field(default_factory=dict)
    unchanged_count: int = 0

    def request_headers(self) -> Mapping[str, str]:
        """Return the conditional headers to send; none when an audit is due."""
        return self.conditions if self.unchanged_count < AUDIT_EVERY else {}

    def update(self, response: HostResponse, request: LoggedRequest) -> None:
        """Update with the response to a request."""
        if request.shows_content:
            headers = dict(response.headers)
            conditions = [
                (CONDITION_HEADERS[name], headers[name])
                for name in CONDITION_HEADERS
                if name in headers
            ]
            self.conditions, self.unchanged_count = dict(conditions[:1]), 0
        elif request.status == HTTPStatus.NOT_MODIFIED:
            self.unchanged_count += 1


class BaselineCrawler(SimulatedCrawler):
    """A policy that crawls the demo's web at an even pace; ``log`` holds every request it makes."""

    def __init__(
        self, policy: Policy, demo_collection: DemoCollection, budget_per_day: int, start: datetime
    ) -> None:
        super().__init__(policy, demo_collection.ground_truth(), budget_per_day, start)
        self._demo_collection = demo_collection
        self._clock = FixedClock(start)
        self._hosts = SimulatedHosts(demo_collection.web, self._clock, demo_collection.origins)
        self.log = self._hosts.log
        self._host_keys = hash_names([
            origin.removeprefix("http://") for origin in demo_collection.origins
        ])
        self._closed_until = np.full(len(demo_collection.web.hosts), -np.inf)
        self._validators = [PageValidators() for _ in demo_collection.web.pages]

    def visit(self, now: float) -> None:
        """Let the policy select a page, request it, and let the policy learn the result."""
        self._clock.at = from_epoch(now)
        for page in self._policy.choose(self._clock.at, 1, self._caps(now)).pages.tolist():
            web_index = self._demo_collection.web_indices[page]
            request = self._request(web_index)
            has_copy = bool(self._copies.exists(_as_array(web_index))[0])
            was_stale = request.shows_content and bool(
                self._copies.refresh(_as_array(web_index), now)[0]
            )
            self.visits += 1
            self.changes_found += was_stale
            seems_changed = request.shows_content and (
                was_stale or bool(self._truth.is_noisy[web_index])
            )
            is_look = request.shows_content or request.status == HTTPStatus.NOT_MODIFIED
            self._policy.learn(
                VisitTable(
                    pages=_as_array(page),
                    times=np.array([now]),
                    looks=np.array([is_look]),
                    measured=np.array([is_look and has_copy]),
                    changed=np.array([seems_changed and has_copy]),
                    new_links=np.array([-1], np.int32),
                )
            )

    def _request(self, web_index: int) -> LoggedRequest:
        """Request a page as a crawl would, and update its validators and the host's delay."""
        page, validators = self._demo_collection.web.pages[web_index], self._validators[web_index]
        response = self._hosts.respond(page.host, "GET", page.path, validators.request_headers())
        request = self.log.requests[-1]
        validators.update(response, request)
        delay = max(
            DELAY,
            self._demo_collection.web.hosts[page.host].crawl_delay,
            request.retry_after or 0.0,
        )
        self._closed_until[page.host] = request.time + delay
        return request

    def _caps(self, now: float) -> HostCaps:
        """Return which hosts may get a request now."""
        return HostCaps(self._host_keys, (self._closed_until <= now).astype(np.int64))


def _as_array(number: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.array([number], np.int64)
