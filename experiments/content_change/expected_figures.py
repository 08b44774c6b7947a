"""The stored figures of the experiment: the pages with their digests, rows and comparisons."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from experiments.content_change.evaluation import ComparisonRow, ForecastRow
from experiments.content_change.experiment import ExperimentResult
from freshet.core.content.content_grid import ContentGrid
from freshet.engine.result_cache import batch_digest

EXPECTED = Path(__file__).with_name("expected.json")


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """The pages of the figures: their number, their hosts and steps, and the digest of them."""

    data: str
    pages: int
    hosts: int
    steps: int
    versions: int
    digest: str


@dataclass(frozen=True, slots=True)
class StoredFigures:
    """All stored figures."""

    sources: tuple[SourceRecord, ...] = ()
    rows: tuple[ForecastRow, ...] = ()
    comparisons: tuple[ComparisonRow, ...] = ()


def source_record(data: str, grid: ContentGrid) -> SourceRecord:
    """Return the record of the pages of a run."""
    columns = {"versions": grid.versions, "texts": grid.text_hashes, "times": grid.times}
    return SourceRecord(
        data,
        grid.page_count,
        len(set(grid.hosts.tolist())),
        grid.step_count,
        len(grid.terms),
        batch_digest("content change", columns),
    )


def with_result(
    stored: StoredFigures, record: SourceRecord, result: ExperimentResult
) -> StoredFigures:
    """Return the figures with a new result; rows of other pages, labels and methods stay."""
    new = {_row_key(row) for row in result.rows}
    new_tests = {_test_key(row) for row in result.comparisons}
    return StoredFigures(
        (*(source for source in stored.sources if source.data != record.data), record),
        (*(row for row in stored.rows if _row_key(row) not in new), *result.rows),
        (
            *(row for row in stored.comparisons if _test_key(row) not in new_tests),
            *result.comparisons,
        ),
    )


def read_figures(path: Path = EXPECTED) -> StoredFigures:
    """Return the stored figures."""
    stored = json.loads(path.read_text("utf-8"))
    return StoredFigures(
        tuple(SourceRecord(**record) for record in stored["sources"]),
        tuple(ForecastRow(**row) for row in stored["rows"]),
        tuple(ComparisonRow(**row) for row in stored["comparisons"]),
    )


def save_figures(figures: StoredFigures, path: Path = EXPECTED) -> None:
    """Write the figures, a line for each record."""
    tables = {
        "sources": [asdict(record) for record in figures.sources],
        "rows": [asdict(row) for row in figures.rows],
        "comparisons": [asdict(row) for row in figures.comparisons],
    }
    text = ",\n ".join(f'"{name}": {_lines(records)}' for name, records in tables.items())
    path.write_text(f"{{{text}}}\n", "utf-8")


def _lines(records: Sequence[dict[str, Any]]) -> str:
    lines = ",\n  ".join(json.dumps(record) for record in records)
    return f"[\n  {lines}\n ]" if lines else "[]"


def _row_key(row: ForecastRow) -> tuple[str, str, float, str, str]:
    return row.data, row.label, row.filter, row.method, row.selection


def _test_key(row: ComparisonRow) -> tuple[str | float, ...]:
    own = row.data, row.label, row.filter, row.method, row.selection
    return *own, row.against, row.against_selection
