"""The report of a policy, and the exploratory requests of a day."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from freshet.archive.catalog.rows import DailySpending
from freshet.cli.commands.crawl import status as status_command
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.core.policy import Policy, ReportingPolicy
from freshet.core.tables import ChoiceTable, HostCaps
from freshet.crawl.fetch_job import FetchJob
from freshet.crawl.live_policy import build_live_policy
from freshet.crawl.policy_status import (
    POLICY_REPORT_NOTE,
    ExplorationStatus,
    PolicyStatus,
    exploration_status,
    policy_status,
)
from freshet.crawl.session import CrawlSession
from freshet.record.collection_store import CollectionStore
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.mixture.guarded_policy import MIXED_POLICIES, GuardedPolicy
from freshet.schedule.mixture.policy_judge import PolicyJudge
from tests.crawl.crawl_samples import (
    DAY,
    NOON,
    PAGES,
    booked,
    crawling,
    draw,
    failed,
    fetched_page,
    make_folder,
    visit_all,
)

MONTH_AGO = NOON - timedelta(days=30)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "c")


def explore(session: CrawlSession, pages: Iterable[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the policy of a session mark its choices of some pages as exploratory."""
    choose = session.policy.choose

    def choose_exploratory(now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        choices = choose(now, k, caps)
        return replace(choices, exploratory=np.isin(choices.pages, list(pages)))

    monkeypatch.setattr(session.policy, "choose", choose_exploratory)


def use_rule(folder: Path) -> None:
    with (folder / "freshet.toml").open("a") as file:
        file.write('policy = "age"\n')


def spending(folder: Path) -> DailySpending:
    with CollectionStore.open(folder) as beside:
        return beside.catalog.spending(DAY)


def record(session: CrawlSession, clock: FixedClock, jobs: Sequence[FetchJob]) -> None:
    session.record_observations([fetched_page(job, clock.now()) for job in jobs])


def test_exploratory_requests_are_counted_when_they_are_booked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100%/day") as session:
        explore(session, [1, 2, 3], monkeypatch)
        jobs = draw(session, clock)
        assert spending(folder) == DailySpending(PAGES, exploratory_requests=3)
        record(session, clock, jobs)
        assert spending(folder) == DailySpending(PAGES, exploratory_requests=3)


def test_exploratory_requests_that_were_not_sent_are_given_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100%/day") as session:
        explore(session, [1, 2, 3], monkeypatch)
        jobs = {job.page: job for job in draw(session, clock)}
        session.return_jobs([jobs[1], jobs[5]])
        assert spending(folder) == DailySpending(PAGES - 2, exploratory_requests=2)
        session.record_observations([booked(failed(jobs[2], clock.now()), jobs[2], was_sent=False)])
        assert spending(folder) == DailySpending(PAGES - 3, exploratory_requests=1)


def test_a_page_that_is_returned_later_for_its_own_value_gives_back_no_exploration(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "1000%/day") as session:
        explore(session, [1], monkeypatch)
        record(session, clock, draw(session, clock))
        monkeypatch.undo()
        clock.at += timedelta(hours=1)
        jobs = draw(session, clock)
        assert 1 in {job.page for job in jobs}
        session.return_jobs(jobs)
        assert spending(folder).exploratory_requests == 1


def test_the_share_of_the_last_days_includes_today(folder: Path) -> None:
    with CollectionStore.open(folder) as collection:
        catalog = collection.catalog
        assert exploration_status(catalog, NOON, days=7) == ExplorationStatus(7, 0, 0, None)
        catalog.book_requests("2026-02-22", 100, exploratory_requests=100)
        catalog.book_requests("2026-02-23", 10, exploratory_requests=1)
        catalog.book_requests(DAY, 10, exploratory_requests=4)
        assert exploration_status(catalog, NOON, days=7) == ExplorationStatus(7, 20, 5, 0.25)
        assert exploration_status(catalog, NOON, days=1) == ExplorationStatus(1, 10, 4, 0.4)
        assert exploration_status(catalog, NOON, days=0) == ExplorationStatus(0, 0, 0, None)


def guarded(policy: Policy) -> GuardedPolicy:
    assert isinstance(policy, GuardedPolicy)
    return policy


def test_a_policy_continues_from_the_weights_that_a_crawl_has_stored(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100%/day") as session:
        judge = guarded(session.policy).judge
        judge.sums[1, :6] = 50, 10, 30, 30, 20, 15
        draw(session, clock)
        session.release_all()
        weights = judge.weights_by_name
        assert weights["round-robin"] > 0.9
        status = policy_status(session._catalog, "guarded-freshness")
        assert status == PolicyStatus("guarded-freshness", NOON, weights)
    with CollectionStore.open(folder, clock=clock) as collection:
        policy = guarded(build_live_policy(collection.catalog, collection.settings))
        assert policy.judge.weights_by_name == weights


def test_a_report_is_stored_every_hour_and_at_the_end(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100%/day") as session:
        for minutes, stored in ((0, 0), (59, 0), (60, 60), (70, 60)):
            clock.at = NOON + timedelta(minutes=minutes)
            draw(session, clock)
            status = policy_status(session._catalog, "guarded-freshness")
            assert status is not None
            assert status.time == NOON + timedelta(minutes=stored)
        session.release_all()
        status = policy_status(session._catalog, "guarded-freshness")
        assert status is not None
        assert status.time == NOON + timedelta(minutes=70)


def test_the_multiplier_survives_a_restart(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "1000%/day") as session:
        visit_all(session, clock)
        clock.at += timedelta(hours=6)
        visit_all(session, clock)
        multiplier = guarded(session.policy).default.multiplier
        assert multiplier > 0
        session.release_all()
    with crawling(folder, clock, "1000%/day") as session:
        assert guarded(session.policy).default.multiplier == multiplier


@pytest.mark.parametrize(
    "note",
    [
        "",
        "[]",
        "nonsense",
        '{"time": 5}',
        '{"time": "2026-03-01T12:00:00+00:00", "policy": "guarded-freshness", "weights": {}}',
        '{"time": "2026-03-01T12:00:00+00:00", "policy": "age", "weights": {},'
        ' "memory": {"multiplier": 1}}',
        '{"time": "2026-03-01T12:00:00+00:00", "policy": "guarded-freshness", "weights": {},'
        ' "memory": {"multiplier": NaN}}',
        '{"time": "2026-03-01T12:00:00+00:00", "policy": "guarded-freshness", "weights": {},'
        ' "memory": {"multiplier": -1}}',
    ],
)
def test_a_report_that_makes_no_sense_or_is_of_another_policy_is_ignored(
    folder: Path, note: str
) -> None:
    with CollectionStore.open(folder) as collection:
        collection.catalog.write_note(POLICY_REPORT_NOTE, note)
        policy = build_live_policy(collection.catalog, collection.settings)
        assert isinstance(policy, ReportingPolicy)
        assert policy.report().memory["multiplier"] == 0.0
        assert policy.report().weights == PolicyJudge(MIXED_POLICIES, preferred=2).weights_by_name


@pytest.mark.parametrize("weights", ['{"default": 5.0}', '{"default": -3.0, "nutch": 4.0}'])
def test_weights_that_are_no_shares_are_not_shown(folder: Path, weights: str) -> None:
    with CollectionStore.open(folder) as store:
        report = (
            f'{{"policy": "guarded-freshness", "time": "2026-03-01T12:00:00+00:00",'
            f' "weights": {weights}, "memory": {{}}}}'
        )
        store.catalog.write_note(POLICY_REPORT_NOTE, report)
        assert policy_status(store.catalog, "guarded-freshness") is None


def test_rules_report_only_their_names(folder: Path) -> None:
    clock = FixedClock(NOON)
    use_rule(folder)
    with crawling(folder, clock, "100%/day") as session:
        draw(session, clock)
        session.release_all()
        assert policy_status(session._catalog, "age") == PolicyStatus("age", NOON, {})


def test_the_status_says_that_another_policy_has_not_started_yet(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100%/day") as session:
        draw(session, clock)
        session.release_all()
    use_rule(folder)
    with Collection.open(folder, clock=clock) as collection:
        status = collection.status(days=7)
    assert status.policy == PolicyStatus("age", None, {}, previous="guarded-freshness")
    status_command._print(status)
    text = "policy age has not started yet; the last crawl was by guarded-freshness"
    assert text in capsys.readouterr().out


def test_a_plan_marks_exploratory_visits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "1000%/day") as session:
        visit_all(session, clock)
    clock.at += timedelta(hours=1)
    choose = BayesPolicy.choose

    def choose_exploratory(
        policy: BayesPolicy, now: datetime, k: int, caps: HostCaps
    ) -> ChoiceTable:
        choices = choose(policy, now, k, caps)
        return replace(choices, exploratory=choices.pages <= 5)

    monkeypatch.setattr(BayesPolicy, "choose", choose_exploratory)
    with Collection.open(folder, clock=clock) as collection:
        plan = collection.plan(budget="1000%/day", limit=PAGES)
        assert {visit.page.id for visit in plan.choices if visit.exploratory} == {1, 2, 3, 4, 5}
        assert plan.exploratory_share == 5 / PAGES
    use_rule(folder)
    with Collection.open(folder, clock=clock) as collection:
        assert collection.plan(budget="1000%/day", limit=PAGES).exploratory_share is None
