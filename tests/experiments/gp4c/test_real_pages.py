"""On the real pages, rules and selected formulas reproduce the stored figures."""

import os
from pathlib import Path

import numpy as np
import pytest
from experiments.gp4c import expected_figures
from experiments.gp4c.crawls import CrawlEntry, crawl_all, crawls_from_columns, entry_columns
from experiments.gp4c.data import TraceSource, open_source, sources
from experiments.gp4c.evaluation import ChosenFormulaRow, MeanRow, crawl_name

DATA = Path(os.environ["FRESHET_DATA"])
FOLDS = range(5)
STORED = expected_figures.read_figures()
REAL = [source for source in sources(DATA, 0) if not source.is_world]


@pytest.mark.parametrize("source", REAL, ids=lambda source: source.name)
def test_the_data_is_that_of_the_published_run(source: TraceSource) -> None:
    digests = {trace.name: trace.digest for trace in STORED.traces}
    assert open_source(source).digest == digests[source.name]


@pytest.mark.parametrize("source", REAL, ids=lambda source: source.name)
def test_selected_formulas_reproduce_their_figures(source: TraceSource) -> None:
    chosen = [
        row
        for row in STORED.rows
        if isinstance(row, ChosenFormulaRow) and (row.trace, row.table) == (source.name, "formulas")
    ]
    some = [row for row in chosen if row.fold == 1 and row.method in {"gp-basic", "gp-all"}]
    assert some
    entries = [
        CrawlEntry(f"{row.method} {row.metric}", row.formula, is_formula=True) for row in some
    ]
    curves = crawls_from_columns(crawl_all(entry_columns(source, 0, entries))).curves
    for row in some:
        curve = getattr(curves[f"{row.method} {row.metric}", 0.05], row.metric)
        assert np.nanmean(curve) == pytest.approx(row.ours, abs=1e-4)


@pytest.mark.parametrize("source", REAL, ids=lambda source: source.name)
def test_rules_and_formulas_do_not_fall_below_their_floors(source: TraceSource) -> None:
    folds = [
        crawls_from_columns(crawl_all(entry_columns(source, fold, entries(source, fold))))
        for fold in FOLDS
    ]
    mean_rows = [
        row for row in STORED.rows if isinstance(row, MeanRow) and row.trace == source.name
    ]
    assert len({row.method for row in mean_rows}) > 20
    for row in mean_rows:
        name = crawl_name(row.method, row.metric)
        ours = [np.nanmean(getattr(crawls.curves[name, 0.05], row.metric)) for crawls in folds]
        assert np.mean(ours) >= expected_figures.floor(row), row


def entries(source: TraceSource, fold: int) -> list[CrawlEntry]:
    """Return whoever crawled the test pages of a fold, as it is kept."""
    means = (row for row in STORED.rows if isinstance(row, MeanRow) and row.trace == source.name)
    rules = {row.method for row in means if not row.method.startswith("gp-")}
    return [
        *(CrawlEntry(name, name, is_formula=" " in name) for name in sorted(rules)),
        *(
            CrawlEntry(
                crawl_name(row.method, row.metric),
                row.formula,
                is_formula=True,
                clock="cycle" if row.method.endswith("-cycle") else "visit",
            )
            for row in STORED.rows
            if isinstance(row, ChosenFormulaRow)
            and (row.trace, row.table, row.fold) == (source.name, "formulas", fold + 1)
        ),
    ]
