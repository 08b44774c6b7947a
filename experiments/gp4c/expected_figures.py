"""The figures that are kept beside this file: the paper's, ours with floors, and of which data."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from experiments.gp4c.data import REAL_TRACES, TRACES
from experiments.gp4c.evaluation import (
    ChosenFormulaRow,
    DifferenceRow,
    FigurePoint,
    MeanRow,
    ResultRow,
    TerminalRow,
    WinLossRow,
)
from experiments.gp4c.experiment import TraceResults, size_of
from experiments.gp4c.searches import SearchKind

EXPECTED = Path(__file__).with_name("expected.json")
TABLES: Mapping[str, type[ResultRow]] = {
    "t2": MeanRow,
    "gaps": DifferenceRow,
    "clocks": DifferenceRow,
    "t3": WinLossRow,
    "selections": WinLossRow,
    "fig5": FigurePoint,
    "fitness": DifferenceRow,
    "formulas": ChosenFormulaRow,
    "simple": ChosenFormulaRow,
    "names": TerminalRow,
}
MIN_TOLERANCE = 0.01


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """Of which trace figures are: its pages, its digest, and how much was searched.

    ``extended`` says how much for extended names; it is empty where there was no such search.
    """

    name: str
    pages: int
    digest: str
    searched: str
    extended: str


@dataclass(frozen=True, slots=True)
class ExpectedFigures:
    """What is kept."""

    traces: list[TraceRecord]
    rows: list[ResultRow]


def save_figures(found: Sequence[TraceResults], rows: Sequence[ResultRow]) -> None:
    """Keep the figures of a run in place of those of the same traces that were kept before."""
    before = read_figures()
    new = {each.source.name for each in found}
    traces = [each for each in before.traces if each.name not in new]
    traces += [_traced(each) for each in found]
    traces.sort(key=lambda each: TRACES.index(each.name))
    others = [row for row in before.rows if row.trace not in new]
    ours = [*others, *(row for row in rows if row.table in TABLES)]
    ours.sort(key=lambda row: TRACES.index(row.trace))
    EXPECTED.write_text(to_json(traces, ours), "utf-8")


def _traced(found: TraceResults) -> TraceRecord:
    further = {kind for kind in found.formulas if kind.terminals == "extended"}
    extended = str(size_of(SearchKind("extended"), found.size)) if further else ""
    return TraceRecord(found.source.name, found.pages, found.digest, str(found.size), extended)


def read_figures() -> ExpectedFigures:
    """Return what is kept."""
    if not EXPECTED.exists():
        return ExpectedFigures([], [])
    held = json.loads(EXPECTED.read_text("utf-8"))
    return ExpectedFigures(
        [TraceRecord(**each) for each in held["traces"]], [row_from_json(r) for r in held["rows"]]
    )


def row_from_json(plain: Mapping[str, Any]) -> ResultRow:
    """Return a row of a table; floors follow from the other figures."""
    cls = TABLES[plain["table"]]
    return cls(**{name: value for name, value in plain.items() if name != "floor"})


def to_json(traces: Sequence[TraceRecord], rows: Sequence[ResultRow]) -> str:
    """Return what is kept as text, a row in a line."""
    held, table = _lines([asdict(each) for each in traces]), _lines([_plain(row) for row in rows])
    return f'{{"traces": [\n{held}\n ],\n "rows": [\n{table}\n ]}}\n'


def floor(row: MeanRow) -> float:
    """Return below what the same rules and formulas must not fall on the same pages.

    >>> floor(MeanRow("t2", "snap", "nad", "ndcg", None, None, 0.75, 0.02))
    0.73
    """
    return float(_rounded(row.ours - max(MIN_TOLERANCE, row.margin or 0.0)))


def _plain(row: ResultRow) -> dict[str, Any]:
    plain = {name: _rounded(value) for name, value in asdict(row).items()}
    held = isinstance(row, MeanRow) and row.trace in REAL_TRACES
    return plain | ({"floor": floor(MeanRow(**plain))} if held else {})


def _lines(rows: Sequence[Mapping[str, Any]]) -> str:
    return ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)


def _rounded(value: Any) -> Any:
    return float(f"{value:.5g}") if isinstance(value, float) else value
