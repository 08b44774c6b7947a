"""Crawls that see only their own looks, and choose by coins or policies."""

from dataclasses import replace

import numpy as np
import pytest
from experiments.content_change.crawl import CRAWL_METHODS, KNOWN_RATES, crawl_pages, run_crawls
from experiments.content_change.crawl_choosers import CrawlSettings, PageChooser, throw_coins
from experiments.content_change.crawl_log import CrawlLog, labels_of_looks
from experiments.content_change.generated_world import GeneratedWorld, generate_world
from experiments.content_change.learned_correction import LearnedCorrectionChooser

from freshet.core.content.content_grid import ContentGrid
from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.types import IndexArray
from freshet.learning.change_model import learn
from freshet.predict.change_model import ModelValidation
from freshet.predict.expert_problem import SlidingSettings

SETTINGS = CrawlSettings(
    budget_share=0.2,
    steps_between_trainings=15,
    experts=3,
    sliding=SlidingSettings(window=20, penalties=(0.03,)),
)
STEPS = 40


def world() -> ContentGrid:
    return generate_world(GeneratedWorld(groups=2, followers=4, steps=STEPS)).grid


def test_a_change_between_two_looks_is_put_on_the_last_day() -> None:
    hashes = np.array([7, 7, 8], np.uint64)
    versions = np.array([[0, -1, 1, -1, 2, 2]], np.int32)
    assert labels_of_looks(versions, hashes).tolist() == [[0, 0, -1, 1, 0]]


def test_coins_choose_each_page_once_and_follow_the_chances() -> None:
    rng = np.random.default_rng(1)
    chances = np.array([0.9, 0.9, 0.0, 0.0])
    draws = [throw_coins(chances, 2, rng) for _ in range(200)]
    assert all(len(set(pages.tolist())) == 2 for pages in draws)
    assert np.mean(np.concatenate(draws) < 2) > 0.95
    assert sorted(throw_coins(chances, 9, rng).tolist()) == [0, 1, 2, 3]


def test_a_log_knows_only_what_was_looked_at() -> None:
    log = CrawlLog(world())
    log.look(0, np.arange(10, dtype=np.int32))
    looks = log.look(3, np.array([4], np.int32))
    assert looks.measured.all()
    known = log.known_grid(5).versions >= 0
    assert known.sum(axis=0).tolist() == [10, 0, 0, 1, 0, 0]
    assert log.fresh_pages(3)[4]


def test_a_look_before_the_first_version_finds_nothing() -> None:
    grid = world()
    versions = grid.versions.copy()
    versions[4, :3] = -1
    log = CrawlLog(replace(grid, versions=versions))
    page = np.array([4], np.int32)
    assert log.look(0, np.arange(10, dtype=np.int32)).text_hashes[4] == 0
    assert log.freshness(0) == 1.0
    assert not log.fresh_pages(3)[4]
    looks = log.look(3, page)
    assert (looks.measured.any(), looks.text_hashes[0]) == (False, grid.text_hashes[versions[4, 3]])
    assert log.look(4, page).measured.all()


@pytest.mark.parametrize("method", [name for name in CRAWL_METHODS if name != KNOWN_RATES])
def test_choices_do_not_depend_on_what_the_crawl_did_not_see(method: str) -> None:
    grid = world()
    changed = grid.versions.copy()
    changed[:, 32:] = changed[:, :8]
    choices = []
    for versions in (grid.versions, changed):
        source = replace(grid, versions=versions)
        chooser = _Recorder(CRAWL_METHODS[method](source, SETTINGS, 1))
        curve = crawl_pages(source, chooser, SETTINGS.budget_share)
        assert ((curve.freshness >= 0.2) & (curve.freshness <= 1)).all()
        choices.append(chooser.choices)
    for first, second in zip(choices[0][:32], choices[1][:32], strict=True):
        np.testing.assert_array_equal(first, second)
    assert all(len(pages) == 2 for pages in choices[0])


def test_a_learned_correction_is_trained_and_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learn, "MIN_LOOKS", 40)
    monkeypatch.setattr(learn, "MIN_OF_EACH_RESULT", 1)
    monkeypatch.setattr(ModelValidation, "is_better", True)
    chooser = LearnedCorrectionChooser(world(), SETTINGS, 1)
    curve = crawl_pages(world(), chooser, 0.8)
    assert chooser.has_correction
    assert curve.freshness.min() > 0


def test_rows_are_means_over_seeds_and_round_robin_visits_in_turn() -> None:
    rows, points = run_crawls(
        "world", world(), SETTINGS, print, methods=["round-robin", KNOWN_RATES], seeds=(1, 2)
    )
    assert [(row.method, row.seeds, row.pages) for row in rows] == [
        ("round-robin", 2, 10),
        (KNOWN_RATES, 2, 10),
    ]
    assert [(point.method, point.day) for point in points] == [
        ("round-robin", 20),
        (KNOWN_RATES, 20),
    ]


class _Recorder:
    """Passes everything to a chooser and records its choices."""

    def __init__(self, chooser: PageChooser) -> None:
        self._chooser = chooser
        self.choices: list[IndexArray] = []

    def choose(self, log: CrawlLog, step: int, count: int) -> IndexArray:
        self.choices.append(self._chooser.choose(log, step, count))
        return self.choices[-1]

    def learn(self, looks: MeasuredLooks) -> None:
        self._chooser.learn(looks)
