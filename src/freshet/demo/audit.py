"""Whether a crawl of the living web kept to everything that Freshet promises.

What the catalog says is held against the hosts' own log and against the truth.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from itertools import pairwise

from freshet.archive.catalog.rows import HistoryRow
from freshet.backtest.continuous import CrawlerScore
from freshet.collection.check import CheckReport, check_collection
from freshet.core.budget import utc_day
from freshet.core.clock import to_epoch
from freshet.core.types import Outcome
from freshet.demo.demo_collection import DELAY, DemoCollection
from freshet.demo.hosts import ROBOTS_PATH, LoggedRequest, RequestLog
from freshet.demo.noise_recognition import measure_noise_recognition
from freshet.demo.run import DemoResult
from freshet.demo.scoreboard import FRESHET
from freshet.record.store import CollectionStore
from freshet.world.simulated_web import HostSpec

BASELINE = "age"
FRESHNESS_MARGIN = 0.003
DAYS_TO_LEARN = 14
# The rest is lost where the machine stands still around a midnight of the fast clock.
MIN_SPENT_SHARE = 0.9
MAX_SECONDS = 180.0
MIN_RECOGNISED_SHARE, MAX_HIDDEN_SHARE = 0.95, 0.01
# In real seconds: how long the crawl may stand still between noting the time and sending.
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
    """What a crawl left: its catalog's histories and bookings by day, and its hosts' log."""

    demo_collection: DemoCollection
    log: RequestLog
    histories: Mapping[int, Sequence[HistoryRow]]
    booked_requests: Mapping[str, int]
    budget: int
    speed: float


def audit(ended: DemoResult) -> list[AuditVerdict]:
    """Hold what a demonstration left against every promise."""
    with CollectionStore.open(ended.demo_collection.path) as collection:
        evidence = gather_evidence(ended, collection)
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
            "ends within three minutes", ended.seconds <= MAX_SECONDS, f"{ended.seconds:.0f} s"
        ),
    ]
    if ended.options.days >= DAYS_TO_LEARN:
        verdicts.append(noise_was_recognised(evidence))
        verdicts.append(copies_were_as_fresh_as_round_robin(ended.status.scores))
    return verdicts


def gather_evidence(ended: DemoResult, collection: CollectionStore) -> CrawlEvidence:
    """Read what a crawl left in its catalog."""
    stage, options, catalog = ended.demo_collection, ended.options, collection.catalog
    days = [utc_day(options.start + timedelta(days=day)) for day in range(int(options.days) + 2)]
    pages = [*stage.web_indices, stage.forbidden_page]
    return CrawlEvidence(
        demo_collection=stage,
        log=ended.log,
        histories={page: catalog.history(page) for page in pages},
        booked_requests={day: catalog.spending(day).requests for day in days},
        budget=options.requests_per_day(stage.size),
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
    """Each page's visits and the requests that its host answered are in step, one by one."""
    broken = [
        evidence.demo_collection.name(page)
        for page, place in evidence.demo_collection.web_indices.items()
        if not visits_match_requests(evidence.histories[page], evidence.log.requests_for(place))
    ]
    requests = sum(asked.page is not None for asked in evidence.log.requests)
    return AuditVerdict(
        "no visit was lost, none doubled",
        not broken,
        f"out of step: {', '.join(broken)}" if broken else f"{requests} answered, as many kept",
    )


def visits_match_requests(visits: Sequence[HistoryRow], answered: Sequence[LoggedRequest]) -> bool:
    """Whether each visit was answered once, after it began and before the next but one did.

    The two looks of an instant round are out at the same time.
    """
    began = _began(visits)
    if len(began) != len(answered):
        return False
    times = [asked.time for asked in answered]
    answers = all(sent <= time for sent, time in zip(began, times, strict=True))
    return answers and all(time <= sent for time, sent in zip(times, began[2:], strict=False))


def the_collection_is_sound(report: CheckReport) -> AuditVerdict:
    """Every record and every row is whole."""
    problems = "; ".join(map(str, report.problems[:3]))
    figures = problems or f"{report.records} records, {report.rows} rows"
    return AuditVerdict("the collection is sound", report.is_sound, figures)


def the_budget_was_kept(evidence: CrawlEvidence) -> AuditVerdict:
    """No UTC day has more requests booked than its budget, and none went out without booking.

    What was booked and not yet sent when the crawl ended, one request a host at most, stays booked.
    """
    most = max(evidence.booked_requests.values())
    requests = sum(asked.page is not None for asked in evidence.log.requests)
    booked = sum(evidence.booked_requests.values())
    return AuditVerdict(
        "no day exceeded the budget",
        most <= evidence.budget
        and 0 <= booked - requests <= len(evidence.demo_collection.web.hosts),
        f"at most {most} of {evidence.budget} a day; {requests} made, {booked} booked",
    )


def the_budget_was_spent(evidence: CrawlEvidence) -> AuditVerdict:
    """What was allowed on whole days was used."""
    used = [count for _, count in sorted(evidence.booked_requests.items()) if count][:-1]
    share = sum(used) / (len(used) * evidence.budget) if used else 0.0
    figures = f"{share:.1%} on whole days, at least {min(used, default=0)} a day"
    return AuditVerdict("the budget was spent", share >= MIN_SPENT_SHARE, figures)


def host_delays_were_kept(evidence: CrawlEvidence) -> AuditVerdict:
    """A host is asked no sooner than its delay after the last page request to it went out."""
    pauses, slack = list(_pauses(evidence)), CLOCK_SLACK_SECONDS * evidence.speed
    short = [
        f"{host.name} after {pause:.0f} s"
        for host, pause in pauses
        if pause < max(DELAY, host.crawl_delay) - slack
    ]
    figures = f"{len(short)} of {len(pauses)} pauses too short {', '.join(short[:3])}".rstrip()
    return AuditVerdict("hosts were left in peace between requests", not short, figures)


def retry_after_was_kept(evidence: CrawlEvidence) -> AuditVerdict:
    """After Retry-After no request goes out to the host before that time, by the host's clock.

    What was on its way when the host asked for that is no breach.
    """
    waits = too_soon = 0
    sent, slack = _sent(evidence), CLOCK_SLACK_SECONDS * evidence.speed
    for _, requests in _by_host(evidence.log):
        for before, after in pairwise(requests):
            if before.retry_after is not None:
                waits += 1
                knew = sent.get(after, after.time) >= before.time + slack
                too_soon += knew and after.time < before.time + before.retry_after
    figures = f"{waits} times told to wait, {too_soon} times asked too soon"
    return AuditVerdict("Retry-After was kept", waits > 0 and not too_soon, figures)


def robots_were_obeyed(evidence: CrawlEvidence) -> AuditVerdict:
    """Each host was asked for robots.txt first, and what it forbids was not asked for."""
    first = {host: requests[0].path for host, requests in _by_host(evidence.log)}
    strangers = {asked.path for asked in evidence.log.requests if asked.page is None} - {
        ROBOTS_PATH
    }
    outcomes = {
        row.visit.outcome for row in evidence.histories[evidence.demo_collection.forbidden_page]
    }
    kept = set(first.values()) == {ROBOTS_PATH} and not strangers and outcomes == {Outcome.ROBOTS}
    figures = f"{len(first)} hosts, {', '.join(sorted(strangers)) or 'nothing else asked for'}"
    return AuditVerdict("robots.txt was obeyed", kept, figures)


def troubles_are_no_changes(evidence: CrawlEvidence) -> AuditVerdict:
    """Answers that do not show the page are neither looks nor changes."""
    wrong, met = [], Counter[str]()
    for page, place in evidence.demo_collection.web_indices.items():
        for row in evidence.histories[page]:
            answer = evidence.log.response_to(place, to_epoch(row.visit.time))
            if answer is None or answer.shows_content or answer.status == HTTPStatus.NOT_MODIFIED:
                continue
            met[row.visit.outcome] += 1
            if row.visit.outcome.is_look or (row.change and row.change.changed):
                wrong.append(evidence.demo_collection.name(page))
    figures = ", ".join(f"{count} {outcome}" for outcome, count in sorted(met.items()))
    return AuditVerdict("troubles are outcomes, not changes", bool(met) and not wrong, figures)


def unchanged_pages_were_not_sent_again(evidence: CrawlEvidence) -> AuditVerdict:
    """Conditional requests spared bodies."""
    spared = sum(asked.status == HTTPStatus.NOT_MODIFIED for asked in evidence.log.requests)
    return AuditVerdict("unchanged pages were not sent again", spared > 0, f"{spared} answers 304")


def noise_was_recognised(evidence: CrawlEvidence) -> AuditVerdict:
    """What differs at every visit by itself is left out, and hardly any change with it."""
    told = measure_noise_recognition(evidence.demo_collection, evidence.log, evidence.histories)
    kept = told.recognised_share >= MIN_RECOGNISED_SHARE and told.hidden_share <= MAX_HIDDEN_SHARE
    figures = (
        f"{told.recognised} of {told.noise_only} noisy versions recognised, "
        f"{told.hidden} of {told.real_changes} changes hidden"
    )
    return AuditVerdict("noise was told from change", told.noise_only > 0 and kept, figures)


def copies_were_as_fresh_as_round_robin(standings: Sequence[CrawlerScore]) -> AuditVerdict:
    """The stored copies were as fresh as those of round-robin, or fresher."""
    fresh = {each.policy: each.freshness for each in standings}
    gains = {name: fresh[FRESHET] - other for name, other in fresh.items() if name != FRESHET}
    figures = ", ".join(f"{gain:+.1%} against {name}" for name, gain in gains.items())
    return AuditVerdict(
        "copies were no staler than by round-robin",
        gains[BASELINE] >= -FRESHNESS_MARGIN,
        f"fresh {fresh[FRESHET]:.1%} of the time: {figures}",
    )


def _by_host(log: RequestLog) -> Iterator[tuple[int, list[LoggedRequest]]]:
    """Yield each host that was asked, with the requests to it in time order."""
    for host in sorted({asked.host for asked in log.requests}):
        yield host, [asked for asked in log.requests if asked.host == host]


def _began(visits: Sequence[HistoryRow]) -> list[float]:
    """Return when the visits that went out to their host began."""
    return [to_epoch(row.visit.time) for row in visits if row.visit.outcome not in NOT_SENT]


def _pauses(evidence: CrawlEvidence) -> Iterator[tuple[HostSpec, float]]:
    """Yield how long each host was left alone after a page request to it went out.

    When that was, the host cannot tell: a request may be on its way for a while.
    """
    sent = _sent(evidence)
    for host, requests in _by_host(evidence.log):
        for before, after in pairwise(requests):
            if before in sent:
                yield evidence.demo_collection.web.hosts[host], after.time - sent[before]


def _sent(evidence: CrawlEvidence) -> dict[LoggedRequest, float]:
    """Return when each page request went out."""
    return {
        asked: began
        for page, place in evidence.demo_collection.web_indices.items()
        for asked, began in zip(
            evidence.log.requests_for(place), _began(evidence.histories[page]), strict=False
        )
    }
