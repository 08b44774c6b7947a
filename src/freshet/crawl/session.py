"""The live crawl, without the network: which pages to fetch now, and what came of them.

No request goes out before it is booked in the day's spending, so a kill never lets a day exceed its
budget. Pages that are out being fetched are leased; recording a visit ends its page's lease. All of
this runs in one thread, beside the one that fetches; the two exchange only values.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import numpy as np

from freshet.archive.catalog.rows import CacheValidators, HostState, Lease
from freshet.core.budget import Budget, next_midnight, utc_day
from freshet.core.errors import StorageError
from freshet.core.tables import NO_VISIT_LIMIT, HostCaps
from freshet.core.types import Page, PageChoice, PageKey
from freshet.crawl.budget_status import add_lost_requests, save_crawl_start
from freshet.crawl.bursts import BurstSampler, SamplingWindow, sample_reason
from freshet.crawl.day_budget import DayBudget
from freshet.crawl.fetch_job import (
    CrawlStartState,
    DaySpending,
    FetchJob,
    FetchResult,
    JobBatch,
    choice_on_request,
    job_for_page,
    unsent_result,
    with_conditions,
)
from freshet.crawl.frontier import Frontier
from freshet.crawl.hosts import pages_within_caps
from freshet.crawl.live_policy import (
    PageLookup,
    build_live_policy,
    id_array,
    learn_visits,
    relearn_pages,
    visit_histories,
    visit_table,
)
from freshet.crawl.noise import NoiseLearner
from freshet.record.fault_isolation import SYSTEM_ERRORS, describe_fault
from freshet.record.recorder import RecordedBatch, RecordedVisit, Recorder
from freshet.record.store import CollectionStore
from freshet.view.url import canonical_url

LEASE_DURATION = timedelta(hours=1)
CLOCK_SET_BACK = timedelta(minutes=1)
LEASE_HOLDER = "crawl"
REQUESTED_PER_FREE_SLOT = 64
DEATH_NOTE = "crawl found dead"
NO_CONDITIONS = CacheValidators(None, None)

log = logging.getLogger(__name__)


class CrawlSession:
    """Draws errands from the plan within the budget, and records what they bring.

    ``catch_up`` makes what the day so far has not used available at once; ``once`` visits no page
    twice, so that the crawl comes to an end; ``only`` leaves every page alone but some that were
    asked for.
    """

    def __init__(
        self,
        collection: CollectionStore,
        recorder: Recorder,
        *,
        budget: str = "",
        catch_up: bool = False,
        once: bool = False,
        only: Iterable[int] = (),
    ) -> None:
        self._clock = collection.clock
        self._catalog = collection.catalog
        self._recorder = recorder
        self._settings = collection.settings
        self._catch_up = catch_up
        self._once = once
        self._only = frozenset(only)
        self._latest = self._clock.now()
        self._rounds = BurstSampler(self._catalog, self._settings)
        self.policy = build_live_policy(
            self._catalog, self._settings, now=self._latest, also_read=self._rounds.read_histories
        )
        self._roll = Frontier(collection.catalog, collection.settings)
        self._noise = NoiseLearner(collection)
        self._today = DayBudget(
            self._catalog,
            Budget.parse(budget or collection.settings.budget),
            lambda: self._roll.size,
            catch_up=catch_up,
        )
        self._learnt: list[RecordedVisit] = []
        self._ready: list[FetchJob] = []
        self._failed: list[FetchResult] = []
        self._lookup = PageLookup(self._roll.table_of, partial(visit_histories, self._catalog))
        self._reopened: list[str] = []

    def start(self) -> CrawlStartState:
        """Take back what a dead crawl held, and return what is kept of hosts.

        Hosts without pages that may be asked again are forgotten before any of them is read.
        """
        now = self._clock.now()
        save_crawl_start(self._catalog, now)
        samples = self._rounds.resume(now)
        if held := self._catalog.leases():
            self._catalog.write_note(DEATH_NOTE, now.isoformat())
            self._catalog.release_all_pages()
            today = [lease.page for lease in held if utc_day(lease.start) == utc_day(now)]
            add_lost_requests(
                self._catalog, utc_day(now), sum(samples.get(page, 1) for page in today)
            )
        self._roll.reload()
        died = self._catalog.read_note(DEATH_NOTE)
        reopened = map(self._catalog.host_state, self._catalog.take_reopened_hosts())
        self._keep([state.without_backoff() for state in reopened if state is not None])
        idle = self._catalog.hosts_without_pages(idle_by=now)
        self._catalog.set_host_states([HostState(host) for host in idle])
        return CrawlStartState(
            tuple(self._catalog.host_states()),
            datetime.fromisoformat(died) if died else None,
            frozenset(self._catalog.hosts_without_pages()),
        )

    def draw_jobs(
        self, until: datetime, room: int, caps: HostCaps, hosts: Sequence[HostState]
    ) -> JobBatch:
        """Lease and book the pages that are due by a time, as many as there is room for."""
        self._keep(hosts)
        self._take_up()
        now = self._clock.now()
        self._keep_time(now)
        caps = self._sample(now, until, room, caps)
        room = max(0, min(room - len(self._ready), self._today.remaining(now)))
        paced = min(room, self._today.allowed_until(until, now))
        eager = min(room, self._roll.count_unpaced())
        chosen = self._choose(now, paced, eager, caps)
        try:
            errands = self._errands(now, chosen)
        except StorageError:
            pages = [choice.page for choice in chosen]
            self.policy.release(id_array(pages))
            self._roll.mark_returned(pages, were_visited=False)
            raise
        is_full = bool(errands) and len(errands) == room
        again = now if is_full else self._again(now, until, len(errands) < max(paced, eager))
        drawn, self._ready = (*self._ready, *errands), []
        failed, self._failed = tuple(self._failed), []
        reopened, self._reopened = tuple(self._reopened), []
        return JobBatch(drawn, again, failed, reopened)

    def book_requests(self, requests: int, hosts: Sequence[HostState] = ()) -> bool:
        """Book further requests of errands that are out; False where the day has none left."""
        self._keep(hosts)
        now = self._clock.now()
        return requests <= self._today.remaining(now) and bool(self._today.book(requests, now))

    def book_up_to(self, requests: int, hosts: Sequence[HostState] = ()) -> int:
        """Book requests of others' spiders, as many as the day has left; return how many."""
        self._keep(hosts)
        return self._today.book(requests, self._clock.now())

    def return_requests(self, requests: int, hosts: Sequence[HostState] = ()) -> None:
        """Take back bookings of today whose requests did not go out."""
        self._keep(hosts)
        self._today.add(-requests, self._clock.now())

    def claim_urls(self, urls: Sequence[str], hosts: Sequence[HostState] = ()) -> None:
        """Draw no pages that others' spiders are about to fetch themselves."""
        self._keep(hosts)
        names = (canonical_url(url) for url in urls)
        ids = self._catalog.page_ids([PageKey(name) for name in names if name])
        self._roll.mark_in_flight(ids.values())

    def book_unbudgeted(self, requests: int, hosts: Sequence[HostState] = ()) -> None:
        """Count requests that the budget does not: for robots.txt and sitemaps."""
        self._keep(hosts)
        self._catalog.book_requests(utc_day(self._clock.now()), 0, requests)

    def record_results(
        self, results: Sequence[FetchResult], hosts: Sequence[HostState]
    ) -> list[RecordedVisit]:
        """Record what came of requests, and learn from it.

        Where this fails after they were recorded, it is done with when it is tried again.
        """
        self._keep(hosts)
        taken = self._recorder.record([item.observation for item in results])
        self._learnt += taken.recorded_visits
        visited = [visit.page for visit, _ in self._learnt]
        if not all(map(self._roll.contains, visited)):
            self._take_in()
        anew = self._look_for_noise(visited)
        rounds = self._rounds.keep_progress(self._learnt, anew)
        self._settle(results)
        self._rounds.apply_progress(rounds, self._learnt, self._clock.now())
        back = [*visited, *(item.page for item in results)]
        ended = [page for page in back if not self._rounds.is_in_flight(page)]
        self._roll.mark_returned(ended, were_visited=True, is_last=self._once)
        self._return_unrecorded(results, taken)
        found = [item for item in self._learnt if item[0].page not in anew]
        learn_visits(self.policy, visit_table(found), self._lookup)
        relearn_pages(
            self.policy, id_array(sorted(filter(self._roll.contains, anew))), self._lookup
        )
        learnt, self._learnt = self._learnt, []
        return learnt

    def _return_unrecorded(self, fetched: Sequence[FetchResult], taken: RecordedBatch) -> None:
        """End the leases of pages of which not even a failed visit could be recorded.

        To the policy they stay out, so that this crawl leaves them alone.
        """
        lost = {arrival.uid for arrival in taken.unusable}
        if lost:
            self._catalog.release_pages(
                LEASE_HOLDER, [i.page for i in fetched if i.observation.uid in lost]
            )

    def _look_for_noise(self, visited: Sequence[int]) -> frozenset[int]:
        """Learn masks from what visits brought; return the pages that are measured anew by them."""
        sampled = filter(self._rounds.is_in_flight, visited)
        anew = self._noise.learn_from(self._learnt, frozenset(sampled))
        if anew:
            self._recorder.discard_states(anew)
            self._learnt = self._noise.with_current_changes(self._learnt, anew)
        return anew

    def return_jobs(self, jobs: Sequence[FetchJob], hosts: Sequence[HostState] = ()) -> None:
        """Take back errands whose requests never went out."""
        self._keep(hosts)
        for day in {errand.budget_day for errand in jobs}:
            pages = [e.page for e in jobs if e.budget_day == day and not e.is_sample]
            samples = [e.page for e in jobs if e.budget_day == day and e.is_sample]
            self._catalog.release_pages(LEASE_HOLDER, pages, day=day)
            self._rounds.return_samples(LEASE_HOLDER, samples, day)
            if day == self._today.day:
                self._today.reload()
            back = [*pages, *(page for page in samples if not self._rounds.is_in_flight(page))]
            self._roll.mark_returned(back, were_visited=False)
            self.policy.release(id_array(pages))

    def day_spending(self) -> DaySpending:
        """Return the day's budget and what is spent of it."""
        today, total = self._today, self._today.pace(self._clock.now()).total
        apart = self._catalog.spending(today.day).other_requests
        return DaySpending(today.day, today.spent, total, apart, self._roll.size)

    def release_all(self) -> None:
        """Give back every page that is still held."""
        self._catalog.release_pages(LEASE_HOLDER)

    def _keep(self, hosts: Sequence[HostState]) -> None:
        """Keep what is new of hosts: before anything else, so that a crash makes none impolite."""
        if hosts:
            self._catalog.set_host_states(hosts)

    def _keep_time(self, now: datetime) -> None:
        """Learn everything anew where the clock was set back, so that no page waits for its return.

        What is out then is unknown to the new policy.
        """
        if now < self._latest - CLOCK_SET_BACK:
            self.policy = build_live_policy(self._catalog, self._settings, now=now)
        self._latest = now

    def _take_up(self) -> None:
        """Take in what other processes changed: pages, pauses, wishes, settings, hosts."""
        if self._roll.is_stale():
            self._take_in()
            self._recorder.clear_cache()

    def _take_in(self) -> None:
        change = self._roll.reload()
        self._reopened += self._catalog.take_reopened_hosts()
        for pages in change.added:
            self.policy.add(pages)
        self.policy.forget(change.removed)
        relearn_pages(self.policy, id_array(sorted(change.restored)), self._lookup)

    def _settle(self, fetched: Sequence[FetchResult]) -> None:
        """Book requests of others' spiders, and give back those that never went out."""
        now = self._clock.now()
        today = utc_day(now)
        unasked = [item.page for item in fetched if not item.was_sent and item.budget_day == today]
        others = sum(item.was_sent and not item.budget_day for item in fetched)
        samples = sum(map(self._rounds.is_in_flight, unasked))
        if unasked or others:
            self._today.add(others - len(unasked), now, samples=-samples)
            self._rounds.unspend(samples)

    def _choose(self, now: datetime, paced: int, eager: int, caps: HostCaps) -> list[PageChoice]:
        """Choose the pages that someone asked for, those never seen, then those worth most.

        Only the last wait for the pace: what was chosen beyond it is let go again. The policy does
        not know of all that is out, such as pages asked for and samples.
        """
        k = max(paced, eager)
        asked, caps = self._welcome(self._roll.requested(REQUESTED_PER_FREE_SLOT * k), k, caps)
        if self._only:
            return [choice_on_request(page) for page in asked if page in self._only]
        if k <= 0:
            return []
        away = [*self._roll.requested(NO_VISIT_LIMIT), *self._roll.in_flight]
        barred = np.union1d(self._roll.barred_pages(now), id_array(away))
        found = list(self.policy.choose(now, k - len(asked), replace(caps, excluded_pages=barred)))
        first = [choice for choice in found if self._roll.is_unpaced(choice.page)]
        rest = [choice for choice in found if not self._roll.is_unpaced(choice.page)]
        room = max(0, paced - len(asked) - len(first))
        self.policy.release(id_array(choice.page for choice in rest[room:]))
        return [*map(choice_on_request, asked), *first, *rest[:room]]

    def _welcome(self, asked: Sequence[int], k: int, caps: HostCaps) -> tuple[list[int], HostCaps]:
        """Return k pages asked for whose hosts have room, and the room that they leave."""
        pages = self._catalog.pages_by_id(asked)
        return pages_within_caps(
            {page: pages[page].host for page in asked if page in pages}, k, caps
        )

    def _sample(self, now: datetime, until: datetime, room: int, caps: HostCaps) -> HostCaps:
        """Lease and book the samples that are due; they are ready from here on.

        Return the room that they leave at hosts. Where the rest cannot be drawn they stay ready.
        A crawl that ends when it has caught up would leave rounds unfinished, so it begins none.
        """
        pace = self._today.pace(now)
        room = min(room, self._today.remaining(now))
        if self._only or self._catch_up:
            return caps
        moment = SamplingWindow(now, until, pace.total, self._today.spending_since)
        due = self._rounds.due_samples(
            moment, room, lambda page: self._roll.is_available(page, now)
        )
        if not due:
            return caps
        chosen, caps = self._welcome([sampling.page for sampling in due], room, caps)
        lease = Lease(0, LEASE_HOLDER, now, now + LEASE_DURATION)
        sent = self._rounds.lease_samples(
            [s for s in due if s.page in chosen], lease, self._today.day
        )
        held = [sampling.page for sampling in sent]
        pages, overrides = self._catalog.pages_by_id(held), self._catalog.setting_overrides(held)
        requests = sum(sampling.request_count for sampling in sent)
        self._today.spent += requests
        for sampling in (sampling for sampling in sent if sampling.page in pages):
            with self._failing(pages[sampling.page], now, sampling.request_count):
                settings = self._settings.for_page(*overrides.get(sampling.page, ()))
                start = self._rounds.start_time(sampling, now)
                errand = job_for_page(
                    pages[sampling.page], start, self._today.day, settings, sample_reason(sampling)
                )
                self._ready += [replace(errand, is_sample=True)] * sampling.request_count
        self._roll.mark_in_flight(held)
        self._today.skip_in_pace(requests, now)
        return caps

    def _errands(self, now: datetime, chosen: Sequence[PageChoice]) -> list[FetchJob]:
        """Lease and book chosen pages; each is due when the pace comes to it."""
        reasons = {choice.page: choice.reason for choice in chosen}
        held = self._catalog.lease_pages(
            LEASE_HOLDER, list(reasons), now, now + LEASE_DURATION, day=self._today.day
        )
        self.policy.release(id_array(reasons.keys() - set(held)))
        self._roll.mark_in_flight(held)
        pages, overrides = self._catalog.pages_by_id(held), self._catalog.setting_overrides(held)
        conditions = self._catalog.cache_validators(held)
        errands = []
        for number, page in enumerate(held, self._today.spent):
            if page not in pages:
                continue
            with self._failing(pages[page], now):
                settings = self._settings.for_page(*overrides.get(page, ()))
                start = (
                    now if self._roll.is_unpaced(page) else self._today.pace(now).due_time(number)
                )
                errand = job_for_page(pages[page], start, self._today.day, settings, reasons[page])
                known = conditions.get(page, NO_CONDITIONS)
                errands.append(with_conditions(errand, known, self._settings.network.audit_every))
        self._today.spent += len(held)
        if any(map(self._roll.is_unpaced, held)):
            self._today.restart_pace(now)
        return errands

    @contextmanager
    def _failing(self, page: Page, now: datetime, times: int = 1) -> Iterator[None]:
        """Let a page of which no errand can be made fail; its requests are given back."""
        try:
            yield
        except SYSTEM_ERRORS:
            raise
        except Exception as error:
            log.exception("%s: preparing its request failed", page.url)
            why = describe_fault(error, "while its request was prepared")
            self._failed += [unsent_result(page, self._today.day, why, now) for _ in range(times)]

    def _again(self, now: datetime, until: datetime, is_short: bool) -> datetime | None:
        """Return when to draw again by pace and rounds; None where hosts kept pages back."""
        pace = self._today.pace(now)
        if self._today.spent >= pace.total:
            return next_midnight(now)
        sample = self._rounds.next_due(SamplingWindow(now, until, pace.total))
        due = pace.due_time(self._today.spent)
        return None if is_short else min(due, sample or due)
