"""What a crawl tells: a line per change, now and then its progress; every visit is logged."""

import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from freshet.archive.catalog.catalog import Catalog
from freshet.cli import progress_log
from freshet.cli.progress_log import OutputClosedError, ProgressLog
from freshet.core.types import Change, Outcome, Page, Visit
from freshet.crawl.fetch_job import CrawlDaySpending
from freshet.fetch.event_dispatcher import CrawlEvent
from freshet.fetch.politeness.host_closing import HostClosing
from freshet.fetch.politeness.request_queue import QueueStatus

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
URL = "https://example.org/"
PAGE = Page(1, URL, "", "example.org", "example.org", "example.org/", NOW)
CATALOG = cast("Catalog", SimpleNamespace(pages_by_id=lambda ids: {1: PAGE}))


def crawl_event(*changes: Change | None, page: int = 1, **fields: Any) -> CrawlEvent:
    visit = Visit(b"u" * 16, page, NOW, fields.pop("outcome", Outcome.OK), **fields)
    learnt = [(visit, change) for change in changes]
    return CrawlEvent(learnt, CrawlDaySpending("2026-11-15", 7, 500), QueueStatus(0, 0, ()), 0.0)


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def narrator(lines: list[str]) -> ProgressLog:
    return ProgressLog(CATALOG, lines.append)


def test_a_change_is_a_line_and_other_looks_are_none(
    narrator: ProgressLog, lines: list[str]
) -> None:
    narrator(
        crawl_event(
            Change(False), Change(False), Change(True, words=3, new_internal=1, new_external=1)
        )
    )
    assert lines == [f"12:00:00 UTC  {URL}  changed: 3 words, 2 new links"]
    assert (narrator.counts.visits, narrator.counts.looks, narrator.counts.changes) == (3, 3, 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Change(True, words=0, structure=True), "changed: 0 words, its structure"),
        (Change(True), "changed: the page is available again"),
    ],
)
def test_a_change_says_what_is_new(
    narrator: ProgressLog, lines: list[str], change: Change, words: str
) -> None:
    narrator(crawl_event(change))
    assert lines == [f"12:00:00 UTC  {URL}  {words}"]


def test_a_new_mask_is_told_once_and_changes_are_counted_under_it(lines: list[str]) -> None:
    rows = [
        SimpleNamespace(visit=crawl_event(change).visits[0][0], change=change)
        for change in (Change(True, 1), Change(False, 1), Change(False, 1))
    ]
    catalog = SimpleNamespace(
        pages_by_id=lambda ids: {1: PAGE}, history=lambda page, since, until: rows
    )
    narrator = ProgressLog(cast("Catalog", catalog), lines.append)
    changed = Change(True, words=1)
    narrator(crawl_event(changed, changed))
    narrator(crawl_event(Change(False, mask=1)))
    narrator(crawl_event(Change(False, mask=1)))
    assert narrator.counts.changes == 1
    assert len(lines) == 3
    assert lines[-1] == (
        f"12:00:00 UTC  {URL}  text that differs at every visit no longer counts: "
        f"'freshet mask {URL}' shows it"
    )


def test_a_first_look_is_logged_once(narrator: ProgressLog, lines: list[str]) -> None:
    narrator(crawl_event(None, None))
    assert lines == [f"12:00:00 UTC  {URL}  first look"]


def test_the_first_failure_of_its_kind_at_a_host_is_logged_with_its_reason(
    narrator: ProgressLog, lines: list[str]
) -> None:
    why = "127.0.0.1 is special; network.allow opens it"
    for outcome in (Outcome.REFUSED, Outcome.REFUSED, Outcome.TIMEOUT):
        narrator(crawl_event(None, outcome=outcome, why=why if outcome is Outcome.REFUSED else ""))
    assert lines == [f"12:00:00 UTC  {URL}  refused: {why}", f"12:00:00 UTC  {URL}  timeout"]


def test_a_host_that_closes_is_logged_every_time_with_its_failures(
    narrator: ProgressLog, lines: list[str]
) -> None:
    first = HostClosing("a.example", NOW, NOW + timedelta(minutes=1), 1, "status 429")
    second = HostClosing("a.example", NOW, NOW + timedelta(days=1), 2, "status 503")
    narrator(replace(crawl_event(), host_closings=[first, second]))
    assert lines == [
        "12:00:00 UTC  a.example closed until 12:01 UTC after 1 failure (status 429)",
        "12:00:00 UTC  a.example closed until 2026-11-16 12:00 UTC after 2 failures (status 503)",
    ]


def test_only_the_first_few_hosts_that_close_are_logged(
    narrator: ProgressLog, lines: list[str]
) -> None:
    closings = [HostClosing(f"h{n}.example", NOW, NOW, 1, "timeout") for n in range(50)]
    narrator(replace(crawl_event(), host_closings=closings))
    assert len(lines) == progress_log.MAX_REPORTED


def test_only_the_first_few_first_looks_are_logged(lines: list[str]) -> None:
    everywhere = SimpleNamespace(pages_by_id=lambda ids: {i: replace(PAGE, id=i) for i in ids})
    narrator = ProgressLog(cast("Catalog", everywhere), lines.append)
    for page in range(50):
        narrator(crawl_event(None, page=page))
    assert len(lines) == progress_log.MAX_REPORTED


def test_every_visit_is_logged_with_what_is_known_of_it(
    narrator: ProgressLog, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    narrator(
        crawl_event(None, outcome=Outcome.GONE, status=404, why="status 404", final_url=f"{URL}x")
    )
    [record] = caplog.records
    assert record.fields == {
        "page": URL, "outcome": "gone", "status": 404, "final_url": f"{URL}x", "why": "status 404",
    }  # fmt: skip
    assert narrator.counts.outcomes == {"gone": 1}


def test_a_page_removed_meanwhile_is_counted_and_not_logged(
    narrator: ProgressLog, lines: list[str]
) -> None:
    narrator(crawl_event(Change(True), page=2))
    assert (lines, narrator.counts.changes) == ([], 1)


def test_each_minute_the_progress_is_logged(
    lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter((0.0, 59.0, 60.0, 60.0, 61.0))
    monkeypatch.setattr(progress_log, "monotonic_seconds", lambda: next(seconds))
    narrator = ProgressLog(CATALOG, lines.append)
    for _ in range(3):
        narrator(crawl_event(Change(False)))
    assert lines == ["2 visits, 0 changes; 7 of 500 requests spent today"]


def test_a_reader_who_goes_away_ends_the_crawl_in_order() -> None:
    def say(text: str) -> None:
        raise SystemExit(1)

    with pytest.raises(OutputClosedError):
        ProgressLog(CATALOG, say)(crawl_event(Change(True)))
