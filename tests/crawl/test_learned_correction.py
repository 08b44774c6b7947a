"""A crawl corrects its values by a learned model while that proves better than its forecast."""

import json
import re
import shutil
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import VisitEntry
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock, from_epoch
from freshet.core.extras import OptionalPackage
from freshet.core.tables import DAY_SECONDS, HostCaps
from freshet.core.types import Change, Outcome, Visit
from freshet.crawl import learned_correction
from freshet.crawl.forecast import forecasts
from freshet.crawl.learned_correction import (
    LEARNED_FORECAST_NOTE,
    NEW_MODEL,
    NOT_LOADED,
    SWITCHED_OFF,
    ForecastComparison,
    LearnedCorrection,
    read_learned_forecast,
)
from freshet.crawl.learned_forecast import LearnedForecast, UsableModel, choose_model
from freshet.crawl.live_policy import build_live_policy, visit_table
from freshet.crawl.why import explain_page
from freshet.predict import booster_text
from freshet.predict.forecast_scores import log_losses
from freshet.record.models.change_model_file import CHANGE_MODEL_FILE
from freshet.schedule.mixture.guarded_policy import GuardedPolicy
from tests.crawl.crawl_samples import crawling, draw
from tests.learning.change_model.look_samples import (
    DAYS,
    FIRST_DAY,
    HOST_NUMBERS,
    add_looks,
    daily_looks,
    weekday_chances,
)

NOW = from_epoch((FIRST_DAY + DAYS) * DAY_SECONDS)
# Each host changes on one day of seven; these changed since the last look.
IS_CHANGE_DAY = HOST_NUMBERS % 7 == DAYS % 7


@pytest.fixture(scope="module")
def learned_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("learned") / "c"
    with Collection.create(folder, contact="me@example.org", clock=FixedClock(NOW)) as collection:
        add_looks(collection.catalog, daily_looks(weekday_chances()))
        assert collection.learn().used
    return folder


@pytest.fixture
def folder(learned_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(learned_folder, tmp_path / "c"))


def live_policy(collection: Collection) -> GuardedPolicy:
    policy = build_live_policy(collection.catalog, collection.settings, now=NOW)
    assert isinstance(policy, GuardedPolicy)
    return policy


def page_factors(policy: GuardedPolicy) -> np.ndarray:
    states = policy.default.page_states
    return states.value_factor[states.rows_by_page_id()]


def add_day_of_looks(catalog: Catalog, day: int, changed: np.ndarray) -> None:
    """Add a look at each page."""
    time = from_epoch((FIRST_DAY + day) * DAY_SECONDS)
    pages = [page for batch in catalog.live_page_columns() for page in batch.ids]
    catalog.append_visits([
        VisitEntry(
            Visit((10_000 * day + page).to_bytes(16, "big"), page, time, Outcome.OK),
            Change(bool(is_changed)),
        )
        for page, is_changed in zip(pages, changed, strict=True)
    ])


def test_a_forecast_is_that_of_the_model_and_names_it(folder: Path) -> None:
    with Collection.open(folder, clock=FixedClock(NOW)) as collection:
        pages = list(collection.pages())
        learned = forecasts(collection, pages, NOW)
        (folder / "models" / CHANGE_MODEL_FILE).unlink()
        default = forecasts(collection, pages, NOW)
    by_model, by_policy = (
        np.array([[horizon.changed for horizon in item.horizons] for item in items])
        for items in (learned, default)
    )
    assert all(item.model.startswith("a model learned on 2,940 looks") for item in learned)
    assert not any(item.model or item.problem for item in default)
    assert (np.diff(by_model, axis=1) >= 0).all()
    assert by_model[IS_CHANGE_DAY, 0].mean() > by_policy[IS_CHANGE_DAY, 0].mean() + 0.1
    assert by_model[~IS_CHANGE_DAY, 0].mean() < by_policy[~IS_CHANGE_DAY, 0].mean()


class ChanceOfOneHalf:
    """A correction that knows nothing of the gap."""

    def correct(self, features: np.ndarray, chances: np.ndarray) -> np.ndarray:
        return np.full(len(features), 0.5)


def test_beyond_the_trained_gaps_a_correction_does_not_grow(folder: Path) -> None:
    with Collection.open(folder, clock=FixedClock(NOW)) as collection:
        usable = choose_model(collection.models_folder).usable
        assert usable is not None
        model = replace(usable.model, longest_gap_days=1.0)
        learned = LearnedForecast(UsableModel(model, ChanceOfOneHalf()), collection.catalog)
        policy, ids = live_policy(collection), learned.features.ids
        days = (0.5, 1.0, 2.0, 8.0)
        last_look = (FIRST_DAY + DAYS - 1) * DAY_SECONDS
        given, corrected = (
            np.stack([
                chances(ids, np.full(len(ids), last_look + gap * DAY_SECONDS)) for gap in days
            ])
            for chances in (policy.change_chances, partial(learned.change_chances, policy))
        )
    assert corrected[:2] == pytest.approx(0.5)
    assert 1 - corrected[2:] == pytest.approx((1 - given[2:]) * 0.5 / (1 - given[1]), rel=1e-4)


def test_a_crawl_values_pages_by_the_model(folder: Path) -> None:
    with crawling(folder, FixedClock(NOW), "500/day") as session:
        assert isinstance(session.policy, GuardedPolicy)
        factors = page_factors(session.policy)
        session.release_all()
    assert factors[IS_CHANGE_DAY].mean() > 1.5 > 1 > factors[~IS_CHANGE_DAY].mean()
    assert 0.25 <= factors.min() < factors.max() <= 4
    with Collection.open(folder, clock=FixedClock(NOW)) as collection:
        status = collection.status().learned
        page = list(collection.pages())[int(np.argmax(factors))]
        explanation = explain_page(collection, page)
    assert status is not None
    assert status.in_use
    lines = dict(explanation.lines())
    assert explanation.explanation is not None
    assert explanation.learned_chance > explanation.explanation.chance
    assert re.fullmatch(
        r"\d+% likely by the learned model, \d+% without it", lines["changed by now"]
    )
    assert "times as likely as the page's own history alone" in lines["learned model"]


def test_a_policy_that_is_built_again_after_the_clock_was_set_back_has_the_factors(
    folder: Path,
) -> None:
    clock = FixedClock(NOW)
    with crawling(folder, clock, "500/day") as session:
        before = session.policy
        clock.at = NOW - timedelta(minutes=30)
        draw(session, clock)
        assert isinstance(session.policy, GuardedPolicy)
        assert session.policy is not before
        assert page_factors(session.policy).max() > 1
        session.release_all()


def test_a_model_that_fails_on_the_latest_visits_is_switched_off(folder: Path) -> None:
    with Collection.open(folder, clock=FixedClock(NOW)) as collection:
        correction, policy = LearnedCorrection(collection), live_policy(collection)
        correction.refresh_if_due(policy, NOW)
        assert correction.in_use
        rng = np.random.default_rng(5)
        for day in range(DAYS, DAYS + 6):
            add_day_of_looks(collection.catalog, day, rng.random(len(HOST_NUMBERS)) < 0.6)
            correction.learn_new_looks(policy)
        assert not correction.in_use
        assert (page_factors(policy) == 1).all()
        correction.save(NOW)
        status = read_learned_forecast(collection.catalog)
        assert status is not None
        assert (status.in_use, status.why) == (False, SWITCHED_OFF)
        page = next(iter(collection.pages()))
        assert forecasts(collection, [page], NOW)[0].problem == SWITCHED_OFF
        again = LearnedCorrection(collection)
        again.refresh_if_due(policy, NOW)
        assert not again.in_use
        assert dict(explain_page(collection, page).lines())["learned model"].startswith("not used")


def test_the_status_is_that_of_the_stored_model_before_a_crawl_has_loaded_it(folder: Path) -> None:
    with Collection.open(folder, clock=FixedClock(NOW)) as collection:
        status = collection.status().learned
        assert status is not None
        assert (status.in_use, status.why) == (False, NEW_MODEL)
        correction, policy = LearnedCorrection(collection), live_policy(collection)
        correction.refresh_if_due(policy, NOW)
        in_use = collection.status().learned
        assert in_use is not None
        assert (in_use.in_use, in_use.made) == (True, status.made)
        older = replace(in_use, made=NOW - timedelta(1), time=NOW - timedelta(minutes=5))
        note = json.dumps(asdict(older), default=datetime.isoformat)
        collection.catalog.write_note(LEARNED_FORECAST_NOTE, note)
        learned_again = collection.status().learned
        assert learned_again is not None
        assert (learned_again.in_use, learned_again.why) == (False, NEW_MODEL)


def test_a_model_that_goes_on_being_right_stays_in_use(folder: Path) -> None:
    with Collection.open(folder, clock=FixedClock(NOW)) as collection:
        correction, policy = LearnedCorrection(collection), live_policy(collection)
        correction.refresh_if_due(policy, NOW)
        add_day_of_looks(collection.catalog, DAYS, IS_CHANGE_DAY)
        correction.learn_new_looks(policy)
        status = correction.status(NOW)
    assert status is not None
    assert (status.in_use, status.looks) == (True, len(HOST_NUMBERS))
    assert status.gain > 0


def test_what_is_compared_is_what_was_applied(folder: Path) -> None:
    with Collection.open(folder, clock=FixedClock(NOW)) as collection:
        correction, policy = LearnedCorrection(collection), live_policy(collection)
        correction.refresh_if_due(policy, NOW)
        # Looks much later than any gap that the model was trained on.
        late = from_epoch((FIRST_DAY + DAYS + 60) * DAY_SECONDS)
        ids = np.array([page.id for page in collection.pages()])
        before = [correction.change_chance(policy, int(page), late) for page in ids]
        times = np.full(len(ids), late.timestamp())
        given = policy.change_chances(ids, times)
        add_day_of_looks(collection.catalog, DAYS + 60, IS_CHANGE_DAY)
        first = ForecastComparison(correction.status(NOW).gain)
        correction.learn_new_looks(policy)
        gains = log_losses(given, IS_CHANGE_DAY) - log_losses(np.array(before), IS_CHANGE_DAY)
        first.add(gains)
        assert correction.status(NOW).gain == pytest.approx(first.gain)


def test_a_fault_while_a_model_is_loaded_is_named_and_tried_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_usable: object, _catalog: object) -> None:
        raise RuntimeError("disk")

    with Collection.open(folder, clock=FixedClock(NOW)) as collection:
        correction, policy = LearnedCorrection(collection), live_policy(collection)
        monkeypatch.setattr(learned_correction, "LearnedForecast", fail)
        correction.refresh(policy, NOW)
        status = correction.status(NOW)
        assert status is not None
        assert (status.in_use, status.why) == (False, NOT_LOADED)
        monkeypatch.undo()
        correction.refresh(policy, NOW + timedelta(hours=1))
        assert correction.in_use


@pytest.mark.parametrize(
    ("content", "why"), [("{}", "learn again"), (None, "pip install"), ("", "learn again")]
)
def test_a_crawl_without_a_usable_model_goes_on_and_says_why(
    folder: Path, monkeypatch: pytest.MonkeyPatch, content: str | None, why: str
) -> None:
    if content is None:
        missing = OptionalPackage("no_such_package", extra="learning")
        monkeypatch.setattr(booster_text, "lightgbm", missing)
    else:
        (folder / "models" / CHANGE_MODEL_FILE).write_text(content, "utf-8")
    with crawling(folder, FixedClock(NOW), "500/day") as session:
        assert isinstance(session.policy, GuardedPolicy)
        assert (page_factors(session.policy) == 1).all()
    with Collection.open(folder, clock=FixedClock(NOW)) as collection:
        status = collection.status().learned
        problem = forecasts(collection, [next(iter(collection.pages()))], NOW)[0].problem
    assert status is not None
    assert not status.in_use
    assert why in status.why
    assert why in problem


def mean_freshness(folder: Path, *, is_corrected: bool) -> float:
    """Return the share of fresh copies over three weeks in which 15 of 60 pages a day are seen."""
    rng, shares = np.random.default_rng(1), []
    with Collection.open(folder, clock=FixedClock(NOW)) as collection:
        correction, policy = LearnedCorrection(collection), live_policy(collection)
        ids = np.array([page.id for page in collection.pages()])
        is_stale = np.zeros(len(ids), np.bool_)
        for day in range(DAYS, DAYS + 21):
            chances = np.where(day % 7 == HOST_NUMBERS % 7, 0.9, 0.03)
            is_stale |= rng.random(len(ids)) < chances
            now = from_epoch((FIRST_DAY + day) * DAY_SECONDS)
            if is_corrected:
                correction.refresh_if_due(policy, now)
            rows = np.searchsorted(ids, policy.choose(now, 15, HostCaps()).pages)
            visits = [
                (
                    Visit((10_000 * day + row).to_bytes(16, "big"), int(ids[row]), now, Outcome.OK),
                    Change(bool(is_stale[row])),
                )
                for row in rows.tolist()
            ]
            collection.catalog.append_visits([VisitEntry(*visit) for visit in visits])
            correction.learn_new_looks(policy)
            policy.learn(visit_table(visits))
            is_stale[rows] = False
            shares.append(1.0 - is_stale.mean())
        assert not is_corrected or correction.in_use
    return float(np.mean(shares))


def test_a_corrected_crawl_keeps_more_copies_fresh(folder: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    corrected, plain = (
        mean_freshness(place, is_corrected=flag) for place, flag in ((folder, True), (other, False))
    )
    assert corrected > plain + 0.01


def test_the_comparison_forgets_old_looks() -> None:
    comparison = ForecastComparison(0.1)
    assert comparison.gain == pytest.approx(0.1)
    comparison.add(np.full(50, -0.1))
    assert comparison.gain > 0
    comparison.add(np.full(100, -0.1))
    assert comparison.gain < 0
    comparison.add(np.full(3_000, 0.2))
    assert comparison.gain == pytest.approx(0.2, abs=0.01)
