"""The responses of the simulated hosts."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from freshet.core.clock import FixedClock, from_epoch, to_epoch
from freshet.demo.hosts import HostResponse, LoggedRequest, RequestLog, SimulatedHosts
from freshet.world.simulated_web import SimulatedWeb

START = datetime(2026, 3, 2, tzinfo=UTC)
DAYS = 20
WEB = SimulatedWeb(1, START, DAYS)
ORIGINS = [f"http://127.0.0.1:{8000 + host}" for host in range(len(WEB.hosts))]


def host_named(name: str) -> int:
    return next(i for i, host in enumerate(WEB.hosts) if host.name.startswith(name))


DOCS, FORUM, SHOP, TOWN = map(host_named, ("docs", "forum", "shop", "town"))


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(START + timedelta(hours=1))


@pytest.fixture
def hosts(clock: FixedClock) -> SimulatedHosts:
    return SimulatedHosts(WEB, clock, ORIGINS)


def get(hosts: SimulatedHosts, host: int, path: str, **headers: str) -> HostResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return hosts.respond(host, "GET", path, named)


def header(answer: HostResponse, name: str) -> str:
    return dict(answer.headers)[name]


def test_a_response_shows_the_current_version(hosts: SimulatedHosts, clock: FixedClock) -> None:
    page = WEB.find_page(DOCS, "/manual/1")
    assert page is not None
    answer = get(hosts, DOCS, "/manual/1")
    assert answer.status == 200
    assert WEB.text(page, to_epoch(clock.now())).split("\n")[0].encode() in answer.body
    request = hosts.log.requests[0]
    assert (request.page, request.status, request.shows_content) == (page, 200, True)
    assert request.version == WEB.version_at(page, request.time)


def test_a_page_with_the_same_entity_tag_is_not_sent_again(hosts: SimulatedHosts) -> None:
    tag = header(get(hosts, DOCS, "/manual/1"), "ETag")
    again = get(hosts, DOCS, "/manual/1", if_none_match=f'"other", W/{tag}')
    assert (again.status, again.body) == (304, b"")
    assert header(again, "ETag") == tag
    assert not hosts.log.requests[1].shows_content
    assert get(hosts, DOCS, "/manual/1", if_none_match='"other"').status == 200


def test_a_page_that_was_not_modified_since_is_not_sent_again(hosts: SimulatedHosts) -> None:
    modified = header(get(hosts, TOWN, "/history"), "Last-Modified")
    assert get(hosts, TOWN, "/history", if_modified_since=modified).status == 304
    before = format_datetime(START - timedelta(days=40), usegmt=True)
    assert get(hosts, TOWN, "/history", if_modified_since=before).status == 200


def test_a_changed_page_has_another_entity_tag(hosts: SimulatedHosts, clock: FixedClock) -> None:
    page = WEB.find_page(DOCS, "/manual/1")
    assert page is not None
    tag = header(get(hosts, DOCS, "/manual/1"), "ETag")
    clock.at = from_epoch(float(WEB.change_times(page)[-1]) + 1)
    assert get(hosts, DOCS, "/manual/1", if_none_match=tag).status == 200


def test_a_host_with_too_many_requests_answers_429(
    hosts: SimulatedHosts, clock: FixedClock
) -> None:
    throttle = WEB.hosts[SHOP].throttle
    assert throttle is not None
    for _ in range(throttle.requests):
        assert get(hosts, SHOP, "/lamps/").status == 200
    refused = get(hosts, SHOP, "/lamps/")
    assert refused.status == 429
    assert header(refused, "Retry-After") == f"{throttle.retry_after:.0f}"
    assert hosts.log.requests[-1].retry_after == throttle.retry_after
    clock.at += timedelta(seconds=throttle.seconds)
    assert get(hosts, SHOP, "/lamps/").status == 200


def test_robots_txt_does_not_count_for_the_throttle(hosts: SimulatedHosts) -> None:
    answers = [get(hosts, SHOP, "/robots.txt") for _ in range(20)]
    assert {answer.status for answer in answers} == {200}


@pytest.mark.parametrize(
    ("path", "trouble", "status"),
    [("/council", "gone", 404), ("/library", "captcha", 200)],
)
def test_a_page_in_trouble_does_not_show_itself(
    hosts: SimulatedHosts, clock: FixedClock, path: str, trouble: str, status: int
) -> None:
    page = WEB.find_page(TOWN, path)
    assert page is not None
    clock.at = from_epoch(next(e.start for e in WEB.episodes(page) if e.trouble == trouble))
    assert get(hosts, TOWN, path).status == status
    assert not hosts.log.requests[0].shows_content


def test_a_page_that_needs_scripts_shows_nothing_without_them(hosts: SimulatedHosts) -> None:
    assert get(hosts, host_named("cloud"), "/console").status == 200
    assert not hosts.log.requests[0].shows_content


def test_a_host_that_is_down_says_for_how_long(hosts: SimulatedHosts, clock: FixedClock) -> None:
    page = WEB.find_page(SHOP, "/terms")
    assert page is not None
    clock.at = from_epoch(next(e.start for e in WEB.episodes(page) if e.trouble == "down"))
    answer = get(hosts, SHOP, "/terms")
    assert answer.status == 503
    assert hosts.log.requests[0].retry_after == float(header(answer, "Retry-After"))


def test_robots_txt_names_the_delay_and_the_sitemap_where_it_is_served(
    hosts: SimulatedHosts,
) -> None:
    delay = WEB.hosts[FORUM].crawl_delay
    assert f"Crawl-delay: {delay:g}" in get(hosts, FORUM, "/robots.txt").body.decode()
    robots = get(hosts, DOCS, "/robots.txt").body.decode()
    assert f"Sitemap: {ORIGINS[DOCS]}/sitemap.xml" in robots
    assert f"<loc>{ORIGINS[DOCS]}/manual/1</loc>" in get(hosts, DOCS, "/sitemap.xml").body.decode()
    assert get(hosts, FORUM, "/sitemap.xml").status == 404
    assert all(request.page is None for request in hosts.log.requests)


def test_an_unknown_path_is_not_found_and_only_get_is_allowed(hosts: SimulatedHosts) -> None:
    assert get(hosts, DOCS, "/manual/100").status == 404
    assert hosts.respond(DOCS, "POST", "/manual/1", {}).status == 405


def test_a_request_is_found_by_its_sending_time() -> None:
    log = RequestLog()
    first, second = LoggedRequest(10.0, 0, "/", 200, 7), LoggedRequest(20.0, 0, "/", 304, 7)
    for request in (first, LoggedRequest(15.0, 0, "/robots.txt", 200), second):
        log.add(request)
    assert log.response_to(7, 9.5) is first
    assert log.response_to(7, 10.5) is second
    assert log.response_to(7, 20.5) is None
    assert log.response_to(8, 1.0) is None
    assert log.response_times(7, [9.5, 10.5, 20.5]) == [10.0, 20.0, 20.5]
    assert log.response_times(7, [9.5, 9.6]) == [10.0, 20.0]
    assert log.response_times(7, [10.5]) == [20.0]
    assert list(log.requests_for(7)) == [first, second]
