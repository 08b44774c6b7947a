"""The tables of results, stored in ``expected.json``, with the digest of the threads."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from experiments.threads.experiment import PolicySummary, ReportRow, ThreadRow
from experiments.threads.recorded_threads import RecordedThread

EXPECTED = Path(__file__).with_name("expected.json")
ROW_TYPES: dict[str, type[Any]] = {
    "rows": ThreadRow,
    "summaries": PolicySummary,
    "report": ReportRow,
}
DIGITS = 4


@dataclass(frozen=True, slots=True)
class ThreadFigures:
    """All figures of a run, or of several runs of parts."""

    data: str = ""
    digest: str = ""
    rows: tuple[ThreadRow, ...] = ()
    summaries: tuple[PolicySummary, ...] = ()
    report: tuple[ReportRow, ...] = ()


def threads_digest(threads: Sequence[RecordedThread]) -> str:
    """Return a digest of the times of all threads."""
    digest = hashlib.sha256()
    for thread in threads:
        digest.update(thread.posts.times.tobytes())
    return digest.hexdigest()[:16]


def merge_figures(stored: ThreadFigures, new: ThreadFigures) -> ThreadFigures:
    """Return stored figures with those of a new run: policies of the new run replace old ones."""
    policies = {(row.policy, row.kind) for row in new.rows}
    kept_rows = [row for row in stored.rows if (row.policy, row.kind) not in policies]
    kept = [line for line in stored.summaries if (line.policy, line.kind) not in policies]
    return ThreadFigures(
        new.data,
        new.digest,
        (*kept_rows, *new.rows),
        (*kept, *new.summaries),
        new.report or stored.report,
    )


def read_figures(path: Path = EXPECTED) -> ThreadFigures:
    """Return the stored figures; none if nothing is stored."""
    if not path.is_file():
        return ThreadFigures()
    document = json.loads(path.read_text("utf-8"))
    tables = {
        name: tuple(row_type(**row) for row in document[name])
        for name, row_type in ROW_TYPES.items()
    }
    return ThreadFigures(document["data"], document["digest"], **tables)


def save_figures(figures: ThreadFigures, path: Path = EXPECTED) -> None:
    """Write the figures, one row a line."""
    parts = [f'"data": {json.dumps(figures.data)}', f'"digest": {json.dumps(figures.digest)}']
    for name in ROW_TYPES:
        rows = ",\n  ".join(json.dumps(rounded(row)) for row in getattr(figures, name))
        parts.append(f'"{name}": [\n  {rows}\n]')
    path.write_text("{" + ",\n".join(parts) + "}\n", "utf-8")


def rounded(row: Any) -> dict[str, Any]:
    """Return a row with its numbers rounded."""
    return {
        name: float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
        for name, value in asdict(row).items()
    }
