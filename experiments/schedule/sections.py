"""The back-tests of the document: traces, budgets and whether policies know importance."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from freshet.backtest.comparison import BacktestRow, result_rows
from freshet.backtest.continuous.comparison import run_policies_continuously
from freshet.backtest.continuous.generated import generate_web_trace
from freshet.backtest.selectors import ALL_NAMES
from freshet.backtest.trace import Trace
from freshet.backtest.trace_formats.open_trace import open_trace
from freshet.core.errors import UsageError

PAGES, DAYS, SEEDS = 1_000, 60, 3
BUDGETS = (0.05, 0.1)
FIGURES = ("changerate", "weighted_changerate", "freshness", "weighted_freshness")


@dataclass(frozen=True, slots=True)
class BacktestSection:
    """A back-test of all policies in continuous time; with ``data`` it needs real pages."""

    name: str
    open: Callable[[Path | None], Trace]
    data: bool = False


@dataclass(frozen=True, slots=True)
class PolicyFigures:
    """The figures of a policy with a budget, as means over the seeds."""

    section: str
    policy: str
    budget: float
    pages: int
    cycles: int
    seeds: int
    changerate: float
    weighted_changerate: float
    freshness: float
    weighted_freshness: float


def living(data: Path | None) -> Trace:
    """Return the generated web, whose pages differ in importance."""
    return generate_web_trace(PAGES, DAYS)


def snap(data: Path | None) -> Trace:
    """Return the real pages that were stored twice a day; all are equally important."""
    if data is None:
        raise UsageError("the section snap needs --data DIR, the folder in which pages/ lies")
    return open_trace(data / "pages", name="snap")


SECTIONS: Mapping[str, BacktestSection] = {
    section.name: section
    for section in (
        BacktestSection("living", living),
        BacktestSection("living_equal", lambda data: living(data).without_importance()),
        BacktestSection("snap", snap, data=True),
    )
}


def run_section(section: BacktestSection, data: Path | None) -> Iterator[PolicyFigures]:
    """Yield the figures of all policies and oracles with every budget."""
    trace = section.open(data)
    results = list(run_policies_continuously(trace, ALL_NAMES, BUDGETS, seeds=SEEDS))
    for row in result_rows(trace, results):
        yield figures_of(section.name, row)


def figures_of(section: str, row: BacktestRow) -> PolicyFigures:
    """Return the figures of a row of a back-test."""
    return PolicyFigures(
        section, row.policy, row.budget, row.pages, row.cycles, row.seeds,
        *(float(f"{getattr(row, name):.5g}") for name in FIGURES),
    )  # fmt: skip
