"""The experiment's short form: the noisy pages of one world, and some that only change."""

import json
from pathlib import Path
from random import Random

import pytest
from experiments.masks import experiment
from experiments.masks.experiment import DAYS, START, count_row
from experiments.masks.visitor import PageVisitor

from freshet.world.simulated_web import SimulatedWeb

VISITS = 24
KEPT = Path(experiment.__file__).with_name("expected.json")


@pytest.fixture(scope="module")
def web() -> SimulatedWeb:
    return SimulatedWeb(31, START, DAYS)


@pytest.mark.parametrize("instant", [False, True])
def test_noise_is_recognised_and_change_is_seen(web: SimulatedWeb, instant: bool) -> None:
    visits = []
    for number, page in enumerate(web.pages):
        if page.is_noisy or page.kind == "table":
            visitor = PageVisitor(web, number, instant=instant)
            visits += visitor.visits(VISITS, Random(number))
    row = count_row("", "", visits)
    assert row.noise_only > 50
    assert row.real > 50
    recognised, hidden = (
        bound
        for bound in json.loads(KEPT.read_text("utf-8"))["rows"]
        if bound["rounds"] == ("instant" if instant else "none")
    )
    assert row.shares[0] >= recognised["floor"]
    assert row.shares[1] <= hidden["max"]


def test_a_page_without_noise_gets_no_mask(web: SimulatedWeb) -> None:
    for number, page in enumerate(web.pages):
        if page.path in ("/", "/t/1", "/lamps/", "/world/"):
            visitor = PageVisitor(web, number, instant=True)
            assert list(visitor.visits(VISITS, Random(number)))
            assert visitor.criteria.mask.rules == ()
