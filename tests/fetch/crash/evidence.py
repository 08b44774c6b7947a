"""What must hold after every kill, by the server's log, the catalog and the archive."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha1
from itertools import pairwise
from pathlib import Path

from freshet.collection.collection import Collection
from freshet.core.budget import utc_day
from freshet.core.clock import ScaledClock
from freshet.core.types import Outcome, Visit
from tests.fetch.crash.archive import ANSWERS, Kept, read_by_fastwarc, read_by_warcio
from tests.fetch.crash.web import CLOSED, RETRY_AFTER, THROTTLED, Web, route, sent_to
from tests.fetch.servers import ROBOTS, Entry

REVISIT = "revisit"
ROUNDING_SECONDS = 0.001

Wrong = Iterator[str]


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """What a collection says: its visits by uid, the pages that are out, and the days' spending."""

    visits: dict[str, Visit]
    leased: frozenset[str]
    requests: dict[str, int]
    apart: dict[str, int]


def acknowledged(collection: Collection, days: Iterable[str]) -> Acknowledged:
    """Read what a collection says of its visits and of some days."""
    pages = list(collection.pages())
    urls = {page.id: page.url for page in pages}
    rows = (row.visit for page in pages for row in page.history())
    spent = {day: collection.catalog.spending(day) for day in days}
    return Acknowledged(
        {visit.uid.hex(): visit for visit in rows},
        frozenset(urls[lease.page] for lease in collection.catalog.leases()),
        {day: spending.requests for day, spending in spent.items()},
        {day: spending.other_requests for day, spending in spent.items()},
    )


@dataclass(frozen=True, slots=True)
class Diary:
    """What the lives of a crawler noted: visits told of, and requests let go, by host."""

    told: frozenset[str]
    released: dict[str, list[float]]

    @classmethod
    def read(cls, path: Path) -> "Diary":
        """Read a diary; a line that a kill cut short is left out."""
        told, released = set(), {}
        whole, _, _ = path.read_text().rpartition("\n")
        for line in whole.splitlines():
            kind, name, *rest = line.split()
            if kind == "told":
                told.add(name)
            else:
                released.setdefault(name, []).append(float(rest[0]))
        return cls(frozenset(told), released)


@dataclass(slots=True)
class Circumstances:
    """What a crawl has to do with, and what is known of each life that it had.

    ``births`` are the monotonic times at which the lives began; ``out`` the pages that were in
    flight when each ended.
    """

    web: Web
    clock: ScaledClock
    origin: float
    budget: int
    delay: float
    is_steady: bool = True
    births: list[float] = field(default_factory=list)
    out: list[frozenset[str]] = field(default_factory=list)

    def day(self, entry: Entry) -> str:
        """Return the crawl's day on which a request arrived."""
        passed = timedelta(seconds=(entry.began - self.origin) * self.clock.speed)
        return utc_day(self.clock.start + passed)

    def life(self, entry: Entry) -> int:
        """Return the number of the life that made a request."""
        return bisect_right(self.births, entry.began) - 1


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that there is to compare after a restart; ``promised`` was acknowledged at some time."""

    around: Circumstances
    promised: Mapping[str, Visit]
    after: Acknowledged
    log: Sequence[Entry]
    kept: Sequence[Kept]
    diary: Diary

    @property
    def asked(self) -> list[Entry]:
        """Return the requests for pages."""
        return [entry for entry in self.log if entry.path != ROBOTS]

    @property
    def answers(self) -> list[Kept]:
        """Return the records of answers."""
        return [record for record in self.kept if record.type in ANSWERS]

    @property
    def recorded(self) -> set[int]:
        """Return the numbers of the requests whose answers are kept."""
        return {int(record.request) for record in self.answers}

    @property
    def lost(self) -> list[Entry]:
        """Return the requests for pages that no visit tells of."""
        recorded = self.recorded
        return [entry for entry in self.asked if entry.id not in recorded]

    def faults(self) -> list[str]:
        """Return everything that is wrong; where the clock jumped, times are not compared."""
        checks = [
            self._lost_visits, self._doubles, self._strangers, self._wrong_bytes, self._loose_ends,
            self._needless_requests, self._overspent,
        ]  # fmt: skip
        if self.around.is_steady:
            checks += [self._unbooked, self._impatient, self._importunate]
        return [fault for check in checks for fault in check()]

    def _lost_visits(self) -> Wrong:
        """No acknowledged visit is lost or altered, nor one that somebody was told of."""
        for uid, visit in self.promised.items():
            if self.after.visits.get(uid) != visit:
                yield f"visit {uid} was {visit} and is {self.after.visits.get(uid)}"
        for uid in self.diary.told - self.promised.keys():
            yield f"visit {uid} was told of before it was acknowledged"

    def _doubles(self) -> Wrong:
        """No request is kept twice, and no record."""
        for name, count in Counter(record.request for record in self.answers).items():
            if count > 1:
                yield f"request {name} is in {count} records"
        for name, count in Counter(record.id for record in self.kept).items():
            if count > 1:
                yield f"record {name} is there {count} times"

    def _strangers(self) -> Wrong:
        """Every visit has its record, every record its visit, and every answer its request.

        Only a page that its host closes has visits without any of these.
        """
        uids = {record.uid for record in self.answers}
        visits = self.after.visits.items()
        for uid in uids ^ {uid for uid, visit in visits if visit.outcome is not Outcome.ROBOTS}:
            yield f"visit {uid} is {'only in the archive' if uid in uids else 'without a record'}"
        entries = {str(entry.id): entry for entry in self.log}
        for record in self.answers:
            entry = entries.get(record.request)
            if entry is None or self.around.web.urls[entry.host] + entry.path != record.target:
                yield f"record {record} answers no request of the log"
        for entry in self.log:
            if entry.path.startswith(CLOSED):
                yield f"{entry} is closed by robots.txt"

    def _wrong_bytes(self) -> Wrong:
        """What is kept is what was sent."""
        entries = {str(entry.id): entry for entry in self.asked}
        for record in self.answers:
            entry = entries.get(record.request)
            if entry is not None and record.type != REVISIT:
                sent = sent_to(entry).body.encode()
                if sha1(sent).hexdigest() != record.digest:
                    yield f"record {record} is not what was sent to request {entry.id}"

    def _loose_ends(self) -> Wrong:
        """No page is held for a crawler that is dead."""
        if self.after.leased:
            yield f"still leased: {sorted(self.after.leased)}"

    def _needless_requests(self) -> Wrong:
        """What has to be asked for again was in flight: each page at most once in each life."""
        pages = self.around.web.pages
        lost = Counter((self.around.life(e), e.host, e.path) for e in self.lost)
        for (life, host, path), count in lost.items():
            out = self.around.out[life] if life < len(self.around.out) else frozenset()
            room = sum((host, path) in route(*pages[url]) for url in out)
            if count > room:
                yield f"life {life} lost {count} requests for {host}{path}, {room} were in flight"

    def _overspent(self) -> Wrong:
        """No more is booked on any day than the budget allows, and nothing is asked unbooked."""
        for day, booked in self.after.requests.items():
            if booked > self.around.budget:
                yield f"{day}: {booked} requests are booked"
        if len(self.asked) > sum(self.after.requests.values()):
            yield f"servers saw {len(self.asked)} requests, booked are {self.after.requests}"

    def _unbooked(self) -> Wrong:
        """By the end of every day no more was asked than had been booked by then."""
        booked = apart = asked = rules = 0
        for day in self.after.requests:
            booked += self.after.requests[day]
            apart += self.after.apart[day]
            asked += sum(self.around.day(entry) == day for entry in self.asked)
            rules += sum(
                entry.path == ROBOTS and self.around.day(entry) == day for entry in self.log
            )
            if asked > booked or rules > apart + self._unwritten:
                yield f"by {day} servers saw {asked} + {rules}, booked are {booked} + {apart}"

    @property
    def _unwritten(self) -> int:
        """Return how many requests for robots.txt, written down together, kills may have hidden."""
        return len(self.around.births) * len(self.around.web.urls)

    def _impatient(self) -> Wrong:
        """No host is asked sooner than its delay allows, whoever asked before."""
        for host, times in self.diary.released.items():
            for before, after in pairwise(times):
                if after - before < self.around.delay - ROUNDING_SECONDS:
                    yield f"{host} was asked again after {after - before:.3f} s at {after:.3f}"

    def _importunate(self) -> Wrong:
        """A host that asked for a pause got it, as soon as its answer was recorded."""
        recorded = self.recorded
        pause = RETRY_AFTER / self.around.clock.speed
        by_host: dict[str, list[Entry]] = {}
        for entry in self.log:
            by_host.setdefault(entry.host, []).append(entry)
        for entries in by_host.values():
            for entry, following in pairwise(entries):
                is_pause = entry.path != ROBOTS and sent_to(entry).status == THROTTLED
                if is_pause and entry.id in recorded and following.began - entry.began < pause:
                    yield f"{following.path} was asked for too soon after {entry}"


def kept_in(folder: Path) -> tuple[list[Kept], list[str]]:
    """Return an archive's records as two other programs read them, and where those differ."""
    one, two = list(read_by_warcio(folder)), list(read_by_fastwarc(folder))
    faults = [f"warcio reads {a}, fastwarc {b}" for a, b in zip(one, two, strict=False) if a != b]
    if len(one) != len(two):
        faults.append(f"warcio reads {len(one)} records, fastwarc {len(two)}")
    return one, faults
