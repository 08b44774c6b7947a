"""A crawl that starts again continues from the stored state of its policy."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from freshet.core.clock import FixedClock, to_epoch
from freshet.core.tables import HostCaps
from freshet.crawl import live_policy
from freshet.crawl.live_policy import build_fitted_policy, build_live_policy
from freshet.crawl.policy_state import (
    MAX_STATE_BYTES,
    POLICY_STATE_NOTE,
    StoredPolicyState,
    decode_state,
    encode_state,
    read_policy_state,
)
from freshet.crawl.session import CrawlSession
from freshet.record.collection_store import CollectionStore
from freshet.schedule.mixture.guarded_policy import GuardedPolicy
from tests.crawl.crawl_samples import NOON, PAGES, crawling, draw, failed, fetched_page, make_folder

POLICIES = ["guarded-freshness", "bayes-changes"]
STEP = timedelta(hours=5)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "c")


def use_policy(folder: Path, policy: str) -> None:
    with (folder / "freshet.toml").open("a") as file:
        file.write(f'policy = "{policy}"\n')


def crawl(session: CrawlSession, clock: FixedClock, steps: int, rng: np.random.Generator) -> None:
    """Visit pages for some steps; half of the hosts change together, and some visits fail."""
    for _ in range(steps):
        clock.at += STEP * rng.uniform(0.2, 2.0)
        observations = []
        for job in draw(session, clock, room=6):
            versions = (clock.now() - NOON) / timedelta(days=1 + job.page % 4)
            page = fetched_page(job, clock.now(), text=f"words {int(versions)}")
            observations.append(failed(job, clock.now()) if rng.random() < 0.05 else page)
        session.record_observations(observations)


def next_choices(session: CrawlSession, clock: FixedClock) -> Sequence[int]:
    pages: list[int] = session.policy.choose(clock.now(), 8, HostCaps()).pages.tolist()
    return pages


@pytest.mark.parametrize("policy", POLICIES)
def test_after_an_orderly_end_the_choices_are_the_same(folder: Path, policy: str) -> None:
    use_policy(folder, policy)
    rng, clock = np.random.default_rng(3), FixedClock(NOON)
    for restart in range(2):
        with crawling(folder, clock, "200%/day") as session:
            crawl(session, clock, 8, rng)
            session.release_all()
            before = next_choices(session, clock)
        with crawling(folder, clock, "200%/day") as session:
            assert next_choices(session, clock) == before, f"after restart {restart}"


@pytest.mark.parametrize("policy", POLICIES)
def test_a_crawl_that_was_killed_learns_the_visits_after_its_stored_state(
    folder: Path, policy: str
) -> None:
    use_policy(folder, policy)
    rng, clock = np.random.default_rng(4), FixedClock(NOON)
    with crawling(folder, clock, "200%/day") as session:
        crawl(session, clock, 12, rng)
        session.jobs.save_policy(clock.now())
        crawl(session, clock, 1, rng)
        before = next_choices(session, clock)
    with crawling(folder, clock, "200%/day") as session:
        assert len(np.intersect1d(next_choices(session, clock), before)) >= 7


def test_the_state_is_stored_every_few_hours(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "200%/day") as session:
        for hours, stored_hours in ((0, None), (1, None), (2, 2), (3, 2), (4, 4)):
            clock.at = NOON + timedelta(hours=hours)
            draw(session, clock)
            stored = read_policy_state(session._catalog, "guarded-freshness", np.inf)
            time = None if stored is None else stored.time
            assert time == (stored_hours and NOON + timedelta(hours=stored_hours))


def test_shown_forecasts_are_fitted_to_the_last_looks_whatever_the_state(folder: Path) -> None:
    rng, clock, chances = np.random.default_rng(3), FixedClock(NOON), []
    with crawling(folder, clock, "20000/day") as session:
        for step in range(9):
            clock.at += timedelta(seconds=40)
            jobs = draw(session, clock, room=PAGES)
            texts = [f"{step if job.page > 1 and rng.random() < 0.7 else 0}" for job in jobs]
            session.record_observations([
                fetched_page(job, clock.now(), text=f"words {text}")
                for job, text in zip(jobs, texts, strict=True)
            ])
            session.jobs.save_policy(clock.now())
    with CollectionStore.open(folder) as collection:
        catalog, ids = collection.catalog, np.arange(1, PAGES + 1)
        for has_state in (True, False):
            policy = build_fitted_policy(catalog, collection.settings, now=clock.now())
            assert isinstance(policy, GuardedPolicy)
            assert policy.state()["fitted_look_count"] == policy.state()["look_count"] > 0
            chances.append(policy.forecast(ids, clock.now(), np.array([1 / 24])).survival)
            if has_state:
                catalog.write_note(POLICY_STATE_NOTE, "")
    np.testing.assert_allclose(chances[0], chances[1], atol=0.01)


def test_with_a_stored_state_the_history_is_not_replayed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "200%/day") as session:
        crawl(session, clock, 5, np.random.default_rng(1))
        session.release_all()
        state = session.policy.state()
    monkeypatch.setattr(live_policy, "replay_visits", lambda *_: pytest.fail("replayed"))
    with CollectionStore.open(folder) as collection:
        policy = build_live_policy(collection.catalog, collection.settings, now=clock.now())
    for name in ("ids", "likelihood", "prior_table", "judge_sums"):
        np.testing.assert_array_equal(policy.state()[name], state[name])


def test_pages_that_were_measured_again_or_removed_since_are_learned_again(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "200%/day") as session:
        crawl(session, clock, 12, np.random.default_rng(2))
        policy = session.policy
        assert isinstance(policy, GuardedPolicy)
        states = policy.default.page_states
        page, other = states.ids[np.argsort(states.changes)[-2:]].tolist()
        changes = states.changes.copy()
        states.changes[states.find_rows(np.array([page]))] = 0
        session.release_all()
        session._catalog.remove_pages([other], clock.now())
    with CollectionStore.open(folder) as collection:
        policy = build_live_policy(collection.catalog, collection.settings, now=clock.now())
    state = policy.state()
    assert other not in state["ids"]
    assert state["changes"].sum() == changes.sum() - changes[states.find_rows(np.array([other]))]


def test_a_damaged_or_foreign_state_is_not_used(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "200%/day") as session:
        crawl(session, clock, 3, np.random.default_rng(1))
        session.release_all()
        note, catalog, now = session._catalog.read_note(POLICY_STATE_NOTE), session._catalog, 2e9
        assert read_policy_state(catalog, "guarded-freshness", now) is not None
        assert read_policy_state(catalog, "guarded-changes", now) is None
        assert read_policy_state(catalog, "guarded-freshness", to_epoch(NOON)) is None
        assert note is not None
        for text in (
            "",
            "[]",
            "{}",
            note[:-9],
            note.replace('"arrays": "e', '"arrays": "A'),
            '{"origin": 3}',
        ):
            assert decode_state("guarded-freshness", text) is None


def test_a_state_that_cannot_be_restored_is_left_aside(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "200%/day") as session:
        crawl(session, clock, 3, np.random.default_rng(1))
        stored = StoredPolicyState(clock.now(), 1, {"ids": np.arange(3)})
        session._catalog.write_note(POLICY_STATE_NOTE, encode_state("guarded-freshness", stored))
    with CollectionStore.open(folder) as collection:
        policy = build_live_policy(collection.catalog, collection.settings, now=clock.now())
    assert len(policy.state()["ids"]) == PAGES


def test_the_state_of_a_large_policy_is_not_stored(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, copies = FixedClock(NOON), list[int]()
    with crawling(folder, clock, "200%/day") as session:
        draw(session, clock)
        monkeypatch.setattr(type(session.policy), "nbytes", MAX_STATE_BYTES + 1)
        monkeypatch.setattr(session.policy, "state", lambda: copies.append(1) or {})
        session.release_all()
        assert not copies
        assert read_policy_state(session._catalog, "guarded-freshness", np.inf) is None
