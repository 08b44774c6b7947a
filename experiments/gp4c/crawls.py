"""The test: rules, ceilings and formulas crawl the pages of a fold that no search saw."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np

from experiments.gp4c.data import Source, opened
from experiments.gp4c.searches import BUDGET, SEED
from freshet.backtest.cycle_crawl import crawl, visits_per_cycle
from freshet.backtest.folds import shared_out
from freshet.backtest.metrics import curves
from freshet.backtest.selectors import contender
from freshet.backtest.trace import Trace
from freshet.core.types import Floats
from freshet.engine.result_cache import Columns
from freshet.formula.expression import parse
from freshet.formula.variables import Clock
from freshet.learning.evolve.formula_trial import Trial
from freshet.schedule.ranked import NAMES

SEEDS = 3
MEASURED = ("changerate", "ndcg", "freshness")


@dataclass(frozen=True, slots=True)
class Entry:
    """Who crawls: a rule or ceiling by its name, or a formula by its text and clock."""

    name: str
    text: str
    is_formula: bool = False
    clock: Clock = "visit"
    budget: float = BUDGET


@dataclass(frozen=True, slots=True)
class Curve:
    """What a crawl reached cycle by cycle, in the mean over seeds; NaN where nothing was stale."""

    changerate: Floats
    ndcg: Floats
    freshness: Floats


@dataclass(frozen=True, slots=True)
class Crawled:
    """The curves of a fold, by name and budget, and how many pages crawled."""

    pages: int
    curves: Mapping[tuple[str, float], Curve]


def columns(source: Source, fold: int, entries: Sequence[Entry]) -> Columns:
    """Return a fold's test as an engine takes it."""
    given = {name: np.array([value]) for name, value in asdict(source).items()}
    listed = {
        f"of_{each.name}": np.array([getattr(entry, each.name) for entry in entries])
        for each in fields(Entry)
    }
    return {**given, **listed, "fold": np.array([fold])}


def crawl_all(columns: Columns) -> Columns:
    """Let every entry crawl the test pages of a fold; an engine calls it."""
    source = Source(**{each.name: columns[each.name][0].item() for each in fields(Source)})
    rows = zip(*(columns[f"of_{each.name}"].tolist() for each in fields(Entry)), strict=True)
    entries = [Entry(*row) for row in rows]
    trace = opened(source)
    shares = shared_out(len(trace.pages), int(columns["fold"][0]), seed=SEED)
    pages = trace.only(shares.test)
    # In a large world the order among equal pages hardly matters.
    seeds = range(1, (1 if source.is_world else SEEDS) + 1)
    found = {
        (entry.name, entry.budget): _mean([_curve(entry, pages, seed) for seed in seeds])
        for entry in entries
    }
    return _flat(len(pages.pages), found)


def _curve(entry: Entry, pages: Trace, seed: int) -> Curve:
    k = visits_per_cycle(entry.budget, len(pages.pages))
    if not entry.is_formula:
        chooser = contender(entry.text, pages, seed)
        told = curves(crawl(pages, chooser, k), pages.pages.importance, k)
        return Curve(*(told.column(name) for name in MEASURED))
    trial = Trial(pages, entry.budget, "ndcg", clock=entry.clock, seed=seed)
    result = trial.result(parse(entry.text, NAMES["extended"]))
    some = result.ideal > 0
    gain = np.divide(result.gain, result.ideal, out=np.full(len(some), np.nan), where=some)
    return Curve(result.found / k, gain, 1 - result.stale_after / len(pages.pages))


def _mean(curves: Sequence[Curve]) -> Curve:
    return Curve(*(known_mean(np.array([getattr(each, of) for each in curves])) for of in MEASURED))


def known_mean(rows: Floats) -> Floats:
    """Return the mean of every column over the rows that know it, NaN where none does.

    >>> known_mean(np.array([[1.0, np.nan], [3.0, np.nan]])).tolist()
    [2.0, nan]
    """
    known = ~np.isnan(rows)
    counts = known.sum(axis=0)
    sums = np.where(known, rows, 0.0).sum(axis=0)
    means: Floats = np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
    return means


def _flat(pages: int, found: Mapping[tuple[str, float], Curve]) -> Columns:
    """Return curves as an engine gives them back."""
    measured = {
        name: np.array([getattr(each, name) for each in found.values()]) for name in MEASURED
    }
    return measured | {
        "pages": np.array([pages]),
        "names": np.array([name for name, _ in found]),
        "budgets": np.array([budget for _, budget in found]),
    }


def crawled_of(columns: Columns) -> Crawled:
    """Return the curves that an engine gave back."""
    keys = zip(columns["names"].tolist(), columns["budgets"].tolist(), strict=True)
    rows = zip(*(columns[name] for name in MEASURED), strict=True)
    return Crawled(
        int(columns["pages"][0]), {key: Curve(*row) for key, row in zip(keys, rows, strict=True)}
    )
