"""The live crawl, without the network: which pages to fetch now, and what came of them.

No request goes out before it is booked in the day's spending, so a kill never lets a day exceed its
budget. Pages that are out being fetched are leased; recording a visit ends its page's lease. All of
this runs in one thread, beside the one that fetches; the two exchange only values.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from freshet.archive.catalog.rows import Conditions, HostState
from freshet.archive.importers.base import Arrival
from freshet.core.budget import Budget, Pace, day_of, next_midnight
from freshet.core.errors import StorageError
from freshet.core.settings import PageSettings
from freshet.core.tables import UNBOUNDED, Caps, key_of
from freshet.core.types import Choice, Page
from freshet.flow.collection import Collection
from freshet.flow.planning import ids_of, informed_policy, visit_table
from freshet.flow.record import Learnt, Recorder
from freshet.flow.roll import Roll
from freshet.flow.today import note_lost

LEASE = timedelta(hours=1)
SET_BACK = timedelta(minutes=1)
WORKER = "crawl"
MORE_ASKED = 64
DIED = "crawl found dead"
NOTHING = Conditions(None, None)


@dataclass(frozen=True, slots=True)
class Errand:
    """A page to be fetched: leased and booked, not to be asked for before ``start``.

    ``etag`` and ``last_modified`` are set where the request may be conditional; they belong to
    ``final_url``, where the page was last found.
    """

    page: int
    url: str
    host: str
    start: datetime
    day: str
    settings: PageSettings
    reason: str = ""
    etag: str | None = None
    last_modified: str | None = None
    final_url: str | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came of a request: for an errand its page and day, for others neither.

    ``asked`` says whether any request went out.
    """

    arrival: Arrival
    page: int = 0
    day: str = ""
    asked: bool = True


@dataclass(frozen=True, slots=True)
class Drawn:
    """Errands to run, and when it is worth drawing again; None: soon, as hosts come free.

    Where there was room for no more, that is at once.
    """

    errands: tuple[Errand, ...]
    again: datetime | None


@dataclass(frozen=True, slots=True)
class Begun:
    """What a crawl finds when it begins: the hosts' states, and when one was last found dead.

    Until ``died`` any host may have been asked, and nobody knows which; None: none was killed.
    """

    hosts: tuple[HostState, ...]
    died: datetime | None


@dataclass(frozen=True, slots=True)
class DaySpending:
    """A day's budget of page requests, what is spent of it, and for how many pages.

    ``apart`` are the requests that the budget does not count: for robots.txt and sitemaps.
    """

    day: str
    spent: int
    budget: int
    apart: int = 0
    pages: int = 0


class Crawl:
    """Draws errands from the plan within the budget, and records what they bring.

    ``catch_up`` makes what the day so far has not used available at once; ``only`` leaves every
    page alone but some that were asked for.
    """

    def __init__(
        self,
        collection: Collection,
        recorder: Recorder,
        *,
        budget: str = "",
        catch_up: bool = False,
        only: Iterable[int] = (),
    ) -> None:
        self._clock = collection.clock
        self._catalog = collection.catalog
        self._recorder = recorder
        self._settings = collection.settings
        self._budget = Budget.parse(budget or collection.settings.budget)
        self._catch_up = catch_up
        self._only = frozenset(only)
        self._latest = self._clock.now()
        self.policy = informed_policy(self._catalog, self._settings, now=self._latest)
        self._astray: frozenset[int] = frozenset()
        self._roll = Roll(collection.catalog, collection.settings)
        self._pace: Pace | None = None
        self._day = ""
        self._spent = 0
        self._learnt: list[Learnt] = []

    def begin(self) -> Begun:
        """Take back what a dead crawl held, and return what is kept of hosts."""
        if held := self._catalog.leases():
            now = self._clock.now()
            self._catalog.set_note(DIED, now.isoformat())
            self._catalog.return_all()
            lost = sum(day_of(lease.taken) == day_of(now) for lease in held)
            note_lost(self._catalog, day_of(now), lost)
        self._roll.read()
        died = self._catalog.note(DIED)
        return Begun(tuple(self._catalog.hosts()), datetime.fromisoformat(died) if died else None)

    def draw(self, until: datetime, room: int, caps: Caps, hosts: Sequence[HostState]) -> Drawn:
        """Lease and book the pages that are due by a time, as many as there is room for."""
        self._keep(hosts)
        self._take_up()
        now = self._clock.now()
        self._keep_time(now)
        pace = self._paced(now)
        room = min(room, pace.total - self._spent)
        paced = min(room, pace.count_by(min(until, next_midnight(now))) - self._spent)
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
        again = now if is_full else self._again(now, len(errands) < max(paced, eager))
        return Drawn(tuple(errands), again)

    def book(self, requests: int, hosts: Sequence[HostState] = ()) -> bool:
        """Book further requests of errands that are out; False where the day has none left."""
        self._keep(hosts)
        pace = self._paced(self._clock.now())
        if self._spent + requests > pace.total:
            return False
        self._catalog.book(self._day, requests)
        self._spent += requests
        return True

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
        self._settle(fetched)
        self._roll.back([*visited, *(item.page for item in fetched)], visited=True)
        self.policy.learn(visit_table(self._learnt))
        learnt, self._learnt = self._learnt, []
        return learnt

    def give_back(self, errands: Sequence[Errand], hosts: Sequence[HostState] = ()) -> None:
        """Take back errands whose requests never went out."""
        self._keep(hosts)
        for day in {errand.day for errand in errands}:
            pages = [errand.page for errand in errands if errand.day == day]
            self._catalog.release(WORKER, pages, day=day)
            if day == self._day:
                self._spent = self._catalog.spending(day).requests
            self._roll.back(pages, visited=False)
            self.policy.release(ids_of(pages))

    def spending(self) -> DaySpending:
        """Return the day's budget and what is spent of it."""
        pace = self._paced(self._clock.now())
        apart = self._catalog.spending(self._day).apart
        return DaySpending(self._day, self._spent, pace.total, apart, self._roll.size)

    def end(self) -> None:
        """Give back every page that is still held."""
        self._catalog.release(WORKER)

    def _keep(self, hosts: Sequence[HostState]) -> None:
        """Keep what is new of hosts: before anything else, so that a crash makes none impolite."""
        if hosts:
            self._catalog.set_hosts(hosts)

    def _keep_time(self, now: datetime) -> None:
        """Learn everything anew where the clock was set back, so that no page waits for its return.

        What is out then is unknown to the new policy, and barred until it is back.
        """
        if now < self._latest - SET_BACK:
            self.policy = informed_policy(self._catalog, self._settings, now=now)
            self._astray = self._roll.out
        self._latest = now

    def _take_up(self) -> None:
        """Take in what other processes changed: pages, pauses, wishes, settings."""
        if self._roll.is_stale():
            self._take_in()
            self._recorder.look_again()

    def _take_in(self) -> None:
        change = self._roll.read()
        for pages in change.came:
            self.policy.add(pages)
        self.policy.forget(change.went)
        for page in sorted(change.restored):
            past = self._catalog.history(page)
            self.policy.learn(visit_table([(row.visit, row.change) for row in past]))

    def _settle(self, fetched: Sequence[Fetched]) -> None:
        """Book requests of others' spiders, and give back those that never went out."""
        self._paced(self._clock.now())
        unasked = sum(not item.asked and item.day == self._day for item in fetched)
        others = sum(item.asked and not item.day for item in fetched)
        if unasked or others:
            self._catalog.book(self._day, others - unasked)
            self._spent += others - unasked

    def _paced(self, now: datetime) -> Pace:
        """Return the pace of the day, begun anew with the day and when the budget changes."""
        total = self._budget.per_day(self._roll.size)
        if self._pace is None or day_of(now) != self._day:
            start = next_midnight(now) - timedelta(days=1) if self._catch_up else now
            self._day = day_of(now)
            self._spent = self._catalog.spending(self._day).requests
            self._pace = Pace(start, 0 if self._catch_up else self._spent, total)
        elif total != self._pace.total:
            self._pace = Pace(now, self._spent, total)
        return self._pace

    def _choose(self, now: datetime, paced: int, eager: int, caps: Caps) -> list[Choice]:
        """Choose the pages that someone asked for, those never seen, then those worth most.

        Only the last wait for the pace: what was chosen beyond it is let go again.
        """
        k = max(paced, eager)
        asked, caps = self._welcome(self._roll.asked(MORE_ASKED * k), k, caps)
        if self._only:
            return [_asked(page) for page in asked if page in self._only]
        if k <= 0:
            return []
        self._astray &= self._roll.out
        out = [*self._roll.asked(UNBOUNDED), *self._astray]
        barred = np.union1d(self._roll.barred(now), ids_of(out))
        found = list(self.policy.choose(now, k - len(asked), replace(caps, barred=barred)))
        first = [choice for choice in found if self._roll.is_eager(choice.page)]
        rest = [choice for choice in found if not self._roll.is_eager(choice.page)]
        room = max(0, paced - len(asked) - len(first))
        self.policy.release(ids_of(choice.page for choice in rest[room:]))
        return [*map(_asked, asked), *first, *rest[:room]]

    def _welcome(self, asked: Sequence[int], k: int, caps: Caps) -> tuple[list[int], Caps]:
        """Return k pages asked for whose hosts have room, and the room that they leave."""
        room = dict(zip(caps.hosts.tolist(), caps.room.tolist(), strict=True))
        pages = self._catalog.pages_by_id(asked)
        welcome: list[int] = []
        for page in asked:
            host = key_of(pages[page].host) if page in pages else 0
            left = room.get(host, caps.otherwise)
            if page in pages and left > 0 and len(welcome) < k:
                room[host] = left - 1
                welcome.append(page)
        hosts = np.array(list(room), np.uint64)
        return welcome, replace(caps, hosts=hosts, room=np.array(list(room.values()), np.int64))

    def _errands(self, now: datetime, chosen: Sequence[Choice]) -> list[Errand]:
        """Lease and book chosen pages; each is due when the pace comes to it."""
        reasons = {choice.page: choice.reason for choice in chosen}
        held = self._catalog.lease(WORKER, list(reasons), now, now + LEASE, day=self._day)
        self.policy.release(ids_of(reasons.keys() - set(held)))
        self._roll.send(held)
        pages, overrides = self._catalog.pages_by_id(held), self._catalog.overrides(held)
        conditions = self._catalog.conditions(held)
        errands = []
        for page in held:
            settings = self._settings.for_page(*overrides.get(page, ()))
            start = now if self._roll.is_eager(page) else self._paced(now).due(self._spent)
            errand = _errand(pages[page], start, self._day, settings, reasons[page])
            errands.append(self._conditional(errand, conditions.get(page, NOTHING)))
            self._spent += 1
        if any(map(self._roll.is_eager, held)):
            self._pace = self._paced(now).resumed(now, self._spent)
        return errands

    def _conditional(self, errand: Errand, conditions: Conditions) -> Errand:
        """Make an errand conditional, but for the audit that is due now and then."""
        if conditions.unchanged >= self._settings.network.audit_every:
            return errand
        return replace(
            errand, etag=conditions.etag, last_modified=conditions.last_modified,
            final_url=conditions.url,
        )  # fmt: skip

    def _again(self, now: datetime, is_short: bool) -> datetime | None:
        """Return when to draw again by the pace; None where hosts kept pages back."""
        pace = self._paced(now)
        if self._spent >= pace.total:
            return next_midnight(now)
        return None if is_short else pace.due(self._spent)


def _asked(page: int) -> Choice:
    return Choice(page, np.inf, "asked for")


def _errand(
    page: Page, start: datetime, day: str, settings: PageSettings, reason: str
) -> Errand:  # fmt: skip
    return Errand(page.id, page.url, page.host, start, day, settings, reason)
