"""The test: rules, oracles and formulas crawl the pages of a fold that no search used."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np

from experiments.gp4c.data import TraceSource, open_source
from experiments.gp4c.searches import BUDGET, SEED
from freshet.backtest.cycle_crawl import crawl_in_cycles, visits_per_cycle
from freshet.backtest.folds import split_folds
from freshet.backtest.metrics import measure_cycles
from freshet.backtest.selectors import make_selector
from freshet.backtest.trace import Trace
from freshet.core.types import FloatArray
from freshet.engine.result_cache import Columns
from freshet.formula.expression import parse_formula
from freshet.formula.variables import WeightClock
from freshet.learning.evolve.formula_trial import FormulaTrial
from freshet.schedule.formulas.extended_formula_policy import VARIABLES_BY_TERMINAL_SET

SEEDS = 3
METRIC_NAMES = ("changerate", "ndcg", "freshness")


@dataclass(frozen=True, slots=True)
class CrawlEntry:
    """A crawler: a rule or oracle by its name, or a formula by its text and clock."""

    name: str
    text: str
    is_formula: bool = False
    clock: WeightClock = "visit"
    budget: float = BUDGET


@dataclass(frozen=True, slots=True)
class FoldCurve:
    """Metrics of a crawl cycle by cycle, averaged over seeds; NaN if no copy was stale."""

    changerate: FloatArray
    ndcg: FloatArray
    freshness: FloatArray


@dataclass(frozen=True, slots=True)
class FoldCrawls:
    """The curves of a fold by name and budget, and the number of pages."""

    pages: int
    curves: Mapping[tuple[str, float], FoldCurve]


def entry_columns(source: TraceSource, fold: int, entries: Sequence[CrawlEntry]) -> Columns:
    """Return a fold's test as engine columns."""
    source_columns = {name: np.array([value]) for name, value in asdict(source).items()}
    entry_columns = {
        f"of_{field.name}": np.array([getattr(entry, field.name) for entry in entries])
        for field in fields(CrawlEntry)
    }
    return {**source_columns, **entry_columns, "fold": np.array([fold])}


def crawl_all(columns: Columns) -> Columns:
    """Crawl the test pages of a fold with every entry; called by an engine."""
    source = TraceSource(**{
        field.name: columns[field.name][0].item() for field in fields(TraceSource)
    })
    rows = zip(*(columns[f"of_{field.name}"].tolist() for field in fields(CrawlEntry)), strict=True)
    entries = [CrawlEntry(*row) for row in rows]
    trace = open_source(source)
    folds = split_folds(len(trace.pages), int(columns["fold"][0]), seed=SEED)
    test_trace = trace.select(folds.test)
    # In a large world the tie break hardly matters.
    seeds = range(1, (1 if source.is_world else SEEDS) + 1)
    curves = {
        (entry.name, entry.budget): _mean_curve([_curve(entry, test_trace, seed) for seed in seeds])
        for entry in entries
    }
    return _curve_columns(len(test_trace.pages), curves)


def _curve(entry: CrawlEntry, trace: Trace, seed: int) -> FoldCurve:
    k = visits_per_cycle(entry.budget, len(trace.pages))
    if not entry.is_formula:
        selector = make_selector(entry.text, trace, seed)
        metrics = measure_cycles(crawl_in_cycles(trace, selector, k), trace.pages.importance, k)
        return FoldCurve(*(metrics.column(name) for name in METRIC_NAMES))
    trial = FormulaTrial(trace, entry.budget, "ndcg", clock=entry.clock, seed=seed)
    result = trial.crawl(parse_formula(entry.text, VARIABLES_BY_TERMINAL_SET["extended"]))
    is_ranked = result.ideal_gain > 0
    gain = np.divide(
        result.gain, result.ideal_gain, out=np.full(len(is_ranked), np.nan), where=is_ranked
    )
    return FoldCurve(result.changes_found / k, gain, 1 - result.stale_after / len(trace.pages))


def _mean_curve(curves: Sequence[FoldCurve]) -> FoldCurve:
    return FoldCurve(
        *(
            known_mean(np.array([getattr(curve, metric) for curve in curves]))
            for metric in METRIC_NAMES
        )
    )


def known_mean(rows: FloatArray) -> FloatArray:
    """Return the mean of every column without its NaN values, NaN if all are NaN.

    >>> known_mean(np.array([[1.0, np.nan], [3.0, np.nan]])).tolist()
    [2.0, nan]
    """
    is_known = ~np.isnan(rows)
    counts = is_known.sum(axis=0)
    sums = np.where(is_known, rows, 0.0).sum(axis=0)
    means: FloatArray = np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
    return means


def _curve_columns(pages: int, curves: Mapping[tuple[str, float], FoldCurve]) -> Columns:
    """Return curves as engine columns."""
    columns = {
        name: np.array([getattr(curve, name) for curve in curves.values()]) for name in METRIC_NAMES
    }
    return columns | {
        "pages": np.array([pages]),
        "names": np.array([name for name, _ in curves]),
        "budgets": np.array([budget for _, budget in curves]),
    }


def crawls_from_columns(columns: Columns) -> FoldCrawls:
    """Return the curves from engine columns."""
    keys = zip(columns["names"].tolist(), columns["budgets"].tolist(), strict=True)
    rows = zip(*(columns[name] for name in METRIC_NAMES), strict=True)
    return FoldCrawls(
        int(columns["pages"][0]),
        {key: FoldCurve(*row) for key, row in zip(keys, rows, strict=True)},
    )
