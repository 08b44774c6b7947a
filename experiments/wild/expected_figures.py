"""The stored figures of the experiment: traces with their digests, crawls, and replays."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from experiments.wild.data import RawTraceSource, open_source
from experiments.wild.evaluation import WildRow
from experiments.wild.replay import ReplayResult

EXPECTED = Path(__file__).with_name("expected.json")


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """A trace of the figures: its first day, its size, its changed days and its digest."""

    name: str
    start: str
    days: int
    pages: int
    changes: int
    digest: str


@dataclass(frozen=True, slots=True)
class StoredFigures:
    """All stored figures."""

    traces: tuple[TraceRecord, ...] = ()
    rows: tuple[WildRow, ...] = ()
    replays: tuple[ReplayResult, ...] = ()


def trace_record(source: RawTraceSource) -> TraceRecord:
    """Return the record of a trace."""
    trace = open_source(source)
    return TraceRecord(
        source.name,
        source.start.date().isoformat(),
        trace.cycles,
        len(trace.pages),
        int(trace.change_counts().sum()),
        trace.digest,
    )


def read_figures(path: Path = EXPECTED) -> StoredFigures:
    """Return the stored figures."""
    stored = json.loads(path.read_text("utf-8"))
    return StoredFigures(
        tuple(TraceRecord(**record) for record in stored["traces"]),
        tuple(WildRow(**row) for row in stored["rows"]),
        tuple(ReplayResult(**result) for result in stored["replays"]),
    )


def with_crawls(
    stored: StoredFigures, traces: Sequence[TraceRecord], rows: Sequence[WildRow]
) -> StoredFigures:
    """Return the figures with new crawls; those of other traces stay."""
    names = {trace.name for trace in traces}
    other_traces = [trace for trace in stored.traces if trace.name not in names]
    other_rows = [row for row in stored.rows if row.trace not in names]
    return replace(stored, traces=(*other_traces, *traces), rows=(*other_rows, *rows))


def with_replays(stored: StoredFigures, results: Sequence[ReplayResult]) -> StoredFigures:
    """Return the figures with new replays in place of those of the same policies and budgets."""
    new = {(result.policy, result.budget) for result in results}
    others = [result for result in stored.replays if (result.policy, result.budget) not in new]
    return replace(stored, replays=(*others, *results))


def save_figures(figures: StoredFigures, path: Path = EXPECTED) -> None:
    """Write the figures, a line for each record."""
    tables = {
        "traces": [asdict(trace) for trace in figures.traces],
        "rows": [asdict(row) for row in figures.rows],
        "replays": [asdict(result) for result in figures.replays],
    }
    text = ",\n ".join(f'"{name}": {_lines(records)}' for name, records in tables.items())
    path.write_text(f"{{{text}}}\n", "utf-8")


def _lines(records: Sequence[dict[str, Any]]) -> str:
    lines = ",\n  ".join(json.dumps(record) for record in records)
    return f"[\n  {lines}\n ]" if lines else "[]"
