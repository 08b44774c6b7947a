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

from freshet.archive.catalog.rows import Conditions, HostState, Lease
from freshet.core.budget import Budget, day_of, next_midnight
from freshet.core.errors import StorageError
from freshet.core.tables import UNBOUNDED, Caps
from freshet.core.types import Choice, Page, PageKey
from freshet.crawl.budget_status import note_lost, note_start
from freshet.crawl.bursts import Moment, Rounds, reason
from freshet.crawl.day_budget import DayBudget
from freshet.crawl.fetch_job import (
    Begun,
    DaySpending,
    Drawn,
    Errand,
    Fetched,
    asked_for,
    conditional,
    errand_for,
    unfetched,
)
from freshet.crawl.frontier import Roll
from freshet.crawl.hosts import welcome
from freshet.crawl.live_policy import (
    PageLookup,
    histories,
    ids_of,
    informed_policy,
    learn,
    learn_anew,
    visit_table,
)
from freshet.crawl.noise import NoiseWatch
from freshet.record.fault_isolation import SYSTEM_ERRORS, fault_text
from freshet.record.recorder import Learnt, Recorder, Taken
from freshet.record.store import CollectionStore
from freshet.view.url import canonical

LEASE = timedelta(hours=1)
SET_BACK = timedelta(minutes=1)
WORKER = "crawl"
MORE_ASKED = 64
DIED = "crawl found dead"
NOTHING = Conditions(None, None)

log = logging.getLogger(__name__)


class Crawl:
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
        self._rounds = Rounds(self._catalog, self._settings)
        self.policy = informed_policy(
            self._catalog, self._settings, now=self._latest, beside=self._rounds.read
        )
        self._roll = Roll(collection.catalog, collection.settings)
        self._noise = NoiseWatch(collection)
        self._today = DayBudget(
            self._catalog,
            Budget.parse(budget or collection.settings.budget),
            lambda: self._roll.size,
            catch_up=catch_up,
        )
        self._learnt: list[Learnt] = []
        self._ready: list[Errand] = []
        self._failed: list[Fetched] = []
        self._lookup = PageLookup(self._roll.table_of, partial(histories, self._catalog))
        self._reopened: list[str] = []

    def begin(self) -> Begun:
        """Take back what a dead crawl held, and return what is kept of hosts.

        Hosts without pages that may be asked again are forgotten before any of them is read.
        """
        now = self._clock.now()
        note_start(self._catalog, now)
        samples = self._rounds.begin(now)
        if held := self._catalog.leases():
            self._catalog.set_note(DIED, now.isoformat())
            self._catalog.return_all()
            today = [lease.page for lease in held if day_of(lease.taken) == day_of(now)]
            note_lost(self._catalog, day_of(now), sum(samples.get(page, 1) for page in today))
        self._roll.read()
        died = self._catalog.note(DIED)
        reopened = map(self._catalog.host, self._catalog.take_reopened())
        self._keep([state.reopened() for state in reopened if state is not None])
        idle = self._catalog.hosts_without_pages(idle_by=now)
        self._catalog.set_hosts([HostState(host) for host in idle])
        return Begun(
            tuple(self._catalog.hosts()),
            datetime.fromisoformat(died) if died else None,
            frozenset(self._catalog.hosts_without_pages()),
        )

    def draw(self, until: datetime, room: int, caps: Caps, hosts: Sequence[HostState]) -> Drawn:
        """Lease and book the pages that are due by a time, as many as there is room for."""
        self._keep(hosts)
        self._take_up()
        now = self._clock.now()
        self._keep_time(now)
        caps = self._sample(now, until, room, caps)
        room = max(0, min(room - len(self._ready), self._today.left(now)))
        paced = min(room, self._today.allowed_by(until, now))
        eager = min(room, self._roll.eager())
        chosen = self._choose(now, paced, eager, caps)
        try:
            errands = self._errands(now, chosen)
        except StorageError:
            pages = [choice.page for choice in chosen]
            self.policy.release(ids_of(pages))
            self._roll.back(pages, visited=False)
            raise
        is_full = bool(errands) and len(errands) == room
        again = now if is_full else self._again(now, until, len(errands) < max(paced, eager))
        drawn, self._ready = (*self._ready, *errands), []
        failed, self._failed = tuple(self._failed), []
        reopened, self._reopened = tuple(self._reopened), []
        return Drawn(drawn, again, failed, reopened)

    def book(self, requests: int, hosts: Sequence[HostState] = ()) -> bool:
        """Book further requests of errands that are out; False where the day has none left."""
        self._keep(hosts)
        now = self._clock.now()
        return requests <= self._today.left(now) and bool(self._today.book(requests, now))

    def book_some(self, requests: int, hosts: Sequence[HostState] = ()) -> int:
        """Book requests of others' spiders, as many as the day has left; return how many."""
        self._keep(hosts)
        return self._today.book(requests, self._clock.now())

    def return_requests(self, requests: int, hosts: Sequence[HostState] = ()) -> None:
        """Take back bookings of today whose requests did not go out."""
        self._keep(hosts)
        self._today.add(-requests, self._clock.now())

    def claim(self, urls: Sequence[str], hosts: Sequence[HostState] = ()) -> None:
        """Draw no pages that others' spiders are about to fetch themselves."""
        self._keep(hosts)
        names = (canonical(url) for url in urls)
        ids = self._catalog.page_ids([PageKey(name) for name in names if name])
        self._roll.send(ids.values())

    def book_apart(self, requests: int, hosts: Sequence[HostState] = ()) -> None:
        """Count requests that the budget does not: for robots.txt and sitemaps."""
        self._keep(hosts)
        self._catalog.book(day_of(self._clock.now()), 0, requests)

    def take(self, fetched: Sequence[Fetched], hosts: Sequence[HostState]) -> list[Learnt]:
        """Record what came of requests, and learn from it.

        Where this fails after they were recorded, it is done with when it is tried again.
        """
        self._keep(hosts)
        taken = self._recorder.take([item.arrival for item in fetched])
        self._learnt += taken.learnt
        visited = [visit.page for visit, _ in self._learnt]
        if not all(map(self._roll.knows, visited)):
            self._take_in()
        anew = self._look_for_noise(visited)
        rounds = self._rounds.learnt(self._learnt, anew)
        self._settle(fetched)
        self._rounds.take_over(rounds, self._learnt, self._clock.now())
        back = [*visited, *(item.page for item in fetched)]
        ended = [page for page in back if not self._rounds.is_out(page)]
        self._roll.back(ended, visited=True, is_last=self._once)
        self._return_unrecorded(fetched, taken)
        found = [item for item in self._learnt if item[0].page not in anew]
        learn(self.policy, visit_table(found), self._lookup)
        learn_anew(self.policy, ids_of(sorted(filter(self._roll.knows, anew))), self._lookup)
        learnt, self._learnt = self._learnt, []
        return learnt

    def _return_unrecorded(self, fetched: Sequence[Fetched], taken: Taken) -> None:
        """End the leases of pages of which not even a failed visit could be recorded.

        To the policy they stay out, so that this crawl leaves them alone.
        """
        lost = {arrival.uid for arrival in taken.unusable}
        if lost:
            self._catalog.release(WORKER, [i.page for i in fetched if i.arrival.uid in lost])

    def _look_for_noise(self, visited: Sequence[int]) -> frozenset[int]:
        """Learn masks from what visits brought; return the pages that are measured anew by them."""
        sampled = filter(self._rounds.is_out, visited)
        anew = self._noise.after(self._learnt, frozenset(sampled))
        if anew:
            self._recorder.forget(anew)
            self._learnt = self._noise.told_anew(self._learnt, anew)
        return anew

    def give_back(self, errands: Sequence[Errand], hosts: Sequence[HostState] = ()) -> None:
        """Take back errands whose requests never went out."""
        self._keep(hosts)
        for day in {errand.day for errand in errands}:
            pages = [e.page for e in errands if e.day == day and not e.is_sample]
            samples = [e.page for e in errands if e.day == day and e.is_sample]
            self._catalog.release(WORKER, pages, day=day)
            self._rounds.recall(WORKER, samples, day)
            if day == self._today.day:
                self._today.read()
            back = [*pages, *(page for page in samples if not self._rounds.is_out(page))]
            self._roll.back(back, visited=False)
            self.policy.release(ids_of(pages))

    def spending(self) -> DaySpending:
        """Return the day's budget and what is spent of it."""
        today, total = self._today, self._today.pace(self._clock.now()).total
        apart = self._catalog.spending(today.day).apart
        return DaySpending(today.day, today.spent, total, apart, self._roll.size)

    def end(self) -> None:
        """Give back every page that is still held."""
        self._catalog.release(WORKER)

    def _keep(self, hosts: Sequence[HostState]) -> None:
        """Keep what is new of hosts: before anything else, so that a crash makes none impolite."""
        if hosts:
            self._catalog.set_hosts(hosts)

    def _keep_time(self, now: datetime) -> None:
        """Learn everything anew where the clock was set back, so that no page waits for its return.

        What is out then is unknown to the new policy.
        """
        if now < self._latest - SET_BACK:
            self.policy = informed_policy(self._catalog, self._settings, now=now)
        self._latest = now

    def _take_up(self) -> None:
        """Take in what other processes changed: pages, pauses, wishes, settings, hosts."""
        if self._roll.is_stale():
            self._take_in()
            self._recorder.look_again()

    def _take_in(self) -> None:
        change = self._roll.read()
        self._reopened += self._catalog.take_reopened()
        for pages in change.came:
            self.policy.add(pages)
        self.policy.forget(change.went)
        learn_anew(self.policy, ids_of(sorted(change.restored)), self._lookup)

    def _settle(self, fetched: Sequence[Fetched]) -> None:
        """Book requests of others' spiders, and give back those that never went out."""
        now = self._clock.now()
        today = day_of(now)
        unasked = [item.page for item in fetched if not item.asked and item.day == today]
        others = sum(item.asked and not item.day for item in fetched)
        samples = sum(map(self._rounds.is_out, unasked))
        if unasked or others:
            self._today.add(others - len(unasked), now, samples=-samples)
            self._rounds.give_back(samples)

    def _choose(self, now: datetime, paced: int, eager: int, caps: Caps) -> list[Choice]:
        """Choose the pages that someone asked for, those never seen, then those worth most.

        Only the last wait for the pace: what was chosen beyond it is let go again. The policy does
        not know of all that is out, such as pages asked for and samples.
        """
        k = max(paced, eager)
        asked, caps = self._welcome(self._roll.asked(MORE_ASKED * k), k, caps)
        if self._only:
            return [asked_for(page) for page in asked if page in self._only]
        if k <= 0:
            return []
        away = [*self._roll.asked(UNBOUNDED), *self._roll.out]
        barred = np.union1d(self._roll.barred(now), ids_of(away))
        found = list(self.policy.choose(now, k - len(asked), replace(caps, barred=barred)))
        first = [choice for choice in found if self._roll.is_eager(choice.page)]
        rest = [choice for choice in found if not self._roll.is_eager(choice.page)]
        room = max(0, paced - len(asked) - len(first))
        self.policy.release(ids_of(choice.page for choice in rest[room:]))
        return [*map(asked_for, asked), *first, *rest[:room]]

    def _welcome(self, asked: Sequence[int], k: int, caps: Caps) -> tuple[list[int], Caps]:
        """Return k pages asked for whose hosts have room, and the room that they leave."""
        pages = self._catalog.pages_by_id(asked)
        return welcome({page: pages[page].host for page in asked if page in pages}, k, caps)

    def _sample(self, now: datetime, until: datetime, room: int, caps: Caps) -> Caps:
        """Lease and book the samples that are due; they are ready from here on.

        Return the room that they leave at hosts. Where the rest cannot be drawn they stay ready.
        A crawl that ends when it has caught up would leave rounds unfinished, so it begins none.
        """
        pace = self._today.pace(now)
        room = min(room, self._today.left(now))
        if self._only or self._catch_up:
            return caps
        moment = Moment(now, until, pace.total, self._today.began)
        due = self._rounds.due(moment, room, lambda page: self._roll.welcomes(page, now))
        if not due:
            return caps
        chosen, caps = self._welcome([sampling.page for sampling in due], room, caps)
        lease = Lease(0, WORKER, now, now + LEASE)
        sent = self._rounds.send([s for s in due if s.page in chosen], lease, self._today.day)
        held = [sampling.page for sampling in sent]
        pages, overrides = self._catalog.pages_by_id(held), self._catalog.overrides(held)
        requests = sum(sampling.times for sampling in sent)
        self._today.spent += requests
        for sampling in (sampling for sampling in sent if sampling.page in pages):
            with self._failing(pages[sampling.page], now, sampling.times):
                settings = self._settings.for_page(*overrides.get(sampling.page, ()))
                start = self._rounds.start(sampling, now)
                errand = errand_for(
                    pages[sampling.page], start, self._today.day, settings, reason(sampling)
                )
                self._ready += [replace(errand, is_sample=True)] * sampling.times
        self._roll.send(held)
        self._today.go_beside(requests, now)
        return caps

    def _errands(self, now: datetime, chosen: Sequence[Choice]) -> list[Errand]:
        """Lease and book chosen pages; each is due when the pace comes to it."""
        reasons = {choice.page: choice.reason for choice in chosen}
        held = self._catalog.lease(WORKER, list(reasons), now, now + LEASE, day=self._today.day)
        self.policy.release(ids_of(reasons.keys() - set(held)))
        self._roll.send(held)
        pages, overrides = self._catalog.pages_by_id(held), self._catalog.overrides(held)
        conditions = self._catalog.conditions(held)
        errands = []
        for number, page in enumerate(held, self._today.spent):
            if page not in pages:
                continue
            with self._failing(pages[page], now):
                settings = self._settings.for_page(*overrides.get(page, ()))
                start = now if self._roll.is_eager(page) else self._today.pace(now).due(number)
                errand = errand_for(pages[page], start, self._today.day, settings, reasons[page])
                known = conditions.get(page, NOTHING)
                errands.append(conditional(errand, known, self._settings.network.audit_every))
        self._today.spent += len(held)
        if any(map(self._roll.is_eager, held)):
            self._today.resume(now)
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
            why = fault_text(error, "while its request was prepared")
            self._failed += [unfetched(page, self._today.day, why, now) for _ in range(times)]

    def _again(self, now: datetime, until: datetime, is_short: bool) -> datetime | None:
        """Return when to draw again by pace and rounds; None where hosts kept pages back."""
        pace = self._today.pace(now)
        if self._today.spent >= pace.total:
            return next_midnight(now)
        sample = self._rounds.next_due(Moment(now, until, pace.total))
        due = pace.due(self._today.spent)
        return None if is_short else min(due, sample or due)
