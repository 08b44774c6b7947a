"""Rivals ask the same hosts as Freshet does, and keep to the same limits."""

from collections.abc import Sequence
from datetime import timedelta
from http import HTTPStatus
from itertools import pairwise

import pytest

from freshet.demo.baseline_crawler import BaselineCrawler, PageValidators
from freshet.demo.demo_collection import AUDIT_EVERY, DELAY, DemoCollection
from freshet.demo.hosts import HostResponse, LoggedRequest
from freshet.schedule.policies import make_policy
from tests.demo.conftest import START

BUDGET = 100
DAYS = 3


@pytest.fixture(scope="module")
def rival(stage: DemoCollection) -> BaselineCrawler:
    rival = BaselineCrawler(make_policy("age", live=True), stage, BUDGET, START)
    rival.advance(START + timedelta(days=DAYS))
    return rival


def requests_of(rival: BaselineCrawler) -> Sequence[LoggedRequest]:
    return rival.log.requests


def test_a_rival_spends_its_budget_evenly(rival: BaselineCrawler, stage: DemoCollection) -> None:
    pauses = {round(after.time - before.time) for before, after in pairwise(requests_of(rival))}
    assert len(requests_of(rival)) == BUDGET * DAYS + 1
    assert pauses == {86_400 // BUDGET}
    assert {asked.page for asked in requests_of(rival)} == set(stage.web_indices.values())


def test_a_rival_leaves_hosts_in_peace(rival: BaselineCrawler, stage: DemoCollection) -> None:
    for host, named in enumerate(stage.web.hosts):
        asked = [each for each in requests_of(rival) if each.host == host]
        for before, after in pairwise(asked):
            delay = max(DELAY, named.crawl_delay, before.retry_after or 0.0)
            assert after.time - before.time >= delay


def test_a_rival_is_told_what_it_has_already(rival: BaselineCrawler) -> None:
    statuses = [asked.status for asked in requests_of(rival)]
    assert 0 < statuses.count(HTTPStatus.NOT_MODIFIED) < len(statuses) / 2


def test_advancing_in_steps_is_advancing_at_once(
    rival: BaselineCrawler, stage: DemoCollection
) -> None:
    stepping = BaselineCrawler(make_policy("age", live=True), stage, BUDGET, START)
    for hours in range(0, 24 * DAYS + 1, 7):
        stepping.advance(START + timedelta(hours=hours))
    end = START + timedelta(days=DAYS)
    assert stepping.advance(end) == rival.advance(end)


def test_conditions_are_the_entity_tag_or_else_the_date_and_audits_have_none() -> None:
    memory = PageValidators()
    content = LoggedRequest(0.0, 0, "/", 200, 0, shows_content=True)
    unchanged = LoggedRequest(0.0, 0, "/", 304, 0)
    memory.update(HostResponse(200, (("Last-Modified", "date"), ("ETag", '"1"'))), content)
    assert memory.request_headers() == {"if-none-match": '"1"'}
    for _ in range(AUDIT_EVERY):
        memory.update(HostResponse(304), unchanged)
    assert memory.request_headers() == {}
    memory.update(HostResponse(200, (("Last-Modified", "date"),)), content)
    assert memory.request_headers() == {"if-modified-since": "date"}


def test_an_error_leaves_the_conditions_as_they_are() -> None:
    memory = PageValidators({"if-none-match": '"1"'})
    memory.update(HostResponse(503), LoggedRequest(0.0, 0, "/", 503, 0))
    assert memory.request_headers() == {"if-none-match": '"1"'}
