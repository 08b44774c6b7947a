"""The back-tests of the document: traces, budgets and whether policies know importance."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from freshet.backtest.comparison import BacktestRow, result_rows
from freshet.backtest.continuous.comparison import run_policies_continuously
from freshet.backtest.continuous.generated import generate_web_trace
from freshet.backtest.selectors import ALL_NAMES
from freshet.backtest.trace import Trace

PAGES, DAYS, SEEDS = 1_000, 60, 3
BUDGETS = (0.05, 0.1)
FIGURES = ("changerate", "weighted_changerate", "freshness", "weighted_freshness")


@dataclass(frozen=True, slots=True)
class BacktestSection:
    """A back-test of all policies in continuous time."""

    name: str
    open: Callable[[], Trace]


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


def living() -> Trace:
    """Return the generated web, whose pages differ in importance."""
    return generate_web_trace(PAGES, DAYS)


SECTIONS: Mapping[str, BacktestSection] = {
    section.name: section
    for section in (
        BacktestSection("living", living),
        BacktestSection("living_equal", lambda: living().without_importance()),
    )
}


def run_section(section: BacktestSection) -> Iterator[PolicyFigures]:
    """Yield the figures of all policies and oracles with every budget."""
    trace = section.open()
    results = list(run_policies_continuously(trace, ALL_NAMES, BUDGETS, seeds=SEEDS))
    for row in result_rows(trace, results):
        yield figures_of(section.name, row)


def figures_of(section: str, row: BacktestRow) -> PolicyFigures:
    """Return the figures of a row of a back-test."""
    return PolicyFigures(
        section, row.policy, row.budget, row.pages, row.cycles, row.seeds,
        *(float(f"{getattr(row, name):.5g}") for name in FIGURES),
    )  # fmt: skip
