"""Checks every guarantee of Freshet after a crawl of the simulated web.

The catalog is compared with the hosts' own log and with the ground truth.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from itertools import pairwise

from freshet.archive.catalog.rows import HistoryRow
from freshet.backtest.continuous.crawler import CrawlerScore
from freshet.collection.check import CheckReport, check_collection
from freshet.core.budget import utc_day
from freshet.core.clock import to_epoch
from freshet.core.types import Outcome
from freshet.demo.demo_collection import DELAY, DemoCollection
from freshet.demo.hosts import ROBOTS_PATH, LoggedRequest, RequestLog
from freshet.demo.noise_recognition import measure_noise_recognition
from freshet.demo.run import DemoResult
from freshet.demo.scoreboard import FRESHET
from freshet.record.collection_store import CollectionStore
from freshet.world.simulated_web import HostSpec

BASELINE = "age"
FRESHNESS_MARGIN = 0.003
DAYS_TO_LEARN = 14
# The rest is lost if the machine stalls around a midnight of the fast clock.
MIN_SPENT_SHARE = 0.9
MAX_SECONDS = 180.0
MIN_RECOGNISED_SHARE, MAX_HIDDEN_SHARE = 0.95, 0.01
# Real seconds that the crawl may stall between noting the time and sending a request.
CLOCK_SLACK_SECONDS = 0.02
NOT_SENT = frozenset({Outcome.ROBOTS, Outcome.REFUSED})


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """One promise, whether it was kept, and the figures behind it."""

    promise: str
    kept: bool
    figures: str


@dataclass(frozen=True, slots=True)
class CrawlEvidence:
    """Data that a crawl left: histories and booked requests of the catalog, and the hosts' log."""

    demo_collection: DemoCollection
    log: RequestLog
    histories: Mapping[int, Sequence[HistoryRow]]
    booked_requests: Mapping[str, int]
    budget: int
    speed: float


def audit(result: DemoResult) -> list[AuditVerdict]:
    """Check every promise against the data of a demonstration."""
    with CollectionStore.open(result.demo_collection.path) as collection:
        evidence = gather_evidence(result, collection)
        report = check_collection(collection)
    verdicts = [
        every_page_was_visited(evidence),
        no_visit_is_lost_or_doubled(evidence),
        the_collection_is_sound(report),
        the_budget_was_kept(evidence),
        the_budget_was_spent(evidence),
        host_delays_were_kept(evidence),
        retry_after_was_kept(evidence),
        robots_were_obeyed(evidence),
        troubles_are_no_changes(evidence),
        unchanged_pages_were_not_sent_again(evidence),
        AuditVerdict(
            "ends within three minutes", result.seconds <= MAX_SECONDS, f"{result.seconds:.0f} s"
        ),
    ]
    if result.options.days >= DAYS_TO_LEARN:
        verdicts.append(noise_was_recognised(evidence))
        verdicts.append(copies_were_as_fresh_as_round_robin(result.status.scores))
    return verdicts


def gather_evidence(result: DemoResult, collection: CollectionStore) -> CrawlEvidence:
    """Read the data that a crawl left in its catalog."""
    demo_collection, options, catalog = result.demo_collection, result.options, collection.catalog
    days = [utc_day(options.start + timedelta(days=day)) for day in range(int(options.days) + 2)]
    pages = [*demo_collection.web_indices, demo_collection.forbidden_page]
    return CrawlEvidence(
        demo_collection=demo_collection,
        log=result.log,
        histories={page: catalog.history(page) for page in pages},
        booked_requests={day: catalog.spending(day).requests for day in days},
        budget=options.requests_per_day(demo_collection.size),
        speed=options.speed,
    )


def every_page_was_visited(evidence: CrawlEvidence) -> AuditVerdict:
    """Every page of the web has a visit."""
    missed = [page for page in evidence.demo_collection.web_indices if not evidence.histories[page]]
    names = ", ".join(map(evidence.demo_collection.name, missed))
    return AuditVerdict(
        "every page was visited",
        not missed,
        names or f"all {len(evidence.demo_collection.web_indices)} pages",
    )


def no_visit_is_lost_or_doubled(evidence: CrawlEvidence) -> AuditVerdict:
    """Each page's visits match the requests that its host answered, one by one."""
    mismatched = [
        evidence.demo_collection.name(page)
        for page, web_index in evidence.demo_collection.web_indices.items()
        if not visits_match_requests(evidence.histories[page], evidence.log.requests_for(web_index))
    ]
    requests = sum(request.page is not None for request in evidence.log.requests)
    return AuditVerdict(
        "no visit was lost or recorded twice",
        not mismatched,
        f"out of step: {', '.join(mismatched)}"
        if mismatched
        else f"{requests} answered, as many kept",
    )


def visits_match_requests(visits: Sequence[HistoryRow], requests: Sequence[LoggedRequest]) -> bool:
    """Return whether each visit was answered once, before the next visit but one began.

    The two looks of an instant burst are sent at the same time.
    """
    sent_times = _sent_times(visits)
    if len(sent_times) != len(requests):
        return False
    response_times = [request.time for request in requests]
    are_in_order = all(
        sent_time <= time for sent_time, time in zip(sent_times, response_times, strict=True)
    )
    return are_in_order and all(
        time <= sent_time for time, sent_time in zip(response_times, sent_times[2:], strict=False)
    )


def the_collection_is_sound(report: CheckReport) -> AuditVerdict:
    """Every record and every row is intact."""
    problems = "; ".join(map(str, report.problems[:3]))
    figures = problems or f"{report.records} records, {report.rows} rows"
    return AuditVerdict("the collection is sound", report.is_sound, figures)


def the_budget_was_kept(evidence: CrawlEvidence) -> AuditVerdict:
    """No UTC day has more requests booked than its budget, and no request was sent without booking.

    Requests booked but not yet sent when the crawl ended, at most one a host, stay booked.
    """
    max_booked = max(evidence.booked_requests.values())
    requests = sum(request.page is not None for request in evidence.log.requests)
    booked = sum(evidence.booked_requests.values())
    return AuditVerdict(
        "no day exceeded the budget",
        max_booked <= evidence.budget
        and 0 <= booked - requests <= len(evidence.demo_collection.web.hosts),
        f"at most {max_booked} of {evidence.budget} a day; {requests} made, {booked} booked",
    )


def the_budget_was_spent(evidence: CrawlEvidence) -> AuditVerdict:
    """The budget of whole days was used."""
    requests_by_day = [count for _, count in sorted(evidence.booked_requests.items()) if count][:-1]
    share = (
        sum(requests_by_day) / (len(requests_by_day) * evidence.budget) if requests_by_day else 0.0
    )
    figures = f"{share:.1%} on whole days, at least {min(requests_by_day, default=0)} a day"
    return AuditVerdict("the budget was spent", share >= MIN_SPENT_SHARE, figures)


def host_delays_were_kept(evidence: CrawlEvidence) -> AuditVerdict:
    """A host gets no request sooner than its delay after the previous page request was sent."""
    pauses, slack = list(_pauses(evidence)), CLOCK_SLACK_SECONDS * evidence.speed
    violations = [
        f"{host.name} after {pause:.0f} s"
        for host, pause in pauses
        if pause < max(DELAY, host.crawl_delay) - slack
    ]
    figures = (
        f"{len(violations)} of {len(pauses)} pauses too short {', '.join(violations[:3])}".rstrip()
    )
    return AuditVerdict("host delays were kept", not violations, figures)


def retry_after_was_kept(evidence: CrawlEvidence) -> AuditVerdict:
    """After Retry-After no request is sent to the host before that time, by the host's clock.

    Requests already on their way when the host sent Retry-After do not count.
    """
    waits = violations = 0
    sent_times, slack = _sent_by_request(evidence), CLOCK_SLACK_SECONDS * evidence.speed
    for _, requests in _by_host(evidence.log):
        for before, after in pairwise(requests):
            if before.retry_after is not None:
                waits += 1
                was_known = sent_times.get(after, after.time) >= before.time + slack
                violations += was_known and after.time < before.time + before.retry_after
    figures = f"{waits} Retry-After responses, {violations} requests too early"
    return AuditVerdict("Retry-After was kept", waits > 0 and not violations, figures)


def robots_were_obeyed(evidence: CrawlEvidence) -> AuditVerdict:
    """The first request to each host was for robots.txt, and no forbidden path was requested."""
    first_paths = {host: requests[0].path for host, requests in _by_host(evidence.log)}
    other_paths = {request.path for request in evidence.log.requests if request.page is None} - {
        ROBOTS_PATH
    }
    outcomes = {
        row.visit.outcome for row in evidence.histories[evidence.demo_collection.forbidden_page]
    }
    is_obeyed = (
        set(first_paths.values()) == {ROBOTS_PATH}
        and not other_paths
        and outcomes == {Outcome.ROBOTS}
    )
    figures = (
        f"{len(first_paths)} hosts, {', '.join(sorted(other_paths)) or 'no other path requested'}"
    )
    return AuditVerdict("robots.txt was obeyed", is_obeyed, figures)


def troubles_are_no_changes(evidence: CrawlEvidence) -> AuditVerdict:
    """Responses that do not show the page are neither looks nor changes."""
    wrong_pages, outcome_counts = [], Counter[str]()
    for page, web_index in evidence.demo_collection.web_indices.items():
        for row in evidence.histories[page]:
            response = evidence.log.response_to(web_index, to_epoch(row.visit.time))
            if (
                response is None
                or response.shows_content
                or response.status == HTTPStatus.NOT_MODIFIED
            ):
                continue
            outcome_counts[row.visit.outcome] += 1
            if row.visit.outcome.is_look or (row.change and row.change.changed):
                wrong_pages.append(evidence.demo_collection.name(page))
    figures = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcome_counts.items()))
    return AuditVerdict(
        "errors are outcomes, not changes", bool(outcome_counts) and not wrong_pages, figures
    )


def unchanged_pages_were_not_sent_again(evidence: CrawlEvidence) -> AuditVerdict:
    """Conditional requests saved response bodies."""
    unmodified = sum(request.status == HTTPStatus.NOT_MODIFIED for request in evidence.log.requests)
    return AuditVerdict(
        "unchanged pages were not sent again", unmodified > 0, f"{unmodified} answers 304"
    )


def noise_was_recognised(evidence: CrawlEvidence) -> AuditVerdict:
    """Noise is masked, and hardly any real change with it."""
    recognition = measure_noise_recognition(
        evidence.demo_collection, evidence.log, evidence.histories
    )
    is_kept = (
        recognition.recognised_share >= MIN_RECOGNISED_SHARE
        and recognition.hidden_share <= MAX_HIDDEN_SHARE
    )
    figures = (
        f"{recognition.recognised} of {recognition.noise_only} noisy versions recognised, "
        f"{recognition.hidden} of {recognition.real_changes} changes hidden"
    )
    return AuditVerdict(
        "noise was distinguished from change", recognition.noise_only > 0 and is_kept, figures
    )


def copies_were_as_fresh_as_round_robin(standings: Sequence[CrawlerScore]) -> AuditVerdict:
    """The stored copies were at least as fresh as those of round-robin."""
    freshness = {score.policy: score.freshness for score in standings}
    gains = {
        name: freshness[FRESHET] - value for name, value in freshness.items() if name != FRESHET
    }
    figures = ", ".join(f"{gain:+.1%} against {name}" for name, gain in gains.items())
    return AuditVerdict(
        "copies were at least as fresh as by round-robin",
        gains[BASELINE] >= -FRESHNESS_MARGIN,
        f"fresh {freshness[FRESHET]:.1%} of the time: {figures}",
    )


def _by_host(log: RequestLog) -> Iterator[tuple[int, list[LoggedRequest]]]:
    """Yield each host that got requests, with its requests in time order."""
    for host in sorted({request.host for request in log.requests}):
        yield host, [request for request in log.requests if request.host == host]


def _sent_times(visits: Sequence[HistoryRow]) -> list[float]:
    """Return when the visits that were sent to their host began."""
    return [to_epoch(row.visit.time) for row in visits if row.visit.outcome not in NOT_SENT]


def _pauses(evidence: CrawlEvidence) -> Iterator[tuple[HostSpec, float]]:
    """Yield the pauses between a page request and the next request to the same host.

    The sending time comes from the catalog, because a request may take a while to reach the host.
    """
    sent_times = _sent_by_request(evidence)
    for host, requests in _by_host(evidence.log):
        for before, after in pairwise(requests):
            if before in sent_times:
                yield evidence.demo_collection.web.hosts[host], after.time - sent_times[before]


def _sent_by_request(evidence: CrawlEvidence) -> dict[LoggedRequest, float]:
    """Return when each page request was sent."""
    return {
        request: sent_time
        for page, web_index in evidence.demo_collection.web_indices.items()
        for request, sent_time in zip(
            evidence.log.requests_for(web_index),
            _sent_times(evidence.histories[page]),
            strict=False,
        )
    }
