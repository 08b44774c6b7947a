"""The tables of results, stored in ``expected.json``, with the digest of the threads."""

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from experiments.figure_tables import FigureTables, merge_tables, read_tables, write_tables
from experiments.threads.experiment import PolicySummary, ReportRow, ThreadRow
from experiments.threads.forecast_checks import CoverageRow
from experiments.threads.interval_errors import ErrorRow
from experiments.threads.recorded_threads import RecordedThread

EXPECTED = Path(__file__).with_name("expected.json")
DIGITS = 4


@dataclass(frozen=True, slots=True)
class ThreadSource:
    """The threads of the figures: their number, and the digest of the times of their posts."""

    data: str
    threads: int
    digest: str


ROW_TYPES: dict[str, type[Any]] = {
    "sources": ThreadSource,
    "rows": ThreadRow,
    "summaries": PolicySummary,
    "report": ReportRow,
    "errors": ErrorRow,
    "coverage": CoverageRow,
}
# The columns by which a row of a new run replaces an older one.
KEY_COLUMNS: dict[str, tuple[str, ...]] = {
    "sources": ("data",),
    "rows": ("policy", "kind", "mode", "visits_per_post"),
    "summaries": ("policy", "kind"),
    "report": ("features", "kind"),
    "errors": ("model", "kind"),
    "coverage": ("model", "threads", "moments"),
}


@dataclass(frozen=True, slots=True)
class ThreadFigures:
    """All figures of a run, or of several runs of parts."""

    sources: tuple[ThreadSource, ...] = ()
    rows: tuple[ThreadRow, ...] = ()
    summaries: tuple[PolicySummary, ...] = ()
    report: tuple[ReportRow, ...] = ()
    errors: tuple[ErrorRow, ...] = ()
    coverage: tuple[CoverageRow, ...] = ()

    @property
    def tables(self) -> FigureTables:
        """All tables by name, their numbers rounded."""
        return {name: tuple(map(rounded, getattr(self, name))) for name in ROW_TYPES}


def thread_source(data: str, threads: Sequence[RecordedThread]) -> ThreadSource:
    """Return the record of the threads of a run."""
    digest = hashlib.sha256()
    for thread in threads:
        digest.update(thread.posts.times.tobytes())
    return ThreadSource(data, len(threads), digest.hexdigest()[:16])


def merge_figures(stored: ThreadFigures, new: ThreadFigures) -> ThreadFigures:
    """Return stored figures with those of a new run, which replace older ones."""

    def key_of(table: str, row: Any) -> Hashable:
        return tuple(getattr(row, column) for column in KEY_COLUMNS[table])

    return ThreadFigures(**merge_tables(stored.tables, new.tables, key_of))


def read_figures(path: Path = EXPECTED) -> ThreadFigures:
    """Return the stored figures; none if nothing is stored."""
    return ThreadFigures(**read_tables(path, ROW_TYPES)) if path.is_file() else ThreadFigures()


def save_figures(figures: ThreadFigures, path: Path = EXPECTED) -> None:
    """Write the figures, one row a line."""
    write_tables(path, figures.tables)


def rounded(row: Any) -> Any:
    """Return a row with its numbers rounded."""
    numbers = {
        item.name: float(f"{value:.{DIGITS}g}")
        for item in fields(row)
        if isinstance(value := getattr(row, item.name), float)
    }
    return replace(row, **numbers)
