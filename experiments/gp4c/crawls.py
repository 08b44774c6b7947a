"""The test: rules, ceilings and formulas crawl the pages of a fold that no search saw."""

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
from freshet.schedule.ranked import VARIABLES_BY_TERMINAL_SET

SEEDS = 3
METRIC_NAMES = ("changerate", "ndcg", "freshness")


@dataclass(frozen=True, slots=True)
class CrawlEntry:
    """Who crawls: a rule or ceiling by its name, or a formula by its text and clock."""

    name: str
    text: str
    is_formula: bool = False
    clock: WeightClock = "visit"
    budget: float = BUDGET


@dataclass(frozen=True, slots=True)
class FoldCurve:
    """What a crawl reached cycle by cycle, in the mean over seeds; NaN where nothing was stale."""

    changerate: FloatArray
    ndcg: FloatArray
    freshness: FloatArray


@dataclass(frozen=True, slots=True)
class FoldCrawls:
    """The curves of a fold, by name and budget, and how many pages crawled."""

    pages: int
    curves: Mapping[tuple[str, float], FoldCurve]


def entry_columns(source: TraceSource, fold: int, entries: Sequence[CrawlEntry]) -> Columns:
    """Return a fold's test as an engine takes it."""
    given = {name: np.array([value]) for name, value in asdict(source).items()}
    listed = {
        f"of_{each.name}": np.array([getattr(entry, each.name) for entry in entries])
        for each in fields(CrawlEntry)
    }
    return {**given, **listed, "fold": np.array([fold])}


def crawl_all(columns: Columns) -> Columns:
    """Let every entry crawl the test pages of a fold; an engine calls it."""
    source = TraceSource(**{
        each.name: columns[each.name][0].item() for each in fields(TraceSource)
    })
    rows = zip(*(columns[f"of_{each.name}"].tolist() for each in fields(CrawlEntry)), strict=True)
    entries = [CrawlEntry(*row) for row in rows]
    trace = open_source(source)
    shares = split_folds(len(trace.pages), int(columns["fold"][0]), seed=SEED)
    pages = trace.select(shares.test)
    # In a large world the order among equal pages hardly matters.
    seeds = range(1, (1 if source.is_world else SEEDS) + 1)
    found = {
        (entry.name, entry.budget): _mean([_curve(entry, pages, seed) for seed in seeds])
        for entry in entries
    }
    return _flat(len(pages.pages), found)


def _curve(entry: CrawlEntry, pages: Trace, seed: int) -> FoldCurve:
    k = visits_per_cycle(entry.budget, len(pages.pages))
    if not entry.is_formula:
        chooser = make_selector(entry.text, pages, seed)
        told = measure_cycles(crawl_in_cycles(pages, chooser, k), pages.pages.importance, k)
        return FoldCurve(*(told.column(name) for name in METRIC_NAMES))
    trial = FormulaTrial(pages, entry.budget, "ndcg", clock=entry.clock, seed=seed)
    result = trial.crawl(parse_formula(entry.text, VARIABLES_BY_TERMINAL_SET["extended"]))
    some = result.ideal_gain > 0
    gain = np.divide(result.gain, result.ideal_gain, out=np.full(len(some), np.nan), where=some)
    return FoldCurve(result.changes_found / k, gain, 1 - result.stale_after / len(pages.pages))


def _mean(curves: Sequence[FoldCurve]) -> FoldCurve:
    return FoldCurve(
        *(known_mean(np.array([getattr(each, of) for each in curves])) for of in METRIC_NAMES)
    )


def known_mean(rows: FloatArray) -> FloatArray:
    """Return the mean of every column over the rows that know it, NaN where none does.

    >>> known_mean(np.array([[1.0, np.nan], [3.0, np.nan]])).tolist()
    [2.0, nan]
    """
    known = ~np.isnan(rows)
    counts = known.sum(axis=0)
    sums = np.where(known, rows, 0.0).sum(axis=0)
    means: FloatArray = np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
    return means


def _flat(pages: int, found: Mapping[tuple[str, float], FoldCurve]) -> Columns:
    """Return curves as an engine gives them back."""
    measured = {
        name: np.array([getattr(each, name) for each in found.values()]) for name in METRIC_NAMES
    }
    return measured | {
        "pages": np.array([pages]),
        "names": np.array([name for name, _ in found]),
        "budgets": np.array([budget for _, budget in found]),
    }


def crawls_from_columns(columns: Columns) -> FoldCrawls:
    """Return the curves that an engine gave back."""
    keys = zip(columns["names"].tolist(), columns["budgets"].tolist(), strict=True)
    rows = zip(*(columns[name] for name in METRIC_NAMES), strict=True)
    return FoldCrawls(
        int(columns["pages"][0]),
        {key: FoldCurve(*row) for key, row in zip(keys, rows, strict=True)},
    )
