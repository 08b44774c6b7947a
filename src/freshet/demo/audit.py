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
from freshet.backtest.continuous import Standing
from freshet.collection.check import Report, check
from freshet.core.budget import day_of
from freshet.core.clock import to_epoch
from freshet.core.types import Outcome
from freshet.demo.demo_collection import DELAY, Stage
from freshet.demo.hosts import ROBOTS, Asked, Log
from freshet.demo.noise_recognition import telling
from freshet.demo.run import Ended
from freshet.demo.scoreboard import FRESHET
from freshet.record.store import CollectionStore
from freshet.world.simulated_web import WorldHost

BASELINE = "age"
MARGIN = 0.003
DAYS_TO_LEARN = 14
# The rest is lost where the machine stands still around a midnight of the fast clock.
LEAST_SPENT = 0.9
LONGEST_SECONDS = 180.0
LEAST_RECOGNISED, MOST_HIDDEN = 0.95, 0.01
# In real seconds: how long the crawl may stand still between noting the time and sending.
HICCUP = 0.02
NOT_SENT = frozenset({Outcome.ROBOTS, Outcome.REFUSED})


@dataclass(frozen=True, slots=True)
class Verdict:
    """One promise, whether it was kept, and the figures behind it."""

    promise: str
    kept: bool
    figures: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a crawl left: its catalog's histories and bookings by day, and its hosts' log."""

    stage: Stage
    log: Log
    histories: Mapping[int, Sequence[HistoryRow]]
    booked: Mapping[str, int]
    budget: int
    speed: float


def audit(ended: Ended) -> list[Verdict]:
    """Hold what a demonstration left against every promise."""
    with CollectionStore.open(ended.stage.path) as collection:
        evidence = gather(ended, collection)
        report = check(collection)
    verdicts = [
        every_page_was_visited(evidence),
        no_visit_is_lost_or_doubled(evidence),
        the_collection_is_sound(report),
        the_budget_was_kept(evidence),
        the_budget_was_spent(evidence),
        hosts_were_left_in_peace(evidence),
        retry_after_was_kept(evidence),
        robots_were_obeyed(evidence),
        troubles_are_no_changes(evidence),
        unchanged_pages_were_not_sent_again(evidence),
        Verdict(
            "ends within three minutes", ended.seconds <= LONGEST_SECONDS, f"{ended.seconds:.0f} s"
        ),
    ]
    if ended.options.days >= DAYS_TO_LEARN:
        verdicts.append(noise_was_told_from_change(evidence))
        verdicts.append(copies_were_no_staler_than_in_turn(ended.sight.standings))
    return verdicts


def gather(ended: Ended, collection: CollectionStore) -> Evidence:
    """Read what a crawl left in its catalog."""
    stage, options, catalog = ended.stage, ended.options, collection.catalog
    days = [day_of(options.start + timedelta(days=day)) for day in range(int(options.days) + 2)]
    pages = [*stage.pages, stage.forbidden]
    return Evidence(
        stage=stage,
        log=ended.log,
        histories={page: catalog.history(page) for page in pages},
        booked={day: catalog.spending(day).requests for day in days},
        budget=options.requests_a_day(stage.size),
        speed=options.speed,
    )


def every_page_was_visited(evidence: Evidence) -> Verdict:
    """Every page of the web has a visit."""
    missed = [page for page in evidence.stage.pages if not evidence.histories[page]]
    names = ", ".join(map(evidence.stage.name, missed))
    return Verdict(
        "every page was visited", not missed, names or f"all {len(evidence.stage.pages)} pages"
    )


def no_visit_is_lost_or_doubled(evidence: Evidence) -> Verdict:
    """Each page's visits and the requests that its host answered are in step, one by one."""
    broken = [
        evidence.stage.name(page)
        for page, place in evidence.stage.pages.items()
        if not in_step(evidence.histories[page], evidence.log.of_page(place))
    ]
    requests = sum(asked.page is not None for asked in evidence.log.requests)
    return Verdict(
        "no visit was lost, none doubled",
        not broken,
        f"out of step: {', '.join(broken)}" if broken else f"{requests} answered, as many kept",
    )


def in_step(visits: Sequence[HistoryRow], answered: Sequence[Asked]) -> bool:
    """Whether each visit was answered once, after it began and before the next but one did.

    The two looks of an instant round are out at the same time.
    """
    began = _began(visits)
    if len(began) != len(answered):
        return False
    times = [asked.time for asked in answered]
    answers = all(sent <= time for sent, time in zip(began, times, strict=True))
    return answers and all(time <= sent for time, sent in zip(times, began[2:], strict=False))


def the_collection_is_sound(report: Report) -> Verdict:
    """Every record and every row is whole."""
    problems = "; ".join(map(str, report.problems[:3]))
    figures = problems or f"{report.records} records, {report.rows} rows"
    return Verdict("the collection is sound", report.is_sound, figures)


def the_budget_was_kept(evidence: Evidence) -> Verdict:
    """No UTC day has more requests booked than its budget, and none went out without booking.

    What was booked and not yet sent when the crawl ended, one request a host at most, stays booked.
    """
    most = max(evidence.booked.values())
    requests = sum(asked.page is not None for asked in evidence.log.requests)
    booked = sum(evidence.booked.values())
    return Verdict(
        "no day exceeded the budget",
        most <= evidence.budget and 0 <= booked - requests <= len(evidence.stage.web.hosts),
        f"at most {most} of {evidence.budget} a day; {requests} made, {booked} booked",
    )


def the_budget_was_spent(evidence: Evidence) -> Verdict:
    """What was allowed on whole days was used."""
    used = [count for _, count in sorted(evidence.booked.items()) if count][:-1]
    share = sum(used) / (len(used) * evidence.budget) if used else 0.0
    figures = f"{share:.1%} on whole days, at least {min(used, default=0)} a day"
    return Verdict("the budget was spent", share >= LEAST_SPENT, figures)


def hosts_were_left_in_peace(evidence: Evidence) -> Verdict:
    """A host is asked no sooner than its delay after the last page request to it went out."""
    pauses, slack = list(_pauses(evidence)), HICCUP * evidence.speed
    short = [
        f"{host.name} after {pause:.0f} s"
        for host, pause in pauses
        if pause < max(DELAY, host.crawl_delay) - slack
    ]
    figures = f"{len(short)} of {len(pauses)} pauses too short {', '.join(short[:3])}".rstrip()
    return Verdict("hosts were left in peace between requests", not short, figures)


def retry_after_was_kept(evidence: Evidence) -> Verdict:
    """After Retry-After no request goes out to the host before that time, by the host's clock.

    What was on its way when the host asked for that is no breach.
    """
    waits = too_soon = 0
    sent, slack = _sent(evidence), HICCUP * evidence.speed
    for _, requests in _by_host(evidence.log):
        for before, after in pairwise(requests):
            if before.wait is not None:
                waits += 1
                knew = sent.get(after, after.time) >= before.time + slack
                too_soon += knew and after.time < before.time + before.wait
    figures = f"{waits} times told to wait, {too_soon} times asked too soon"
    return Verdict("Retry-After was kept", waits > 0 and not too_soon, figures)


def robots_were_obeyed(evidence: Evidence) -> Verdict:
    """Each host was asked for robots.txt first, and what it forbids was not asked for."""
    first = {host: requests[0].path for host, requests in _by_host(evidence.log)}
    strangers = {asked.path for asked in evidence.log.requests if asked.page is None} - {ROBOTS}
    outcomes = {row.visit.outcome for row in evidence.histories[evidence.stage.forbidden]}
    kept = set(first.values()) == {ROBOTS} and not strangers and outcomes == {Outcome.ROBOTS}
    figures = f"{len(first)} hosts, {', '.join(sorted(strangers)) or 'nothing else asked for'}"
    return Verdict("robots.txt was obeyed", kept, figures)


def troubles_are_no_changes(evidence: Evidence) -> Verdict:
    """Answers that do not show the page are neither looks nor changes."""
    wrong, met = [], Counter[str]()
    for page, place in evidence.stage.pages.items():
        for row in evidence.histories[page]:
            answer = evidence.log.answer_to(place, to_epoch(row.visit.time))
            if answer is None or answer.shows or answer.status == HTTPStatus.NOT_MODIFIED:
                continue
            met[row.visit.outcome] += 1
            if row.visit.outcome.is_look or (row.change and row.change.changed):
                wrong.append(evidence.stage.name(page))
    figures = ", ".join(f"{count} {outcome}" for outcome, count in sorted(met.items()))
    return Verdict("troubles are outcomes, not changes", bool(met) and not wrong, figures)


def unchanged_pages_were_not_sent_again(evidence: Evidence) -> Verdict:
    """Conditional requests spared bodies."""
    spared = sum(asked.status == HTTPStatus.NOT_MODIFIED for asked in evidence.log.requests)
    return Verdict("unchanged pages were not sent again", spared > 0, f"{spared} answers 304")


def noise_was_told_from_change(evidence: Evidence) -> Verdict:
    """What differs at every visit by itself is left out, and hardly any change with it."""
    told = telling(evidence.stage, evidence.log, evidence.histories)
    kept = told.recognised_share >= LEAST_RECOGNISED and told.hidden_share <= MOST_HIDDEN
    figures = (
        f"{told.recognised} of {told.noise} noisy versions recognised, "
        f"{told.hidden} of {told.real} changes hidden"
    )
    return Verdict("noise was told from change", told.noise > 0 and kept, figures)


def copies_were_no_staler_than_in_turn(standings: Sequence[Standing]) -> Verdict:
    """The stored copies were as fresh as those of round-robin, or fresher."""
    fresh = {each.policy: each.freshness for each in standings}
    gains = {name: fresh[FRESHET] - other for name, other in fresh.items() if name != FRESHET}
    figures = ", ".join(f"{gain:+.1%} against {name}" for name, gain in gains.items())
    return Verdict(
        "copies were no staler than by round-robin",
        gains[BASELINE] >= -MARGIN,
        f"fresh {fresh[FRESHET]:.1%} of the time: {figures}",
    )


def _by_host(log: Log) -> Iterator[tuple[int, list[Asked]]]:
    """Yield each host that was asked, with the requests to it in time order."""
    for host in sorted({asked.host for asked in log.requests}):
        yield host, [asked for asked in log.requests if asked.host == host]


def _began(visits: Sequence[HistoryRow]) -> list[float]:
    """Return when the visits that went out to their host began."""
    return [to_epoch(row.visit.time) for row in visits if row.visit.outcome not in NOT_SENT]


def _pauses(evidence: Evidence) -> Iterator[tuple[WorldHost, float]]:
    """Yield how long each host was left alone after a page request to it went out.

    When that was, the host cannot tell: a request may be on its way for a while.
    """
    sent = _sent(evidence)
    for host, requests in _by_host(evidence.log):
        for before, after in pairwise(requests):
            if before in sent:
                yield evidence.stage.web.hosts[host], after.time - sent[before]


def _sent(evidence: Evidence) -> dict[Asked, float]:
    """Return when each page request went out."""
    return {
        asked: began
        for page, place in evidence.stage.pages.items()
        for asked, began in zip(
            evidence.log.of_page(place), _began(evidence.histories[page]), strict=False
        )
    }
