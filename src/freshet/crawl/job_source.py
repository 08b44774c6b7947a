"""Chooses the pages to fetch next, leases and books them, and makes fetch jobs of them."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import numpy as np

from freshet.archive.catalog.rows import CacheValidators, Lease
from freshet.archive.observation import Observation
from freshet.core.budget import Budget, next_midnight
from freshet.core.errors import StorageError
from freshet.core.tables import NO_VISIT_LIMIT, HostCaps
from freshet.core.types import Page, PageChoice
from freshet.crawl.bursts import BurstSampler, SamplingWindow, sample_reason
from freshet.crawl.day_budget import DayBudget
from freshet.crawl.fetch_job import (
    FetchJob,
    JobBatch,
    choice_on_request,
    job_for_page,
    unsent_observation,
    with_conditions,
)
from freshet.crawl.frontier import Frontier
from freshet.crawl.hosts import pages_within_caps
from freshet.crawl.learned_correction import LearnedCorrection
from freshet.crawl.live_policy import (
    PageLookup,
    build_live_policy,
    id_array,
    relearn_pages,
    visit_histories,
)
from freshet.crawl.policy_state import PolicyStateStore
from freshet.crawl.policy_status import PolicyReportStore
from freshet.crawl.threads.post_curves import learn_threads
from freshet.crawl.threads.post_model import LivePostModel
from freshet.record.change_criteria import reads_posts
from freshet.record.collection_store import CollectionStore
from freshet.record.fault_isolation import SYSTEM_ERRORS, describe_fault

LEASE_DURATION = timedelta(hours=1)
CLOCK_SET_BACK = timedelta(minutes=1)
LEASE_HOLDER = "crawl"
REQUESTED_PER_FREE_SLOT = 64
NO_CONDITIONS = CacheValidators(None, None)

log = logging.getLogger(__name__)


class JobSource:
    """Draws fetch jobs within the budget: samples of bursts, requested pages, and the plan.

    ``catch_up`` makes the unused budget of the day so far available at once. With ``only_pages``
    no other pages are drawn, and these only on request.
    """

    def __init__(
        self,
        collection: CollectionStore,
        *,
        budget: str = "",
        catch_up: bool = False,
        only_pages: Iterable[int] = (),
    ) -> None:
        self._clock = collection.clock
        self._catalog = collection.catalog
        self._settings = collection.settings
        self._catch_up = catch_up
        self._only_pages = frozenset(only_pages)
        self._latest_time = self._clock.now()
        self._policy_reports = PolicyReportStore(self._catalog)
        self._policy_states = PolicyStateStore(self._catalog)
        self.post_model = LivePostModel(collection.models_folder, self._latest_time)
        self.bursts = BurstSampler(self._catalog, self._settings)
        self.policy = build_live_policy(
            self._catalog,
            self._settings,
            now=self._latest_time,
            also_read=self.bursts.read_histories,
            hazard=self.post_model.hazard,
        )
        self.learned_correction = LearnedCorrection(collection)
        self.learned_correction.refresh_if_due(self.policy, self._latest_time)
        self.frontier = Frontier(self._catalog, self._settings)
        self.day_budget = DayBudget(
            self._catalog,
            Budget.parse(budget or self._settings.budget),
            lambda: self.frontier.size,
            catch_up=catch_up,
        )
        self.page_lookup = PageLookup(
            self.frontier.table_of, partial(visit_histories, self._catalog)
        )
        self._sample_jobs: list[FetchJob] = []
        self._failures: list[Observation] = []
        self._reopened_hosts: list[str] = []
        self._exploratory_pages: set[int] = set()

    def reload(self) -> None:
        """Load the changes that other processes made to pages and hosts."""
        change = self.frontier.reload()
        self._reopened_hosts += self._catalog.take_reopened_hosts()
        for pages in change.added:
            self.policy.add(pages)
            self.learned_correction.add_pages(pages)
        self.policy.forget(change.removed)
        relearn_pages(self.policy, id_array(sorted(change.restored)), self.page_lookup)
        self.learn_threads(sorted(change.restored))

    def learn_threads(self, pages: Sequence[int] | None = None) -> None:
        """Make the policy learn the posts of the threads of some pages, or of all."""
        learn_threads(self.policy, self._catalog, self.post_model.hazard, pages)

    def save_policy_if_due(self, now: datetime) -> None:
        """Refresh the learned models and store the report of the policy every hour.

        The state of the policy is stored every few hours.
        """
        self.learned_correction.refresh_if_due(self.policy, now)
        if self.post_model.refresh_if_due(now):
            self.learn_threads()
        self._policy_reports.save_if_due(self.policy, now)
        self._policy_states.save_if_due(self.policy, now)

    def save_policy(self, now: datetime) -> None:
        """Store the report of the policy, its state, and the status of the learned model."""
        self.learned_correction.save(now)
        self._policy_reports.save(self.policy, now)
        self._policy_states.save(self.policy, now)

    def draw(self, until: datetime, room: int, caps: HostCaps) -> JobBatch:
        """Lease and book the pages that are due by a time, at most ``room`` of them."""
        now = self._clock.now()
        self._check_clock(now)
        caps = self._draw_samples(now, until, room, caps)
        room = max(0, min(room - len(self._sample_jobs), self.day_budget.remaining(now)))
        paced_count = min(room, self.day_budget.allowed_until(until, now))
        unpaced_count = min(room, self.frontier.count_unpaced())
        choices = self._choose(self._start_time(now, until), paced_count, unpaced_count, caps)
        try:
            jobs = self._lease(now, choices)
        except StorageError:
            pages = [choice.page for choice in choices]
            self.policy.release(id_array(pages))
            self.frontier.mark_returned(pages, were_visited=False)
            raise
        is_full = bool(jobs) and len(jobs) == room
        is_short = len(jobs) < max(paced_count, unpaced_count)
        next_draw = now if is_full else self._next_draw(now, until, is_short=is_short)
        all_jobs, self._sample_jobs = (*self._sample_jobs, *jobs), []
        failures, self._failures = tuple(self._failures), []
        reopened_hosts, self._reopened_hosts = tuple(self._reopened_hosts), []
        return JobBatch(all_jobs, next_draw, failures, reopened_hosts)

    def return_jobs(self, jobs: Sequence[FetchJob]) -> None:
        """Release and unbook jobs whose requests were not sent."""
        for day in {job.budget_day for job in jobs}:
            pages = [job.page for job in jobs if job.budget_day == day and not job.is_sample]
            samples = [job.page for job in jobs if job.budget_day == day and job.is_sample]
            self._catalog.release_pages(
                LEASE_HOLDER, pages, day=day, exploratory_ids=self._exploratory_pages
            )
            self._exploratory_pages.difference_update(pages)
            self.bursts.return_samples(LEASE_HOLDER, samples, day)
            if day == self.day_budget.day:
                self.day_budget.reload()
            ended_samples = [page for page in samples if not self.bursts.is_in_flight(page)]
            self.frontier.mark_returned([*pages, *ended_samples], were_visited=False)
            self.policy.release(id_array(pages))

    def end_exploration(self, pages: Iterable[int]) -> int:
        """Mark exploratory pages as visited; return how many of the pages are."""
        exploratory = self._exploratory_pages.intersection(pages)
        self._exploratory_pages -= exploratory
        return len(exploratory)

    def _check_clock(self, now: datetime) -> None:
        """Build the policy again if the clock was set back, so that no page waits for that time.

        The new policy does not know which pages are in flight.
        """
        if now < self._latest_time - CLOCK_SET_BACK:
            self._policy_reports.save(self.policy, now)
            self.policy = build_live_policy(
                self._catalog, self._settings, now=now, hazard=self.post_model.hazard
            )
            self.learned_correction.refresh(self.policy, now)
        self._latest_time = now

    def _draw_samples(self, now: datetime, until: datetime, room: int, caps: HostCaps) -> HostCaps:
        """Lease and book the burst samples that are due; return the room that they leave at hosts.

        The samples stay ready if drawing the other pages fails. A crawl that ends when it has
        caught up starts no bursts, because it would leave them unfinished.
        """
        pace = self.day_budget.pace(now)
        room = min(room, self.day_budget.remaining(now))
        if self._only_pages or self._catch_up:
            return caps
        window = SamplingWindow(now, until, pace.total, self.day_budget.spending_since)
        due_samples = self.bursts.due_samples(
            window, room, lambda page: self.frontier.is_available(page, now)
        )
        if not due_samples:
            return caps
        pages_with_room, caps = self._within_caps([s.page for s in due_samples], room, caps)
        lease = Lease(0, LEASE_HOLDER, now, now + LEASE_DURATION)
        samples = self.bursts.lease_samples(
            [sample for sample in due_samples if sample.page in pages_with_room],
            lease,
            self.day_budget.day,
        )
        ids = [sample.page for sample in samples]
        pages, overrides = self._catalog.pages_by_id(ids), self._catalog.setting_overrides(ids)
        requests = sum(sample.request_count for sample in samples)
        self.day_budget.spent += requests
        for sample in (sample for sample in samples if sample.page in pages):
            page = pages[sample.page]
            with self._record_fault(page, now, sample.request_count):
                settings = self._settings.for_page(*overrides.get(page.id, ()))
                start = self.bursts.start_time(sample, now)
                reason = sample_reason(sample)
                job = job_for_page(page, start, self.day_budget.day, settings, reason)
                self._sample_jobs += [replace(job, is_sample=True)] * sample.request_count
        self.frontier.mark_in_flight(ids)
        self.day_budget.skip_in_pace(requests, now)
        return caps

    def _start_time(self, now: datetime, until: datetime) -> datetime:
        """Return when the next paced job starts: its page is chosen for that time.

        Jobs are drawn ahead by a fraction of a second, which is hours on a fast clock.
        """
        due_time = self.day_budget.pace(now).due_time(self.day_budget.spent)
        return max(now, min(due_time, until))

    def _choose(
        self, now: datetime, paced_count: int, unpaced_count: int, caps: HostCaps
    ) -> list[PageChoice]:
        """Choose the requested pages, the pages never visited, then those of the highest value.

        Only the last kind waits for the pace of the budget; choices beyond the pace are released.
        """
        count = max(paced_count, unpaced_count)
        requested = self.frontier.requested(REQUESTED_PER_FREE_SLOT * count)
        requested, caps = self._within_caps(requested, count, caps)
        if self._only_pages:
            return [choice_on_request(page) for page in requested if page in self._only_pages]
        if count <= 0:
            return []
        # The policy does not know all pages in flight, such as requested pages and samples.
        in_flight = [*self.frontier.requested(NO_VISIT_LIMIT), *self.frontier.in_flight]
        excluded = np.union1d(self.frontier.barred_pages(now), id_array(in_flight))
        choices = list(
            self.policy.choose(now, count - len(requested), replace(caps, excluded_pages=excluded))
        )
        unpaced = [choice for choice in choices if self.frontier.is_unpaced(choice.page)]
        paced = [choice for choice in choices if not self.frontier.is_unpaced(choice.page)]
        paced_room = max(0, paced_count - len(requested) - len(unpaced))
        self.policy.release(id_array(choice.page for choice in paced[paced_room:]))
        return [*map(choice_on_request, requested), *unpaced, *paced[:paced_room]]

    def _within_caps(
        self, ids: Sequence[int], count: int, caps: HostCaps
    ) -> tuple[list[int], HostCaps]:
        """Return the first pages whose hosts have room, and the room that they leave."""
        pages = self._catalog.pages_by_id(ids)
        hosts = {page: pages[page].host for page in ids if page in pages}
        return pages_within_caps(hosts, count, caps)

    def _lease(self, now: datetime, choices: Sequence[PageChoice]) -> list[FetchJob]:
        """Lease and book chosen pages; the pace of the budget sets the start of each job."""
        reasons = {choice.page: choice.reason for choice in choices}
        exploratory = {choice.page for choice in choices if choice.is_exploratory}
        day = self.day_budget.day
        leased = self._catalog.lease_pages(
            LEASE_HOLDER,
            list(reasons),
            now,
            now + LEASE_DURATION,
            day=day,
            exploratory_ids=exploratory,
        )
        self._exploratory_pages |= exploratory.intersection(leased)
        self.policy.release(id_array(reasons.keys() - set(leased)))
        self.frontier.mark_in_flight(leased)
        pages = self._catalog.pages_by_id(leased)
        overrides = self._catalog.setting_overrides(leased)
        validators = self._catalog.cache_validators(leased)
        examined = self._catalog.pages_with_thread_notes(leased)
        jobs = []
        for number, page in enumerate(leased, self.day_budget.spent):
            if page not in pages:
                continue
            with self._record_fault(pages[page], now):
                settings = self._settings.for_page(*overrides.get(page, ()))
                pace = self.day_budget.pace(now)
                start = now if self.frontier.is_unpaced(page) else pace.due_time(number)
                job = job_for_page(pages[page], start, day, settings, reasons[page])
                conditions = validators.get(page, NO_CONDITIONS)
                if page not in examined and reads_posts(settings.thread, self._settings):
                    # The answer "not modified" would show no posts.
                    conditions = NO_CONDITIONS
                jobs.append(with_conditions(job, conditions, self._settings.network.audit_every))
        self.day_budget.spent += len(leased)
        if any(map(self.frontier.is_unpaced, leased)):
            self.day_budget.restart_pace(now)
        return jobs

    @contextmanager
    def _record_fault(self, page: Page, now: datetime, request_count: int = 1) -> Iterator[None]:
        """Turn a fault while a page's job is made into failed visits of that page."""
        try:
            yield
        except SYSTEM_ERRORS:
            raise
        except Exception as error:
            log.exception("%s: preparing its request failed", page.url)
            why = describe_fault(error, "while its request was prepared")
            self._failures += [
                unsent_observation(page.id, page.url, self.day_budget.day, why, now)
                for _ in range(request_count)
            ]

    def _next_draw(self, now: datetime, until: datetime, *, is_short: bool) -> datetime | None:
        """Return when to draw again by pace and bursts; None if hosts had no room for pages."""
        pace = self.day_budget.pace(now)
        if self.day_budget.spent >= pace.total:
            return next_midnight(now)
        next_sample = self.bursts.next_due(SamplingWindow(now, until, pace.total))
        next_page = pace.due_time(self.day_budget.spent)
        return None if is_short else min(next_page, next_sample or next_page)
