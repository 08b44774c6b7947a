"""Whatever happens to a crawl, bursts stay within their share and the day within its budget."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from freshet.archive.catalog.catalog import Catalog
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.core.tables import HostCaps
from freshet.crawl.fetch_job import FetchJob
from freshet.crawl.session import CrawlSession
from tests.crawl.test_bursts import Web, crawling, every_time, failed_visit, fetched_page, make

START = datetime(2026, 3, 1, 23, tzinfo=UTC)
DAYS = ("2026-03-01", "2026-03-02", "2026-03-03")
URLS = [f"https://t{number}.example/" for number in range(4)]

# Every example opens collections anew, so that making a failing one smaller would take minutes.
QUICK = (Phase.explicit, Phase.generate)

happenings = st.lists(
    st.tuples(
        st.sampled_from(["visit", "visit", "visit", "fail", "give back", "kill", "half"]),
        st.sampled_from([1, 2, 5, 14, 30, 120]),
    ),
    min_size=5,
    max_size=20,
)


def accept(session: CrawlSession, clock: FixedClock, jobs: list[FetchJob], event: str) -> None:
    """Let something happen to what was drawn."""
    now = clock.now()
    if event == "give back":
        session.return_jobs(jobs)
    elif event == "half":
        session.return_jobs(jobs[1::2])
        session.record_observations([fetched_page(job, now, str(now)) for job in jobs[::2]])
    elif event == "fail":
        session.record_observations([failed_visit(job, now) for job in jobs])
    elif event == "visit":
        session.record_observations([fetched_page(job, now, str(now)) for job in jobs])


def samples_by_day(collection: Collection) -> Counter[str]:
    catalog: Catalog = collection.catalog
    return Counter(
        f"{row.visit.time:%Y-%m-%d}"
        for page in collection.pages()
        for row in catalog.history(page.id)
        if row.visit.id in {sample.visit for sample in catalog.burst_samples(page.id)}
    )


def begin_bursts(folder: Path, clock: FixedClock, budget: str) -> None:
    """Have every page change at five looks, so that all may have bursts."""
    with crawling(folder, clock, budget) as session:
        web = Web(session, clock, dict.fromkeys(URLS, every_time()))
        for _ in range(5):
            for url in URLS:
                web.ask_for(url)
            web.visit()
            clock.at += timedelta(minutes=5)


def live(folder: Path, clock: FixedClock, budget: str, happens: list[tuple[str, int]]) -> None:
    """Crawl until what was drawn last is lost, or nothing more happens."""
    with crawling(folder, clock, budget) as session:
        while happens:
            event, minutes = happens.pop(0)
            clock.at += timedelta(minutes=minutes)
            drawn = session.draw_jobs(clock.now() + timedelta(seconds=1), 100, HostCaps())
            accept(session, clock, list(drawn.jobs), event)
            if event == "kill":
                return


@settings(max_examples=8, deadline=None, phases=QUICK)
@given(happenings, st.sampled_from([60, 150]), st.booleans())
def test_bursts_never_use_more_than_their_share(
    happens: list[tuple[str, int]], budget: int, twice: bool
) -> None:
    clock = FixedClock(START)
    polite = {"delay": 0.0, "per_host": 2} if twice else {"delay": 1.0}
    with TemporaryDirectory() as name:
        folder = make(Path(name) / "c", *URLS, politeness=polite)
        begin_bursts(folder, clock, f"{budget}/day")
        while happens:
            live(folder, clock, f"{budget}/day", happens)
        with Collection.open(folder) as collection:
            taken = samples_by_day(collection)
            for day in DAYS:
                spent = collection.catalog.spending(day)
                assert taken[day] <= spent.burst_requests <= budget // 10
                assert spent.burst_requests <= spent.requests <= budget
