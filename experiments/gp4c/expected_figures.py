"""The stored figures of the experiment: the paper's, ours with floors, and the data's digests."""

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
    VariableRow,
    WinLossRow,
)
from experiments.gp4c.experiment import TraceResults, size_of
from experiments.gp4c.searches import SearchKind
from experiments.gp4c.stability import LeadRow, SameChoiceRow, StabilityRow

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
    "names": VariableRow,
    "same_choice": SameChoiceRow,
    "stability": StabilityRow,
    "lead": LeadRow,
}
MIN_TOLERANCE = 0.01


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """The trace of figures: its pages, its digest, and the size of the searches.

    ``extended`` is the size for extended variables, empty if there was no such search.
    """

    name: str
    pages: int
    digest: str
    searched: str
    extended: str


@dataclass(frozen=True, slots=True)
class ExpectedFigures:
    """The stored figures."""

    traces: list[TraceRecord]
    rows: list[ResultRow]


def save_figures(all_results: Sequence[TraceResults], rows: Sequence[ResultRow]) -> None:
    """Store the figures of a run in place of earlier ones of the same traces."""
    stored = read_figures()
    new_names = {trace.source.name for trace in all_results}
    traces = [trace for trace in stored.traces if trace.name not in new_names]
    traces += [_trace_record(trace) for trace in all_results]
    traces.sort(key=lambda trace: TRACES.index(trace.name))
    other_rows = [row for row in stored.rows if row.trace not in new_names]
    all_rows = [*other_rows, *(row for row in rows if row.table in TABLES)]
    all_rows.sort(key=lambda row: TRACES.index(row.trace))
    EXPECTED.write_text(to_json(traces, all_rows), "utf-8")


def _trace_record(results: TraceResults) -> TraceRecord:
    extended_kinds = {kind for kind in results.formulas if kind.terminals == "extended"}
    extended = str(size_of(SearchKind("extended"), results.size)) if extended_kinds else ""
    searched = str(results.size) + (", on a GPU" if results.device == "cuda" else "")
    return TraceRecord(results.source.name, results.pages, results.digest, searched, extended)


def read_figures() -> ExpectedFigures:
    """Return the stored figures."""
    if not EXPECTED.exists():
        return ExpectedFigures([], [])
    content = json.loads(EXPECTED.read_text("utf-8"))
    return ExpectedFigures(
        [TraceRecord(**trace) for trace in content["traces"]],
        [row_from_json(row) for row in content["rows"]],
    )


def row_from_json(plain: Mapping[str, Any]) -> ResultRow:
    """Return a row from its JSON form; floors follow from the other figures."""
    cls = TABLES[plain["table"]]
    return cls(**{name: value for name, value in plain.items() if name != "floor"})


def to_json(traces: Sequence[TraceRecord], rows: Sequence[ResultRow]) -> str:
    """Return the figures as JSON text, a row per line."""
    trace_lines, row_lines = (
        _lines([asdict(trace) for trace in traces]),
        _lines([_json_row(row) for row in rows]),
    )
    return f'{{"traces": [\n{trace_lines}\n ],\n "rows": [\n{row_lines}\n ]}}\n'


def floor(row: MeanRow) -> float:
    """Return the least value that the same methods must reach on the same pages.

    >>> floor(MeanRow("t2", "snap", "nad", "ndcg", None, None, 0.75, 0.02))
    0.73
    """
    return float(_rounded(row.ours - max(MIN_TOLERANCE, row.margin or 0.0)))


def _json_row(row: ResultRow) -> dict[str, Any]:
    plain = {name: _rounded(value) for name, value in asdict(row).items()}
    has_floor = isinstance(row, MeanRow) and row.trace in REAL_TRACES
    return plain | ({"floor": floor(MeanRow(**plain))} if has_floor else {})


def _lines(rows: Sequence[Mapping[str, Any]]) -> str:
    return ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)


def _rounded(value: Any) -> Any:
    return float(f"{value:.5g}") if isinstance(value, float) else value
