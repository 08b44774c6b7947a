"""A crawl that has one life after the other; what each left is examined."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from freshet.collection.collection import Collection
from freshet.core.budget import utc_day
from freshet.core.clock import ScaledClock, monotonic_seconds
from freshet.core.types import Visit
from freshet.crawl.session import CrawlSession
from freshet.fetch.recording_loop import NO_LIMITS, CrawlLimits
from tests.fetch.crash.evidence import Circumstances, Diary, Evidence, acknowledged, kept_in
from tests.fetch.crash.lives import Crawling, Death, Life, live
from tests.fetch.crash.web import served
from tests.fetch.crawls import make_collection

START = datetime(2026, 3, 1, 18, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Ways:
    """How a trial is set up: the crawl's clock, its budget of a day, and its politeness.

    ``is_steady`` says that the clock does not jump.
    """

    speed: float = 7_200.0
    budget: int = 60
    delay: float = 120.0
    is_steady: bool = True


USUAL = Ways()


class Trial:
    """A collection and a web of its own, the lives of its crawler, and the faults they showed."""

    def __init__(self, crawling: Crawling, around: Circumstances) -> None:
        self.crawling = crawling
        self.around = around
        self.faults: list[str] = []
        self.evidence: Evidence
        self._promised: dict[str, Visit] = {}

    def live(self, death: Death, prepare: Callable[[], None] = lambda: None) -> Life:
        """Let a crawler live and die, and note what it has acknowledged."""
        life = live(self.crawling, death, prepare)
        with Collection.open(self.crawling.folder) as collection:
            left = acknowledged(collection, ())
        if left.leased and not life.code:
            self.faults.append(f"an orderly end left {sorted(left.leased)} leased")
        self._promised |= left.visits
        self.around.births.append(life.began)
        self.around.out.append(self._in_flight(life, left.leased))
        return life

    def said(self) -> str:
        """Return what the lives printed."""
        return self.crawling.last_words.read_text()

    def examine(self, when: object) -> None:
        """Restart on a copy, so that what was left stays as it is, and compare everything."""
        copy = self.crawling.folder.with_name("copy")
        shutil.copytree(self.crawling.folder, copy)
        with Collection.open(copy, clock=self.crawling.clock) as collection:
            with collection.recording() as recorder:
                CrawlSession(collection, recorder).start()
            after = acknowledged(collection, self._days())
            faults = [str(problem) for problem in collection.check().problems]
        kept, differences = kept_in(copy / "archive")
        shutil.rmtree(copy)
        diary = Diary.read(self.crawling.diary)
        log = self.around.web.entries()
        self.evidence = Evidence(self.around, self._promised, after, log, kept, diary)
        found = [*faults, *differences, *self.evidence.faults()]
        self.faults += [f"life {len(self.around.births)}, {when}: {fault}" for fault in found]

    def _in_flight(self, life: Life, leased: frozenset[str]) -> frozenset[str]:
        """Return the pages of which requests may have to be made again after a life.

        An orderly end waits for every answer, a failure for none.
        """
        if life.is_killed:
            return leased
        return frozenset(self.around.web.pages if life.code else ())

    def _days(self) -> list[str]:
        """Return every day that the crawl's clock may have seen."""
        now = self.crawling.clock.now()
        return [utc_day(START + timedelta(days=n)) for n in range(-2, (now - START).days + 3)]


class JumpingClock(ScaledClock):
    """A quick clock that can be set forward and back."""

    offset = timedelta(0)

    def now(self) -> datetime:
        """Return the time that it shows."""
        return super().now() + self.offset


@contextmanager
def trial(folder: Path, ways: Ways = USUAL, limits: CrawlLimits = NO_LIMITS) -> Iterator[Trial]:
    """Make a collection of the web's pages, to be crawled within a budget by a quick clock.

    Its folder stays only where there were faults.
    """
    folder.mkdir()
    with served(folder) as web:
        polite = {"delay": ways.delay, "page_interval": 0.0}
        made = make_collection(folder / "collection", web.pages, web.allow, polite)
        settings = made / "freshet.toml"
        settings.write_text(f'policy = "age"\n{settings.read_text()}')
        origin, clock = monotonic_seconds(), JumpingClock(START, ways.speed)
        crawling = Crawling(made, clock, f"{ways.budget}/day", limits)
        crawling.diary.touch()
        around = Circumstances(web, clock, origin, ways.budget, ways.delay, ways.is_steady)
        yield (ordeal := Trial(crawling, around))
    if not ordeal.faults:
        shutil.rmtree(folder)
