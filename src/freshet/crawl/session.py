"""The live crawl without the network: jobs are drawn, and their observations recorded.

No request is sent before it is booked in the day's spending, so a kill never makes a day exceed
its budget. Pages in flight are leased; recording a visit ends its page's lease. All of this runs in
one thread, beside the one that fetches; the two exchange only values.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from freshet.archive.catalog.rows import HostState
from freshet.archive.observation import Observation
from freshet.core.budget import utc_day
from freshet.core.policy import Policy
from freshet.core.tables import HostCaps
from freshet.core.types import PageKey
from freshet.crawl.budget_status import add_lost_requests, save_crawl_start
from freshet.crawl.fetch_job import CrawlDaySpending, CrawlStartState, FetchJob, JobBatch
from freshet.crawl.follow import FollowedPages, LinkFollower
from freshet.crawl.job_source import LEASE_HOLDER, JobSource
from freshet.crawl.live_policy import (
    id_array,
    learn_page_links,
    learn_visits,
    relearn_pages,
    visit_table,
)
from freshet.crawl.noise import NoiseLearner
from freshet.crawl.threads.thread_pages import add_next_pages
from freshet.record.collection_store import CollectionStore
from freshet.record.recorder import RecordedVisit, Recorder
from freshet.view.url import canonical_url

KILLED_CRAWL_NOTE = "crawl found dead"


class CrawlSession:
    """Draws fetch jobs within the budget, and records their observations.

    ``catch_up`` makes the unused budget of the day so far available at once. With ``once`` no page
    is visited twice, so that the crawl ends. With ``only`` no other pages are visited, and these
    only on request.
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
        self._collection = collection
        self._clock = collection.clock
        self._catalog = collection.catalog
        self._recorder = recorder
        self._once = once
        only = frozenset(only)
        self.jobs = JobSource(collection, budget=budget, catch_up=catch_up, only_pages=only)
        self._noise = NoiseLearner(collection)
        # A crawl of some pages only follows no links; the next crawl does.
        self._follower = None if only else LinkFollower(self._catalog, collection.settings)
        # Recorded visits that were not processed yet because an error came after recording.
        self._unprocessed: list[RecordedVisit] = []

    @property
    def policy(self) -> Policy:
        """Return the policy that chooses pages."""
        return self.jobs.policy

    def start(self) -> CrawlStartState:
        """Release the leases of a killed crawl, and return the saved host states.

        Hosts without pages that may be asked again are deleted before the states are read.
        """
        now = self._clock.now()
        save_crawl_start(self._catalog, now)
        if self._follower is not None:
            self._collection.save_crawl_objective()
        sample_requests = self.jobs.bursts.resume(now)
        if leases := self._catalog.leases():
            self._catalog.write_note(KILLED_CRAWL_NOTE, now.isoformat())
            self._catalog.release_all_pages()
            pages = [lease.page for lease in leases if utc_day(lease.start) == utc_day(now)]
            lost = sum(sample_requests.get(page, 1) for page in pages)
            add_lost_requests(self._catalog, utc_day(now), lost)
        found_pages = self._follow_links().added
        self.jobs.frontier.reload()
        if found_pages:
            self.policy.add(self.jobs.frontier.table_of(found_pages))
        kill_time = self._catalog.read_note(KILLED_CRAWL_NOTE)
        reopened = map(self._catalog.host_state, self._catalog.take_reopened_hosts())
        self.save_host_states([state.without_backoff() for state in reopened if state is not None])
        idle_hosts = self._catalog.hosts_without_pages(idle_by=now)
        self._catalog.set_host_states([HostState(host) for host in idle_hosts])
        return CrawlStartState(
            tuple(self._catalog.host_states()),
            datetime.fromisoformat(kill_time) if kill_time else None,
            frozenset(self._catalog.hosts_without_pages()),
        )

    def save_host_states(self, host_states: Sequence[HostState]) -> None:
        """Save the states of hosts that have changed.

        This is called before every other change, so that a crash makes no host impolite.
        """
        if host_states:
            self._catalog.set_host_states(host_states)

    def draw_jobs(self, until: datetime, room: int, caps: HostCaps) -> JobBatch:
        """Lease and book the pages that are due by a time, at most ``room`` of them."""
        if self.jobs.frontier.is_stale():
            self.jobs.reload()
            self._recorder.clear_cache()
            if self._follower is not None:
                self._follower.reload()
        self.jobs.save_policy_if_due(self._clock.now())
        return self.jobs.draw(until, room, caps)

    def record_observations(self, observations: Sequence[Observation]) -> list[RecordedVisit]:
        """Record observations as visits, and update everything that learns from visits.

        The steps run in this order. An error in step 2 or later leaves the visits recorded; the
        next call processes them again from step 2.
        """
        # 1. Record: archive the bytes, then one transaction. The visits are acknowledged now.
        batch = self._recorder.record(observations)
        self._unprocessed += batch.recorded_visits
        visited_pages = [visit.page for visit, _ in self._unprocessed]
        # 2. Frontier: add the links to be followed, and load the pages that were added.
        followed = self._follow_links()
        are_known = all(map(self.jobs.frontier.contains, visited_pages))
        if followed.added or followed.paused or not are_known:
            self.jobs.reload()
        # 3. Noise: learn masks. Pages with a new mask are measured again by it, before bursts and
        #    policy see their changes.
        remasked_pages = self._learn_noise(visited_pages)
        # 4. Bursts: compute the progress and save it; memory is updated in step 6.
        progress = self.jobs.bursts.keep_progress(self._unprocessed, remasked_pages)
        # 5. Budget: return bookings of unsent requests, count unbooked ones.
        self._settle_bookings(observations)
        # 6. Bursts and frontier: apply the progress; pages without further samples are returned.
        self.jobs.bursts.apply_progress(progress, self._unprocessed, self._clock.now())
        pages = [*visited_pages, *(observation.booking.page for observation in observations)]
        returned_pages = [page for page in pages if not self.jobs.bursts.is_in_flight(page)]
        self.jobs.frontier.mark_returned(returned_pages, were_visited=True, is_last=self._once)
        # 7. Leases: release pages without a recorded visit. To the policy they stay in flight, so
        #    that this crawl does not draw them again.
        unusable_uids = {observation.uid for observation in batch.unusable}
        if unusable_uids:
            unusable = [o.booking.page for o in observations if o.uid in unusable_uids]
            self._catalog.release_pages(LEASE_HOLDER, unusable)
        # 8. Policy: learn the visits; pages with a new mask are learned again from their history.
        #    Before, the learned model is compared with the policy on what the visits found.
        self.jobs.learned_correction.relearn_pages(id_array(sorted(remasked_pages)))
        self.jobs.learned_correction.learn_new_looks(self.policy)
        new_visits = [visit for visit in self._unprocessed if visit[0].page not in remasked_pages]
        learn_visits(self.policy, visit_table(new_visits), self.jobs.page_lookup)
        relearned = sorted(filter(self.jobs.frontier.contains, remasked_pages))
        relearn_pages(self.policy, id_array(relearned), self.jobs.page_lookup)
        learn_page_links(self.policy, self._catalog, visited_pages)
        self.jobs.learn_threads([*visited_pages, *relearned])
        # 9. Return the visits to the caller, which reports them.
        visits, self._unprocessed = self._unprocessed, []
        return visits

    def _follow_links(self) -> FollowedPages:
        """Add new links of pages as pages, where their settings say so, and pause gone ones.

        The next pages of threads are added too.
        """
        if self._follower is None:
            return FollowedPages()
        now = self._clock.now()
        followed = self._follower.follow(now)
        next_pages = add_next_pages(self._catalog, now)
        followed = replace(followed, added=[*followed.added, *next_pages])
        if followed.added:
            self._follower.reload()
        return followed

    def _learn_noise(self, visited_pages: Sequence[int]) -> frozenset[int]:
        """Learn masks from the new visits; return the pages that have a new mask."""
        sampled_pages = frozenset(filter(self.jobs.bursts.is_in_flight, visited_pages))
        remasked_pages = self._noise.learn_from(self._unprocessed, sampled_pages)
        if remasked_pages:
            self._recorder.discard_states(remasked_pages)
            self._unprocessed = self._noise.with_current_changes(self._unprocessed, remasked_pages)
        return remasked_pages

    def _settle_bookings(self, observations: Sequence[Observation]) -> None:
        """Count the unbooked requests of spiders, and return bookings of unsent requests."""
        now = self._clock.now()
        bookings = [observation.booking for observation in observations]
        unsent = [b.page for b in bookings if not b.was_sent and b.day == utc_day(now)]
        unbooked = sum(booking.was_sent and not booking.day for booking in bookings)
        samples = sum(map(self.jobs.bursts.is_in_flight, unsent))
        exploratory = self.jobs.end_exploration(unsent)
        self.jobs.end_exploration(booking.page for booking in bookings)
        if unsent or unbooked:
            self.jobs.day_budget.add(
                unbooked - len(unsent), now, samples=-samples, exploratory=-exploratory
            )
            self.jobs.bursts.unspend(samples)

    def book_requests(self, requests: int) -> bool:
        """Book further requests of jobs in flight; return False if the day has too few left."""
        now, day_budget = self._clock.now(), self.jobs.day_budget
        return requests <= day_budget.remaining(now) and bool(day_budget.book(requests, now))

    def book_up_to(self, requests: int) -> int:
        """Book requests of a spider, at most as many as the day has left; return how many."""
        return self.jobs.day_budget.book(requests, self._clock.now())

    def book_unbudgeted(self, requests: int) -> None:
        """Count requests outside the budget: for robots.txt and sitemaps."""
        self._catalog.book_requests(utc_day(self._clock.now()), 0, requests)

    def return_requests(self, requests: int) -> None:
        """Return bookings of today whose requests were not sent."""
        self.jobs.day_budget.add(-requests, self._clock.now())

    def return_jobs(self, jobs: Sequence[FetchJob]) -> None:
        """Return jobs whose requests were not sent."""
        self.jobs.return_jobs(jobs)

    def claim_urls(self, urls: Sequence[str]) -> None:
        """Draw no pages that a spider is about to fetch itself."""
        canonical_urls = (canonical_url(url) for url in urls)
        ids = self._catalog.page_ids([PageKey(url) for url in canonical_urls if url])
        self.jobs.frontier.mark_in_flight(ids.values())

    def day_spending(self) -> CrawlDaySpending:
        """Return the day's budget and spending."""
        day_budget, frontier = self.jobs.day_budget, self.jobs.frontier
        total = day_budget.pace(self._clock.now()).total
        other_requests = self._catalog.spending(day_budget.day).other_requests
        return CrawlDaySpending(
            day_budget.day, day_budget.spent, total, other_requests, frontier.size
        )

    def release_all(self) -> None:
        """Release every lease of the crawl, and store report and state of the policy."""
        self._catalog.release_pages(LEASE_HOLDER)
        self.jobs.save_policy(self._clock.now())
