"""On the real pages, rules and the formulas that were found give the figures that were kept."""

import os
from pathlib import Path

import numpy as np
import pytest
from experiments.gp4c import expected_figures
from experiments.gp4c.crawls import Entry, columns, crawl_all, crawled_of
from experiments.gp4c.data import Source, opened, sources
from experiments.gp4c.evaluation import Choice, Mean, told_as

DATA = Path(os.environ["FRESHET_DATA"])
FOLDS = range(5)
HELD = expected_figures.read()
REAL = [source for source in sources(DATA, 0) if not source.is_world]


@pytest.mark.parametrize("source", REAL, ids=lambda source: source.name)
def test_the_data_is_that_of_the_published_run(source: Source) -> None:
    digests = {each.name: each.digest for each in HELD.traces}
    assert opened(source).digest == digests[source.name]


@pytest.mark.parametrize("source", REAL, ids=lambda source: source.name)
def test_chosen_formulas_replay_to_their_figures(source: Source) -> None:
    chosen = [
        row
        for row in HELD.rows
        if isinstance(row, Choice) and (row.trace, row.table) == (source.name, "formulas")
    ]
    some = [row for row in chosen if row.fold == 1 and row.method in {"gp-basic", "gp-all"}]
    assert some
    whole = [Entry(f"{row.method} {row.metric}", row.formula, is_formula=True) for row in some]
    found = crawled_of(crawl_all(columns(source, 0, whole))).curves
    for row in some:
        curve = getattr(found[f"{row.method} {row.metric}", 0.05], row.metric)
        assert np.nanmean(curve) == pytest.approx(row.ours, abs=1e-4)


@pytest.mark.parametrize("source", REAL, ids=lambda source: source.name)
def test_rules_and_formulas_do_not_fall_below_their_floors(source: Source) -> None:
    folds = [crawled_of(crawl_all(columns(source, fold, entries(source, fold)))) for fold in FOLDS]
    held = [row for row in HELD.rows if isinstance(row, Mean) and row.trace == source.name]
    assert len({row.method for row in held}) > 20
    for row in held:
        name = told_as(row.method, row.metric)
        ours = [np.nanmean(getattr(each.curves[name, 0.05], row.metric)) for each in folds]
        assert np.mean(ours) >= expected_figures.floor(row), row


def entries(source: Source, fold: int) -> list[Entry]:
    """Return whoever crawled the test pages of a fold, as it is kept."""
    means = (row for row in HELD.rows if isinstance(row, Mean) and row.trace == source.name)
    rules = {row.method for row in means if not row.method.startswith("gp-")}
    return [
        *(Entry(name, name, is_formula=" " in name) for name in sorted(rules)),
        *(
            Entry(
                told_as(row.method, row.metric),
                row.formula,
                is_formula=True,
                clock="cycle" if row.method.endswith("-cycle") else "visit",
            )
            for row in HELD.rows
            if isinstance(row, Choice)
            and (row.trace, row.table, row.fold) == (source.name, "formulas", fold + 1)
        ),
    ]
