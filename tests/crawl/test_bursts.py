"""Bursts in a live crawl without the network: who gets them, when, and at what cost."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count, pairwise
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from freshet.analysis.bursts import collection_burst_table
from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import DailySpending, HistoryRow, HostState
from freshet.archive.observation import Observation
from freshet.collection.collection import Collection
from freshet.core.bursts import BurstKind
from freshet.core.clock import FixedClock
from freshet.core.tables import HostCaps
from freshet.core.types import Outcome, Snapshot
from freshet.crawl.fetch_job import FetchJob
from freshet.crawl.session import CrawlSession
from freshet.record.change_criteria import page_mask
from freshet.record.page_bursts import page_bursts
from tests.crawl.crawl_samples import booked

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = "2026-03-01"
SOON = timedelta(seconds=1)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
TICKER = "https://ticker.example/"
STILL = "https://still.example/"
BUDGET = "1000/day"
SECOND_AT_ONCE = "instant burst, a host's delay after the first"
WORDS = ("river", "rose", "spring", "fields", "along", "were", "green", "again", "that", "year")

Text = Callable[[datetime], str]


def make(folder: Path, *urls: str, **settings: Mapping[str, Any]) -> Path:
    with Collection.create(folder, contact="me@example.org") as collection:
        collection.add_many(urls or [TICKER, STILL])
    with (folder / "freshet.toml").open("a") as file:
        for name, table in settings.items():
            lines = "".join(f"{key} = {value}\n" for key, value in table.items())
            file.write(f"[{name}]\n{lines}")
    return folder


@contextmanager
def crawling(folder: Path, clock: FixedClock, budget: str = BUDGET) -> Iterator[CrawlSession]:
    opened = Collection.open(folder, clock=clock)
    with opened as collection, collection.recording() as recorder:
        session = CrawlSession(collection, recorder, budget=budget)
        session.start()
        yield session


def fetched_page(job: FetchJob, now: datetime, text: str, etag: str = "") -> Observation:
    body = f"<html><body><p>words of {job.url}: {text}</p></body></html>".encode()
    headers = (("content-type", "text/html"), ("etag", f'"{etag or text}"'))
    observation = Observation(
        job.url, "", now, uuid4().bytes, Snapshot(job.url, body, 200, headers)
    )  # fmt: skip
    return booked(observation, job)


def not_modified(job: FetchJob, now: datetime) -> Observation:
    observation = Observation(job.url, "", now, uuid4().bytes, outcome=Outcome.NOT_MODIFIED)
    return booked(observation, job)


def failed_visit(job: FetchJob, now: datetime) -> Observation:
    observation = Observation(job.url, "", now, uuid4().bytes, outcome=Outcome.TIMEOUT)
    return booked(observation, job)


def every_time() -> Text:
    numbers = count()
    return lambda now: str(next(numbers))


def counted() -> Text:
    """Return a text that stands but for the number of the visit."""
    standing = "".join(f"<p>Paragraph {n} of a page that stands as it is.</p>" for n in "abcdef")
    numbers = count(81434, 37)
    return lambda now: f"{standing}<p>You are visitor number {next(numbers)} of this harbour</p>"


def other_words(now: datetime) -> str:
    """Return words that stand for two minutes, and then others."""
    chance = Random(f"{now:%d %H} {now.minute // 2}")
    return " ".join(chance.sample(WORDS, k=7))


def by_hour(now: datetime) -> str:
    return f"<p>{other_words(now.replace(minute=0))}</p>"


def by_two_hours(now: datetime) -> str:
    return f"{now:%d} {now.hour // 2}"


def hourly(now: datetime) -> str:
    return f"{now:%d %H}"


def never(now: datetime) -> str:
    return "same"


class Web:
    """Pages that show what their texts say, visited as the crawl draws them."""

    def __init__(self, session: CrawlSession, clock: FixedClock, texts: Mapping[str, Text]) -> None:
        self.session = session
        self.clock = clock
        self.texts = texts
        self.fetched_jobs: list[tuple[datetime, FetchJob]] = []

    def draw(self) -> list[FetchJob]:
        return list(self.session.draw_jobs(self.clock.now() + SOON, 100, HostCaps()).jobs)

    def visit(self) -> list[FetchJob]:
        """Visit what is drawn now; return the samples among it."""
        now = self.clock.now()
        jobs = self.draw()
        self.fetched_jobs += [(now, job) for job in jobs]
        self.session.record_observations([self.answer(job, now) for job in jobs])
        return [job for job in jobs if job.is_sample]

    def answer(self, job: FetchJob, now: datetime) -> Observation:
        return fetched_page(job, now, self.texts[job.url](now))

    def ask_for(self, url: str) -> None:
        catalog = self.session._catalog
        catalog.request_visits([catalog.pages_with_url(url)[0].id], self.clock.now())
        self.session.jobs.frontier.reload()

    def go_on(self, span: timedelta, step: timedelta = MINUTE) -> list[tuple[datetime, FetchJob]]:
        """Let time pass; return the samples that were taken meanwhile."""
        before, end = len(self.fetched_jobs), self.clock.now() + span
        while self.clock.now() < end:
            self.clock.at += step
            self.visit()
        return [item for item in self.fetched_jobs[before:] if item[1].is_sample]


class Claiming(Web):
    """Pages whose servers claim that they stand as long as a claim is the same."""

    claim: Text = staticmethod(never)

    def answer(self, job: FetchJob, now: datetime) -> Observation:
        claim = self.claim(now)
        if job.etag == f'"{claim}"':
            return not_modified(job, now)
        return fetched_page(job, now, self.texts[job.url](now), claim)


def look_hourly(web: Web, times: int, url: str = TICKER) -> None:
    """Have a page looked at by the hour, so often."""
    for _ in range(times):
        web.ask_for(url)
        web.visit()
        web.clock.at += HOUR


def until_fast(web: Web) -> list[tuple[datetime, FetchJob]]:
    """Let pages have their instant bursts, which are returned; a minute later fast ones are due."""
    samples = web.go_on(2 * MINUTE)
    web.go_on(4 * HOUR - MINUTE, 4 * HOUR - MINUTE)
    return samples


def offsets(samples: list[tuple[datetime, FetchJob]]) -> list[int]:
    first = samples[0][0]
    return [round((at - first) / MINUTE) for at, _ in samples]


def test_a_page_that_changed_at_four_looks_gets_an_instant_burst_first(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: hourly, STILL: never})
        look_hourly(web, 4)
        assert not [job for _, job in web.fetched_jobs if job.is_sample]
        look_hourly(web, 1)
        samples = web.go_on(4 * HOUR, 4 * MINUTE)
    assert {job.url for _, job in samples} == {TICKER}
    assert [job.reason for _, job in samples] == [
        "instant burst, the first",
        SECOND_AT_ONCE,
    ]


def test_a_page_that_still_changes_after_its_instant_burst_gets_a_fast_one(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: hourly, STILL: never})
        look_hourly(web, 5)
        assert len(until_fast(web)) == 2
        samples = web.go_on(HOUR, 2 * MINUTE)
        assert offsets(samples) == [0, 2, 16, 32]
        assert {job.url for _, job in samples} == {TICKER}
        assert [job.reason for _, job in samples] == [
            "fast burst, the first",
            "fast burst, 2 minutes after the first",
            "fast burst, 16 minutes after the first",
            "fast burst, 32 minutes after the first",
        ]
        assert {(job.etag, job.last_modified) for _, job in samples} == {(None, None)}


def test_a_crawl_whose_requests_are_far_apart_draws_again_for_the_next_sample(
    tmp_path: Path,
) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    texts = {TICKER: hourly, STILL: never}
    with crawling(folder, clock) as session:
        web = Web(session, clock, texts)
        look_hourly(web, 5)
        until_fast(web)
        samples = web.go_on(5 * MINUTE)
        assert offsets(samples) == [0, 2]
    clock.at += 2 * MINUTE
    with crawling(folder, clock, "100/day") as session:
        Web(session, clock, texts).visit()
        again = session.draw_jobs(clock.now() + SOON, 100, HostCaps()).next_draw
    assert again == samples[0][0] + 16 * MINUTE


def test_visits_of_a_burst_are_known_as_its_samples(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: hourly, STILL: never})
        look_hourly(web, 5)
        until_fast(web)
        web.go_on(HOUR, 2 * MINUTE)
    with Collection.open(folder, clock=clock) as collection:
        page = collection.page(TICKER)
        first, second, *samples = collection.catalog.burst_samples(page.id)
        assert (first.kind, second.kind, second.first) == ("instant", "instant", first.visit)
        times = {row.visit.id: row.visit.time for row in page.history()}
        assert [sample.offset for sample in samples] == [0.0, 120.0, 960.0, 1920.0]
        assert {sample.first for sample in samples} == {samples[0].visit}
        spans = [(times[s.visit] - times[samples[0].visit]).total_seconds() for s in samples]
        assert spans == pytest.approx([0.0, 120.0, 960.0, 1920.0], abs=61)
        assert collection.catalog.spending(DAY).burst_requests == 2 + 4
        assert collection.catalog.leases() == []


def test_the_next_burst_comes_four_hours_after_the_first(tmp_path: Path) -> None:
    clock = FixedClock(NOON - 8 * HOUR)
    folder = make(tmp_path / "c")
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: hourly, STILL: never})
        look_hourly(web, 5)
        until_fast(web)
        web.clock.at -= MINUTE
        samples = web.go_on(5 * HOUR, 2 * MINUTE)
        assert offsets(samples) == [0, 2, 16, 32, 240, 242, 256, 272]


def test_a_page_that_changes_within_two_minutes_is_looked_at_twice_in_a_row(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: other_words, STILL: never})
        look_hourly(web, 5)
        until_fast(web)
        samples = web.go_on(HOUR)
    assert offsets(samples) == [0, 2, 16, 32, 33, 34]
    assert [job.reason for _, job in samples[4:]] == [
        "instant burst, the first",
        SECOND_AT_ONCE,
    ]
    with Collection.open(folder) as collection:
        first, fast, instant = page_bursts(collection.catalog, collection.page(TICKER).id)
        assert (first.kind, len(first.visits), first.is_spaced) == (BurstKind.INSTANT, 2, True)
        assert (fast.kind, len(fast.visits), fast.is_spaced) == (BurstKind.FAST, 4, False)
        assert (instant.kind, len(instant.visits), instant.is_spaced) == (
            BurstKind.INSTANT,
            2,
            True,
        )


def test_a_page_whose_server_denies_its_changes_gets_an_instant_burst(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c", network={"audit_every": 1})
    with crawling(folder, clock) as session:
        web = Claiming(session, clock, {TICKER: hourly, STILL: never})
        look_hourly(web, 5)
        web.go_on(HOUR, 2 * MINUTE)
        outcomes = [row.visit.outcome for row in ticker(session)]
    assert outcomes[:5] == [Outcome.OK, *[Outcome.NOT_MODIFIED, Outcome.OK] * 2]
    samples = [job.reason for _, job in web.fetched_jobs if job.is_sample]
    assert samples == ["instant burst, the first", SECOND_AT_ONCE]


def test_a_page_whose_server_is_right_that_it_stands_gets_no_bursts(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c", network={"audit_every": 1})
    with crawling(folder, clock) as session:
        web = Claiming(session, clock, {TICKER: by_two_hours, STILL: never})
        web.claim = by_two_hours
        look_hourly(web, 10)
        assert web.go_on(10 * MINUTE) == []
        changed = [row.change.changed for row in ticker(session) if row.change]
        assert changed.count(True) >= 4


def test_a_page_that_changes_under_its_new_mask_too_goes_on_to_fast_bursts(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    numbered = counted()
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: lambda now: numbered(now) + by_hour(now), STILL: never})
        look_hourly(web, 5)
        assert len(until_fast(web)) == 2
        assert [job.reason for _, job in web.go_on(MINUTE)] == ["fast burst, the first"]
    with Collection.open(folder) as collection:
        rules = page_mask(collection, collection.page(TICKER)).rules
        assert [rule.what for rule in rules] == ["You are visitor number # of this harbour"]


def test_a_page_whose_mask_an_instant_burst_teaches_gets_no_fast_one(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: counted(), STILL: never})
        look_hourly(web, 5)
        samples = [*web.go_on(2 * MINUTE), *web.go_on(6 * HOUR, 10 * MINUTE)]
    assert [job.reason for _, job in samples] == [
        "instant burst, the first",
        SECOND_AT_ONCE,
    ]
    with Collection.open(folder) as collection:
        assert page_mask(collection, collection.page(TICKER)).rules
        assert not collection.page(TICKER).history()[-1].change.changed


def ticker(session: CrawlSession) -> list[HistoryRow]:
    catalog = session._catalog
    return catalog.history(catalog.pages_with_url(TICKER)[0].id)


def leased(catalog: Catalog) -> list[str]:
    pages = [lease.page for lease in catalog.leases()]
    return [page.url for page in catalog.pages_by_id(pages).values()]


def two_at_once(folder: Path) -> Path:
    return make(folder, politeness={"delay": 0.0, "per_host": 2})


def until_instant(web: Web) -> list[FetchJob]:
    """Return the instant burst of a page that changes hourly, drawn and not yet visited."""
    look_hourly(web, 5)
    return [job for job in web.draw() if job.is_sample]


def test_two_looks_are_made_at_once_where_the_host_allows_them(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = two_at_once(tmp_path / "c")
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: every_time(), STILL: never})
        jobs = until_instant(web)
        spent = session.day_spending().spent
        assert [job.reason for job in jobs] == ["instant burst, two at once"] * 2
        assert web.draw() == []
        session.record_observations([fetched_page(jobs[0], clock.now(), "one")])
        assert web.draw() == []
        session.record_observations([fetched_page(jobs[1], clock.now(), "two")])
        assert session.day_spending().spent == spent
    with Collection.open(folder) as collection:
        [instant] = page_bursts(collection.catalog, collection.page(TICKER).id)
        assert (len(instant.visits), instant.is_spaced) == (2, False)
        assert collection.catalog.spending(DAY) == DailySpending(spent, 0, 2)
        assert TICKER not in leased(collection.catalog)


def test_two_looks_at_once_at_a_page_that_stands_still_are_one_burst(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = two_at_once(tmp_path / "c")
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: hourly, STILL: never})
        jobs = until_instant(web)
        for job in jobs:
            session.record_observations([
                fetched_page(job, clock.now(), hourly(clock.now() - HOUR))
            ])
    with Collection.open(folder) as collection:
        [instant] = page_bursts(collection.catalog, collection.page(TICKER).id)
        assert (instant.kind, len(instant.visits)) == (BurstKind.INSTANT, 2)
        assert TICKER not in leased(collection.catalog)


def test_one_of_two_looks_at_once_can_be_given_back(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = two_at_once(tmp_path / "c")
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: every_time(), STILL: never})
        jobs = until_instant(web)
        spent = session.day_spending().spent
        session.return_jobs(jobs[1:])
        assert session.day_spending().spent == spent - 1
        session.record_observations([fetched_page(jobs[0], clock.now(), "one")])
        assert TICKER not in leased(session._catalog)
        assert session._catalog.spending(DAY).burst_requests == 1
        [again] = web.visit()
        assert again.reason == SECOND_AT_ONCE


def test_two_looks_at_once_that_never_went_out_are_drawn_again(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = two_at_once(tmp_path / "c")
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: every_time(), STILL: never})
        jobs = until_instant(web)
        spent = session.day_spending().spent
        session.return_jobs(jobs)
        assert session.day_spending().spent == spent - 2
        assert TICKER not in leased(session._catalog)
        assert [job.url for job in web.visit()] == [TICKER] * 2


def test_a_crawl_delay_keeps_two_looks_apart(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = two_at_once(tmp_path / "c")
    with crawling(folder, clock) as session:
        session._catalog.set_host_states([HostState("ticker.example", delay=5.0)])
        web = Web(session, clock, {TICKER: every_time(), STILL: never})
        [job] = until_instant(web)
        assert job.reason == "instant burst, the first"


def test_a_restart_in_the_middle_goes_on_with_the_burst(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    texts = {TICKER: hourly, STILL: never}
    with crawling(folder, clock) as session:
        web = Web(session, clock, texts)
        look_hourly(web, 5)
        until_fast(web)
        before = web.go_on(10 * MINUTE)
    with crawling(folder, clock) as session:
        after = Web(session, clock, texts).go_on(HOUR)
    assert offsets(before + after) == [0, 2, 16, 32]
    with Collection.open(folder) as collection:
        _, one = page_bursts(collection.catalog, collection.page(TICKER).id)
        assert len(one.visits) == 4


def test_a_restart_between_two_looks_at_once_goes_on_with_the_second(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    texts = {TICKER: hourly, STILL: never}
    with crawling(folder, clock) as session:
        web = Web(session, clock, texts)
        look_hourly(web, 5)
        assert len(web.go_on(MINUTE)) == 1
    with crawling(folder, clock) as session:
        [(_, second)] = Web(session, clock, texts).go_on(HOUR, 2 * MINUTE)
        assert second.reason == SECOND_AT_ONCE


def test_a_candidate_is_still_one_after_a_restart(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    texts = {TICKER: hourly, STILL: never}
    with crawling(folder, clock) as session:
        look_hourly(Web(session, clock, texts), 5)
    with crawling(folder, clock) as session:
        web = Web(session, clock, texts)
        assert offsets(until_fast(web)) == [0, 1]
        assert offsets(web.go_on(HOUR, 2 * MINUTE)) == [0, 2, 16, 32]


def test_a_crash_after_a_sample_was_written_does_not_take_it_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    texts = {TICKER: hourly, STILL: never}
    with crawling(folder, clock) as session:
        web = Web(session, clock, texts)
        look_hourly(web, 5)
        until_fast(web)
        clock.at += MINUTE
        [job] = [job for job in web.draw() if job.is_sample]
        with monkeypatch.context() as patch:
            patch.setattr(type(session._catalog), "set_burst_progress", _crash)
            with pytest.raises(RuntimeError):
                session.record_observations([fetched_page(job, clock.now(), hourly(clock.now()))])
    with crawling(folder, clock) as session:
        after = Web(session, clock, texts).go_on(HOUR, 2 * MINUTE)
    assert after[0][1].reason == "fast burst, 2 minutes after the first"
    assert len(after) == 3


def _crash(*_: object) -> None:
    raise RuntimeError("killed here")


def test_a_sample_that_could_not_be_noted_is_noted_when_it_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: hourly, STILL: never})
        look_hourly(web, 5)
        until_fast(web)
        clock.at += MINUTE
        [job] = [job for job in web.draw() if job.is_sample]
        fetched = [fetched_page(job, clock.now(), hourly(clock.now()))]
        with monkeypatch.context() as patch:
            patch.setattr(type(session._catalog), "set_burst_progress", _crash)
            with pytest.raises(RuntimeError):
                session.record_observations(fetched)
        assert len(session.record_observations(fetched)) == 1
        assert offsets([(clock.now(), job), *web.go_on(HOUR, 2 * MINUTE)]) == [0, 2, 16, 32]


def test_a_killed_crawl_loses_no_more_than_the_sample_that_was_out(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    texts = {TICKER: hourly, STILL: never}
    with crawling(folder, clock) as session:
        web = Web(session, clock, texts)
        look_hourly(web, 5)
        until_fast(web)
        clock.at += MINUTE
        out = web.draw()
        spent = session.day_spending().spent
    with crawling(folder, clock) as session:
        assert session.day_spending().spent == spent
        after = Web(session, clock, texts).go_on(HOUR, 2 * MINUTE)
        assert offsets(after) == [0, 2, 16, 32]
    with Collection.open(folder, clock=clock) as collection:
        today = collection.status().today
        assert (today.samples, today.lost, today.in_rounds) == (2 + 5, len(out), 0)


def test_bursts_stay_within_their_share_of_the_day(tmp_path: Path) -> None:
    clock = FixedClock(NOON - 11 * HOUR)
    urls = [f"https://t{number}.example/" for number in range(6)]
    folder = make(tmp_path / "c", *urls)
    with crawling(folder, clock, "100/day") as session:
        web = Web(session, clock, dict.fromkeys(urls, hourly))
        for _ in range(5):
            for url in urls:
                web.ask_for(url)
            web.visit()
            clock.at += HOUR
        assert len(web.go_on(18 * HOUR - 6 * MINUTE, 6 * MINUTE)) == 8
        assert session._catalog.spending(DAY).burst_requests == 8
        assert session._catalog.spending(DAY).requests == 100


@pytest.mark.parametrize("rounds", [{"share": 0}, {"fast": 0}, {"share": 0.001}])
def test_there_are_no_bursts_where_none_are_wanted_or_the_share_is_too_small(
    tmp_path: Path, rounds: dict[str, Any]
) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c", rounds=rounds)
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: hourly, STILL: never})
        look_hourly(web, 6)
        assert web.go_on(HOUR, 5 * MINUTE) == []


@pytest.mark.parametrize("share", [0.002, 0.003])
def test_a_share_too_small_for_fast_bursts_is_enough_for_an_instant_one_a_day(
    tmp_path: Path, share: float
) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c", rounds={"share": share})
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: hourly, STILL: never})
        look_hourly(web, 5)
        assert offsets(until_fast(web)) == [0, 1]
        assert web.go_on(6 * HOUR, 10 * MINUTE) == []


def test_pages_requested_alone_get_no_bursts(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    with crawling(folder, clock) as session:
        look_hourly(Web(session, clock, {TICKER: hourly, STILL: never}), 5)
    opened = Collection.open(folder, clock=clock)
    with opened as collection, collection.recording() as recorder:
        only = CrawlSession(collection, recorder, only=[collection.page(STILL).id])
        only.start()
        assert only.draw_jobs(clock.now() + SOON, 100, HostCaps()).jobs == ()


def test_a_crawl_that_ends_when_it_has_caught_up_begins_no_bursts(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    with crawling(folder, clock) as session:
        look_hourly(Web(session, clock, {TICKER: hourly, STILL: never}), 5)
    opened = Collection.open(folder, clock=clock)
    with opened as collection, collection.recording() as recorder:
        guest = CrawlSession(collection, recorder, budget=BUDGET, catch_up=True)
        guest.start()
        jobs = guest.draw_jobs(clock.now() + SOON, 100, HostCaps()).jobs
        assert {job.is_sample for job in jobs} == {False}


def test_a_paused_page_has_no_samples(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: hourly, STILL: never})
        look_hourly(web, 5)
        with Collection.open(folder) as beside:
            beside.pause([beside.page(TICKER)])
        assert web.go_on(2 * HOUR, 5 * MINUTE) == []


def test_a_page_is_left_alone_between_samples_as_long_as_the_settings_say(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c", politeness={"page_interval": 600})
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: hourly, STILL: never})
        look_hourly(web, 5)
        until_fast(web)
        assert offsets(web.go_on(HOUR, 2 * MINUTE))[:3] == [0, 10, 20]
        made = [item for item in web.fetched_jobs if item[1].url == TICKER]
        times = [at for at, job in made if job.reason != SECOND_AT_ONCE]
        assert len(times) == len(made) - 1
        assert min(later - sooner for sooner, later in pairwise(times)) == 10 * MINUTE


def test_a_page_that_stands_still_at_a_burst_has_no_more_of_them(tmp_path: Path) -> None:
    clock = FixedClock(NOON - 10 * HOUR)
    folder = make(tmp_path / "c")
    texts: dict[str, Text] = {TICKER: hourly, STILL: never}
    with crawling(folder, clock) as session:
        web = Web(session, clock, texts)
        look_hourly(web, 5)
        until_fast(web)
        assert len(web.go_on(3 * HOUR, 2 * MINUTE)) == 4
        texts[TICKER] = never
        look_hourly(web, 2)
        assert web.go_on(12 * HOUR, 20 * MINUTE) == []


def test_a_failed_first_sample_costs_one_request_and_ends_the_burst(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: hourly, STILL: never})
        look_hourly(web, 5)
        [job] = [job for job in web.draw() if job.is_sample]
        session.record_observations([failed_visit(job, clock.now())])
        assert web.go_on(3 * HOUR, 5 * MINUTE) == []


def test_a_sample_that_robots_forbid_costs_nothing(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c")
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: hourly, STILL: never})
        look_hourly(web, 5)
        [job] = [job for job in web.draw() if job.is_sample]
        spent = session.day_spending().spent
        observation = Observation(job.url, "", clock.now(), uuid4().bytes, outcome=Outcome.ROBOTS)
        session.record_observations([booked(observation, job, was_sent=False)])
        assert session.day_spending().spent == spent - 1
        assert session._catalog.spending(DAY) == DailySpending(spent - 1, 0, 0)


def test_a_page_out_for_a_sample_is_chosen_for_nothing_else(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    folder = make(tmp_path / "c", politeness={"page_interval": 0.0})
    with crawling(folder, clock, "100000/day") as session:
        web = Web(session, clock, {TICKER: hourly, STILL: never})
        look_hourly(web, 5)
        out = [job.url for job in web.draw()]
        assert out.count(TICKER) == 1
        clock.at += MINUTE
        assert TICKER not in [job.url for job in web.draw()]


def test_the_table_of_bursts_tells_how_many_pages_change_how_fast(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    other = "https://hour.example/"
    folder = make(tmp_path / "c", TICKER, other)
    with crawling(folder, clock) as session:
        web = Web(session, clock, {TICKER: other_words, other: hourly})
        for _ in range(5):
            web.ask_for(TICKER)
            web.ask_for(other)
            web.visit()
            clock.at += HOUR
        until_fast(web)
        web.go_on(HOUR, 2 * MINUTE)
    with Collection.open(folder) as collection:
        rows = {row.minutes: row for row in collection_burst_table(collection)}
    assert {minutes: (row.pages, row.any, row.all) for minutes, row in rows.items()} == {
        0: (2, 0.5, 0.5),
        2: (2, 0.5, 0.5),
        16: (2, 0.5, 0.5),
        32: (2, 0.5, 0.5),
        60: (2, 1.0, 1.0),
    }
    assert rows[0].apart == 2
    assert 0.0 < rows[2].mean_dice < 1.0


def test_a_collection_without_bursts_has_an_empty_table(tmp_path: Path) -> None:
    folder = make(tmp_path / "c")
    with Collection.open(folder) as collection:
        assert collection_burst_table(collection) == []
        assert page_bursts(collection.catalog, collection.page(TICKER).id) == []
