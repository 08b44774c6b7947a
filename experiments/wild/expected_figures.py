"""The stored figures of the experiment: traces with their digests, crawls, and replays."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from experiments.wild.data import RawTraceSource, open_source
from experiments.wild.evaluation import DifferenceRow, WildRow
from experiments.wild.replay import ReplayResult
from experiments.wild.safety_net import SafetyNetRow
from freshet.backtest.page_bootstrap import PageBootstrap

EXPECTED = Path(__file__).with_name("expected.json")


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """A trace of the figures: its first day, its size, its changes and its digest.

    ``changes`` are changed days of pages, ``site_wide_changes`` those of them that fall on one of
    the ``site_wide_days``. ``resampled`` says what the intervals resample.
    """

    name: str
    start: str
    days: int
    pages: int
    changes: int
    site_wide_days: int
    site_wide_changes: int
    resampled: str
    digest: str


@dataclass(frozen=True, slots=True)
class StoredFigures:
    """All stored figures."""

    traces: tuple[TraceRecord, ...] = ()
    rows: tuple[WildRow, ...] = ()
    differences: tuple[DifferenceRow, ...] = ()
    replays: tuple[ReplayResult, ...] = ()
    safety_net: tuple[SafetyNetRow, ...] = ()


def trace_record(source: RawTraceSource) -> TraceRecord:
    """Return the record of a trace."""
    trace = open_source(source)
    site_wide_days = trace.site_wide_days.days if trace.site_wide_days else ()
    return TraceRecord(
        source.name,
        source.start.date().isoformat(),
        trace.cycles,
        len(trace.pages),
        int(trace.change_counts().sum()),
        len(site_wide_days),
        sum(day.changed for day in site_wide_days),
        PageBootstrap(trace.pages.sites).unit,
        trace.digest,
    )


def read_figures(path: Path = EXPECTED) -> StoredFigures:
    """Return the stored figures."""
    stored = json.loads(path.read_text("utf-8"))
    return StoredFigures(
        tuple(TraceRecord(**record) for record in stored["traces"]),
        tuple(WildRow(**row) for row in stored["rows"]),
        tuple(DifferenceRow(**row) for row in stored["differences"]),
        tuple(ReplayResult(**result) for result in stored["replays"]),
        tuple(map(_safety_net_row, stored.get("safety_net", ()))),
    )


def _safety_net_row(record: Mapping[str, Any]) -> SafetyNetRow:
    """Return a stored row, whose lists become tuples."""
    row = SafetyNetRow(**record)
    return replace(
        row,
        months=tuple(row.months),
        month_errors=tuple(row.month_errors),
        month_spreads=tuple(map(tuple, row.month_spreads)),
    )


def with_crawls(stored: StoredFigures, new: StoredFigures) -> StoredFigures:
    """Return the figures with new crawls; those of other traces stay."""
    names = {trace.name for trace in new.traces}
    other_traces = [trace for trace in stored.traces if trace.name not in names]
    other_rows = [row for row in stored.rows if row.trace not in names]
    other_differences = [row for row in stored.differences if row.trace not in names]
    return replace(
        stored,
        traces=(*other_traces, *new.traces),
        rows=(*other_rows, *new.rows),
        differences=(*other_differences, *new.differences),
    )


def with_replays(stored: StoredFigures, results: Sequence[ReplayResult]) -> StoredFigures:
    """Return the figures with new replays in place of those of the same policies and budgets."""
    new = {(result.policy, result.budget) for result in results}
    others = [result for result in stored.replays if (result.policy, result.budget) not in new]
    return replace(stored, replays=(*others, *results))


def with_safety_net(stored: StoredFigures, rows: Sequence[SafetyNetRow]) -> StoredFigures:
    """Return the figures with new rows of the safety net in place of those of the same settings."""
    new = {row.setting for row in rows}
    others = [row for row in stored.safety_net if row.setting not in new]
    return replace(stored, safety_net=(*others, *rows))


def save_figures(figures: StoredFigures, path: Path = EXPECTED) -> None:
    """Write the figures, a line for each record."""
    tables = {
        "traces": [asdict(trace) for trace in figures.traces],
        "rows": [asdict(row) for row in figures.rows],
        "differences": [asdict(row) for row in figures.differences],
        "replays": [asdict(result) for result in figures.replays],
        "safety_net": [asdict(row) for row in figures.safety_net],
    }
    text = ",\n ".join(f'"{name}": {_lines(records)}' for name, records in tables.items())
    path.write_text(f"{{{text}}}\n", "utf-8")


def _lines(records: Sequence[dict[str, Any]]) -> str:
    lines = ",\n  ".join(json.dumps(record) for record in records)
    return f"[\n  {lines}\n ]" if lines else "[]"
