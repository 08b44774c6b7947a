"""Baselines send requests to the same hosts as Freshet and keep the same limits."""

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
def baseline(demo_collection: DemoCollection) -> BaselineCrawler:
    baseline = BaselineCrawler(make_policy("age", live=True), demo_collection, BUDGET, START)
    baseline.advance(START + timedelta(days=DAYS))
    return baseline


def requests_of(baseline: BaselineCrawler) -> Sequence[LoggedRequest]:
    return baseline.log.requests


def test_a_baseline_spends_its_budget_evenly(
    baseline: BaselineCrawler, demo_collection: DemoCollection
) -> None:
    pauses = {round(after.time - before.time) for before, after in pairwise(requests_of(baseline))}
    assert len(requests_of(baseline)) == BUDGET * DAYS + 1
    assert pauses == {86_400 // BUDGET}
    assert {request.page for request in requests_of(baseline)} == set(
        demo_collection.web_indices.values()
    )


def test_a_baseline_obeys_host_delays(
    baseline: BaselineCrawler, demo_collection: DemoCollection
) -> None:
    for host, named in enumerate(demo_collection.web.hosts):
        request = [logged for logged in requests_of(baseline) if logged.host == host]
        for before, after in pairwise(request):
            delay = max(DELAY, named.crawl_delay, before.retry_after or 0.0)
            assert after.time - before.time >= delay


def test_a_baseline_gets_304_for_unchanged_pages(baseline: BaselineCrawler) -> None:
    statuses = [request.status for request in requests_of(baseline)]
    assert 0 < statuses.count(HTTPStatus.NOT_MODIFIED) < len(statuses) / 2


def test_advancing_in_steps_is_advancing_at_once(
    baseline: BaselineCrawler, demo_collection: DemoCollection
) -> None:
    stepping = BaselineCrawler(make_policy("age", live=True), demo_collection, BUDGET, START)
    for hours in range(0, 24 * DAYS + 1, 7):
        stepping.advance(START + timedelta(hours=hours))
    end = START + timedelta(days=DAYS)
    assert stepping.advance(end) == baseline.advance(end)


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
