"""The short form: a small generated world gives the published figures, within stated bounds."""

import json

import numpy as np
import pytest
from experiments.web_changes.evaluation import (
    EXPECTED,
    FigureRow,
    figure_rows,
    page_tables,
    paper_figures,
    sub_hour_figures,
)
from experiments.web_changes.experiment import (
    MeasuredPages,
    burst_pairs,
    look_results,
    measure_generated_pages,
    observe_page,
    summarise_page_history,
)
from experiments.web_changes.hourly import START, hourly_series, hourly_web

from freshet.core.progress import ignore_progress
from freshet.core.types import Snapshot
from freshet.engine.local import LocalEngine
from freshet.measure.change.similarity import dice
from freshet.measure.statistics.burst_table import burst_table
from freshet.view.parse import parse_snapshot

QUICK = json.loads(EXPECTED.read_text("utf-8"))["quick"]


@pytest.fixture(scope="module")
def measured() -> MeasuredPages:
    return measure_generated_pages(QUICK["pages"], QUICK["seed"], LocalEngine(1), ignore_progress)


@pytest.fixture(scope="module")
def table(measured: MeasuredPages) -> dict[tuple[str, str, str], FigureRow]:
    ours = page_tables(measured) | sub_hour_figures(burst_table(measured.pairs), measured.figures)
    found = figure_rows(paper_figures(), ours, {})
    return {(row.table, row.group, row.metric): row for row in found}


@pytest.mark.parametrize("bound", QUICK["rows"], ids=lambda row: "-".join(map(str, row[:3])))
def test_the_small_world_gives_published_figures(
    table: dict[tuple[str, str, str], FigureRow], bound: list[object]
) -> None:
    *key, tolerance = bound
    row = table[tuple(key)]  # type: ignore[index]
    assert row.world == pytest.approx(row.paper, abs=tolerance)


def test_every_page_is_measured_once(measured: MeasuredPages) -> None:
    assert len(measured) == QUICK["pages"]
    assert len(set(measured.names["page"].tolist())) == QUICK["pages"]


def test_survival_never_rises(measured: MeasuredPages) -> None:
    shares = measured.figures.survival
    assert np.all(np.diff(shares[np.all(np.isfinite(shares), axis=1)], axis=1) <= 0)


def test_the_parsed_words_are_those_of_the_world() -> None:
    for page in hourly_web(12, 4):
        moments = (START, START + 3600.0 * 700)
        read = [
            parse_snapshot(Snapshot(page.url, page.html(moment).encode())).terms
            for moment in moments
        ]
        made = [page.terms(moment) for moment in moments]
        assert [len(terms) for terms in read] == [len(terms) for terms in made]
        assert dice(*read) == dice(*made)


def test_a_page_that_never_changed_has_no_interval_and_no_dice() -> None:
    still = next(page for page in hourly_web(60, 1) if not page.changes[-1])
    found = summarise_page_history(observe_page(still))
    assert (found.changes, found.interval_hours, found.dice_mean) == (0, None, None)


def test_a_page_that_changed_once_has_the_interval_since_its_first_version() -> None:
    once = next(page for page in hourly_web(200, 1) if page.changes[-1] == 1)
    changed = int(np.argmax(page_changes := once.changes > 0))
    assert page_changes.any()
    assert summarise_page_history(observe_page(once)).interval_hours == pytest.approx(changed)


def test_the_first_look_is_compared_with_nothing() -> None:
    looks = look_results(hourly_series(next(hourly_web(1, 1))))
    assert looks.changed[0] == -1
    assert np.all(np.isfinite(looks.dice) == (looks.changed == 1))


def test_only_pages_that_changed_within_two_minutes_get_instant_bursts() -> None:
    for number, page in enumerate(hourly_web(60, 1)):
        if page.changes[-1] > 600:
            pairs = burst_pairs(number, page)
            soon = any(changed for _, seconds, changed, *_ in pairs if seconds == 120)
            assert soon == any(seconds == 0 for _, seconds, *_ in pairs)
