"""Conditions checked after every kill, from the server's log, the catalog and the archive."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha1
from itertools import chain, pairwise
from pathlib import Path

from freshet.collection.collection import Collection
from freshet.core.budget import utc_day
from freshet.core.clock import ScaledClock
from freshet.core.types import Outcome, Visit
from tests.fetch.crash.archive import ANSWERS, StoredRecord, read_by_fastwarc, read_by_warcio
from tests.fetch.crash.web import CLOSED, RETRY_AFTER, THROTTLED, ServedWeb, route, sent_to
from tests.fetch.servers import ROBOTS, Entry

REVISIT = "revisit"
ROUNDING_SECONDS = 0.001

FaultMessages = Iterator[str]


@dataclass(frozen=True, slots=True)
class CatalogState:
    """Visits by uid, leased pages and each day's booked requests, read from a catalog."""

    visits: dict[str, Visit]
    leased_urls: frozenset[str]
    requests: dict[str, int]
    other_requests: dict[str, int]


def read_catalog_state(collection: Collection, days: Iterable[str]) -> CatalogState:
    """Read the visits and leases of a collection, and the spending of some days."""
    pages = list(collection.pages())
    urls = {page.id: page.url for page in pages}
    rows = (row.visit for page in pages for row in page.history())
    spent = {day: collection.catalog.spending(day) for day in days}
    return CatalogState(
        {visit.uid.hex(): visit for visit in rows},
        frozenset(urls[lease.page] for lease in collection.catalog.leases()),
        {day: spending.requests for day, spending in spent.items()},
        {day: spending.other_requests for day, spending in spent.items()},
    )


@dataclass(frozen=True, slots=True)
class CrawlEventLog:
    """Events logged by crawler processes: reported visits and released requests by host."""

    reported_visits: frozenset[str]
    released_requests: dict[str, list[float]]

    @classmethod
    def read(cls, path: Path) -> "CrawlEventLog":
        """Read an event log without a last line that a kill cut short."""
        reported_visits, released_requests = set(), {}
        whole, _, _ = path.read_text().rpartition("\n")
        for line in whole.splitlines():
            kind, name, *rest = line.split()
            if kind == "visit":
                reported_visits.add(name)
            else:
                released_requests.setdefault(name, []).append(float(rest[0]))
        return cls(frozenset(reported_visits), released_requests)


@dataclass(slots=True)
class TrialSetup:
    """Web, clock, budget and delay of a trial, and its runs so far.

    ``start_times`` are the monotonic times at which the runs began; ``in_flight_pages`` the pages
    in flight when each ended.
    """

    web: ServedWeb
    clock: ScaledClock
    origin: float
    budget: int
    delay: float
    is_steady: bool = True
    start_times: list[float] = field(default_factory=list)
    in_flight_pages: list[frozenset[str]] = field(default_factory=list)

    def day(self, entry: Entry) -> str:
        """Return the crawl's day on which a request arrived."""
        elapsed = timedelta(seconds=(entry.began - self.origin) * self.clock.speed)
        return utc_day(self.clock.start + elapsed)

    def run_index(self, entry: Entry) -> int:
        """Return the index of the run that made a request."""
        return bisect_right(self.start_times, entry.began) - 1


@dataclass(frozen=True, slots=True)
class Evidence:
    """The data compared after a restart, ``acknowledged_visits`` of all runs included."""

    setup: TrialSetup
    acknowledged_visits: Mapping[str, Visit]
    after: CatalogState
    log: Sequence[Entry]
    records: Sequence[StoredRecord]
    event_log: CrawlEventLog

    @property
    def page_requests(self) -> list[Entry]:
        """Return the requests for pages."""
        return [entry for entry in self.log if entry.path != ROBOTS]

    @property
    def answers(self) -> list[StoredRecord]:
        """Return the records of answers."""
        return [record for record in self.records if record.type in ANSWERS]

    @property
    def recorded_requests(self) -> set[int]:
        """Return the numbers of the requests whose answers are recorded."""
        return {int(record.request) for record in self.answers}

    @property
    def unrecorded_requests(self) -> list[Entry]:
        """Return the requests for pages without a recorded answer."""
        recorded = self.recorded_requests
        return [entry for entry in self.page_requests if entry.id not in recorded]

    def faults(self) -> list[str]:
        """Return all faults; times are not compared if the clock jumped."""
        checks = [
            self._lost_visits, self._duplicates, self._unmatched_records, self._wrong_bytes,
            self._leftover_leases, self._needless_requests, self._exceeded_budgets,
        ]  # fmt: skip
        if self.setup.is_steady:
            checks += [self._unbooked_requests, self._violated_delays, self._violated_pauses]
        return [fault for check in checks for fault in check()]

    def _lost_visits(self) -> FaultMessages:
        """No acknowledged or reported visit is lost or altered."""
        for uid, visit in self.acknowledged_visits.items():
            if self.after.visits.get(uid) != visit:
                yield f"visit {uid} was {visit} and is {self.after.visits.get(uid)}"
        for uid in self.event_log.reported_visits - self.acknowledged_visits.keys():
            yield f"visit {uid} was reported before it was acknowledged"

    def _duplicates(self) -> FaultMessages:
        """No request and no record is stored twice."""
        for name, count in Counter(record.request for record in self.answers).items():
            if count > 1:
                yield f"request {name} is in {count} records"
        for name, count in Counter(record.id for record in self.records).items():
            if count > 1:
                yield f"record {name} is there {count} times"

    def _unmatched_records(self) -> FaultMessages:
        """Every visit has its record, every record its visit, and every answer its request.

        Only a page that robots.txt disallows has visits without these.
        """
        uids = {record.uid for record in self.answers}
        visits = self.after.visits.items()
        for uid in uids ^ {uid for uid, visit in visits if visit.outcome is not Outcome.ROBOTS}:
            yield f"visit {uid} is {'only in the archive' if uid in uids else 'without a record'}"
        entries = {str(entry.id): entry for entry in self.log}
        for record in self.answers:
            entry = entries.get(record.request)
            if entry is None or self.setup.web.urls[entry.host] + entry.path != record.target:
                yield f"record {record} answers no request of the log"
        for entry in self.log:
            if entry.path.startswith(CLOSED):
                yield f"{entry} is disallowed by robots.txt"

    def _wrong_bytes(self) -> FaultMessages:
        """Records hold the bytes that were sent."""
        entries = {str(entry.id): entry for entry in self.page_requests}
        for record in self.answers:
            entry = entries.get(record.request)
            if entry is not None and record.type != REVISIT:
                sent = sent_to(entry).body.encode()
                if sha1(sent).hexdigest() != record.digest:
                    yield f"record {record} is not what was sent to request {entry.id}"

    def _leftover_leases(self) -> FaultMessages:
        """No page is leased to a process that has ended."""
        if self.after.leased_urls:
            yield f"still leased: {sorted(self.after.leased_urls)}"

    def _needless_requests(self) -> FaultMessages:
        """Only pages in flight are requested again, each at most once for each run."""
        pages = self.setup.web.pages
        lost = Counter((self.setup.run_index(e), e.host, e.path) for e in self.unrecorded_requests)
        for (run, host, path), count in lost.items():
            urls = self.setup.in_flight_pages[run : run + 1]
            in_flight = sum((host, path) in route(*pages[url]) for url in chain.from_iterable(urls))
            if count > in_flight:
                yield f"run {run} lost {count} requests for {host}{path}, {in_flight} in flight"

    def _exceeded_budgets(self) -> FaultMessages:
        """No day's bookings exceed the budget, and every request is booked."""
        for day, booked in self.after.requests.items():
            if booked > self.setup.budget:
                yield f"{day}: {booked} requests are booked"
        if len(self.page_requests) > sum(self.after.requests.values()):
            requests = len(self.page_requests)
            yield f"servers saw {requests} requests, booked are {self.after.requests}"

    def _unbooked_requests(self) -> FaultMessages:
        """By the end of every day there were no more requests than bookings."""
        booked = apart = asked = rules = 0
        for day in self.after.requests:
            booked += self.after.requests[day]
            apart += self.after.other_requests[day]
            asked += sum(self.setup.day(entry) == day for entry in self.page_requests)
            rules += sum(
                entry.path == ROBOTS and self.setup.day(entry) == day for entry in self.log
            )
            if asked > booked or rules > apart + self._max_unwritten_requests:
                yield f"by {day} servers saw {asked} + {rules}, booked are {booked} + {apart}"

    @property
    def _max_unwritten_requests(self) -> int:
        """Return how many requests for robots.txt kills may have left unbooked."""
        return len(self.setup.start_times) * len(self.setup.web.urls)

    def _violated_delays(self) -> FaultMessages:
        """Requests to a host keep its delay, also from one run to the next."""
        for host, times in self.event_log.released_requests.items():
            for before, after in pairwise(times):
                if after - before < self.setup.delay - ROUNDING_SECONDS:
                    yield f"{host} was requested again after {after - before:.3f} s at {after:.3f}"

    def _violated_pauses(self) -> FaultMessages:
        """After a recorded Retry-After, a host gets no request during the pause."""
        recorded = self.recorded_requests
        pause = RETRY_AFTER / self.setup.clock.speed
        by_host: dict[str, list[Entry]] = {}
        for entry in self.log:
            by_host.setdefault(entry.host, []).append(entry)
        for entries in by_host.values():
            for entry, following in pairwise(entries):
                is_pause = entry.path != ROBOTS and sent_to(entry).status == THROTTLED
                if is_pause and entry.id in recorded and following.began - entry.began < pause:
                    yield f"{following.path} was requested too soon after {entry}"


def read_records(folder: Path) -> tuple[list[StoredRecord], list[str]]:
    """Return an archive's records as read by warcio, and the differences to fastwarc."""
    one, two = list(read_by_warcio(folder)), list(read_by_fastwarc(folder))
    faults = [f"warcio reads {a}, fastwarc {b}" for a, b in zip(one, two, strict=False) if a != b]
    if len(one) != len(two):
        faults.append(f"warcio reads {len(one)} records, fastwarc {len(two)}")
    return one, faults
