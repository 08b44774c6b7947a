"""Restarts of a simulated live crawl: how many of the next choices are those of before.

A crawl of some pages of a trace chooses a page at a time, and its visits end some seconds later. At
random days it is compared with a policy that continues from the stored state, after an orderly end
and after a kill, and with one that learns the history again.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from freshet.backtest.continuous.ground_truth import GroundTruth, ground_truth_of_trace
from freshet.backtest.trace_formats.open_trace import open_trace
from freshet.core.clock import from_epoch, monotonic_seconds
from freshet.core.policy import RefittingPolicy, ReportingPolicy
from freshet.core.tables import DAY_SECONDS, HostCaps, PageTable, VisitTable, concatenate_tables
from freshet.crawl.history_replay import replay_visits
from freshet.crawl.policy_state import (
    STATE_INTERVAL,
    StoredPolicyState,
    decode_state,
    encode_state,
    restore_policy,
)
from freshet.schedule.policies import make_policy

POLICIES = ("guarded-changes", "guarded-freshness")
FIRST_DAY, LAST_DAY, RESTARTS = 5.0, 88.0, 6
NEXT_CHOICES = 40
LONGEST_FETCH_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class RestartRow:
    """A restart: the share of the next choices that are those of before, and the seconds taken."""

    policy: str
    day: float
    after_end: float
    after_kill: float
    after_replay: float
    resume_seconds: float
    replay_seconds: float


class LiveLikeCrawl:
    """A crawl that visits pages one by one at an even pace, from nothing known."""

    def __init__(self, name: str, truth: GroundTruth, visits_per_day: float, seed: int) -> None:
        self.name = name
        self.pages = replace(truth.pages, known_since=np.full(len(truth.pages), np.nan))
        self.visits: list[VisitTable] = []
        self.now = 0.0
        self.stored = ("", 0)
        self._truth, self._rng = truth, np.random.default_rng(seed)
        self._gap_seconds = DAY_SECONDS / visits_per_day
        self._last_looks = np.full(len(truth.pages), np.nan)
        self.policy = self.new_policy()
        self.policy.add(self.pages)

    def new_policy(self) -> RefittingPolicy:
        """Return a policy without pages."""
        policy = make_policy(self.name, live=True)
        assert isinstance(policy, RefittingPolicy)
        return policy

    def advance(self, day: float) -> None:
        """Crawl up to a day, and store the state of the policy every few hours."""
        while self.now < day * DAY_SECONDS:
            if self.now % STATE_INTERVAL.total_seconds() < self._gap_seconds:
                self.stored = (self.encoded_state(), len(self.visits))
            for page in self.policy.choose(from_epoch(self.now), 1, HostCaps()).pages.tolist():
                self.visits.append(self._visit(page))
                self.policy.learn(self.visits[-1])
            self.now += self._gap_seconds

    def encoded_state(self) -> str:
        """Return the state of the policy as a crawl stores it."""
        stored = StoredPolicyState(from_epoch(self.now), 0, self.policy.state())
        return encode_state(self.name, stored)

    def _visit(self, page: int) -> VisitTable:
        index = int(np.flatnonzero(self.pages.ids == page)[0])
        time = self.now + self._rng.uniform(0.2, LONGEST_FETCH_SECONDS)
        last_look, self._last_looks[index] = self._last_looks[index], time
        times = self._truth.times[self._truth.starts[index] : self._truth.starts[index + 1]]
        changed = bool(np.any((times > last_look) & (times <= time)))
        flags = (np.array([flag]) for flag in (True, not np.isnan(last_look), changed))
        return VisitTable(np.array([page]), np.array([time]), *flags, np.array([-1], np.int32))


def restart_rows(truth: GroundTruth, share: float, seed: int) -> Iterator[RestartRow]:
    """Yield the restarts of crawls that visit a share of the pages each day."""
    days = np.sort(np.random.default_rng(seed).uniform(FIRST_DAY, LAST_DAY, RESTARTS)).tolist()
    for name in POLICIES:
        crawl = LiveLikeCrawl(name, truth, share * len(truth.pages), seed)
        for day in days:
            crawl.advance(day)
            yield _restart(crawl, day)


def _restart(crawl: LiveLikeCrawl, day: float) -> RestartRow:
    ended = _resumed(crawl, crawl.encoded_state(), len(crawl.visits))
    start = monotonic_seconds()
    resumed = _resumed(crawl, *crawl.stored)
    resume_seconds = monotonic_seconds() - start
    start = monotonic_seconds()
    replayed = crawl.new_policy()
    replayed.add(crawl.pages)
    _replay(replayed, crawl.visits)
    replay_seconds = monotonic_seconds() - start
    assert isinstance(crawl.policy, ReportingPolicy)
    assert isinstance(replayed, ReportingPolicy)
    replayed.resume(crawl.policy.report())
    live = crawl.new_policy()
    live.restore(crawl.policy.state())
    before = _next_choices(crawl, live)
    after_end, after_kill, after_replay = (
        len(np.intersect1d(before, _next_choices(crawl, policy))) / len(before)
        for policy in (ended, resumed, replayed)
    )
    return RestartRow(
        crawl.name, day, after_end, after_kill, after_replay, resume_seconds, replay_seconds
    )


def _resumed(crawl: LiveLikeCrawl, state: str, visit_count: int) -> RefittingPolicy:
    policy, stored = crawl.new_policy(), decode_state(crawl.name, state)
    assert stored is not None
    restore_policy(policy, stored, crawl.pages)
    if visit_count < len(crawl.visits):
        _replay(policy, crawl.visits[visit_count:])
    return policy


def _replay(policy: RefittingPolicy, visits: Sequence[VisitTable]) -> None:
    page_count = len(policy.state()["ids"])
    replay_visits(
        policy, concatenate_tables(visits), page_count, lambda step, _: policy.learn(step)
    )


def _next_choices(crawl: LiveLikeCrawl, policy: RefittingPolicy) -> Sequence[int]:
    pages: list[int] = policy.choose(from_epoch(crawl.now), NEXT_CHOICES, HostCaps()).pages.tolist()
    return pages


def select_pages(truth: GroundTruth, count: int, seed: int) -> GroundTruth:
    """Return a truth of pages drawn at random."""
    drawn = np.random.default_rng(seed).permutation(len(truth.pages))[:count]
    pages = PageTable(*(getattr(truth.pages, column.name)[drawn] for column in fields(PageTable)))
    times = [truth.times[truth.starts[index] : truth.starts[index + 1]] for index in drawn]
    starts = np.concatenate([[0], np.cumsum([len(page_times) for page_times in times])])
    return GroundTruth(pages, starts, np.concatenate(times), truth.is_noisy[drawn])


def main() -> None:
    """Write a line for each restart."""
    parser = argparse.ArgumentParser(prog="python -m experiments.wild.restart")
    parser.add_argument("trace", type=Path)
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--budget", type=float, default=0.10, help="share of the pages per day")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    trace = open_trace(options.trace)
    for seed in range(1, options.seeds + 1):
        truth = select_pages(ground_truth_of_trace(trace, seed=seed), options.pages, seed)
        for row in restart_rows(truth, options.budget, seed):
            sys.stdout.write(
                f"{row.policy} day {row.day:.0f}: end {row.after_end:.0%}, "
                f"kill {row.after_kill:.0%} in {row.resume_seconds:.2f} s, "
                f"replay {row.after_replay:.0%} in {row.replay_seconds:.2f} s\n"
            )


if __name__ == "__main__":
    main()
