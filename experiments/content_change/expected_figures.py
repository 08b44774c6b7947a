"""The stored figures: pages with their digests, the paper's values, and the tables of results."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from experiments.content_change.required_figures import PaperValue
from experiments.content_change.result_tables import ROW_TYPES, ExperimentResult, merge_results
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
    """All stored figures, and the values of the paper beside them."""

    sources: tuple[SourceRecord, ...] = ()
    result: ExperimentResult = field(default_factory=ExperimentResult)
    paper: tuple[PaperValue, ...] = ()


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
    return replace(
        stored,
        sources=(*(source for source in stored.sources if source.data != record.data), record),
        result=merge_results(stored.result, result),
    )


def read_figures(path: Path = EXPECTED) -> StoredFigures:
    """Return the stored figures."""
    stored = json.loads(path.read_text("utf-8"))
    tables = {
        name: tuple(row_type(**row) for row in stored.get(name, ()))
        for name, row_type in ROW_TYPES.items()
    }
    sources = tuple(SourceRecord(**record) for record in stored["sources"])
    paper = tuple(PaperValue(**value) for value in stored.get("paper", ()))
    return StoredFigures(sources, ExperimentResult(**tables), paper)


def save_figures(figures: StoredFigures, path: Path = EXPECTED) -> None:
    """Write the figures, a line for each record."""
    tables = {
        "sources": figures.sources,
        "paper": figures.paper,
        **figures.result.tables(),
    }
    text = ",\n ".join(
        f'"{name}": {_lines([asdict(record) for record in records])}'
        for name, records in tables.items()
    )
    path.write_text(f"{{{text}}}\n", "utf-8")


def _lines(records: Sequence[dict[str, Any]]) -> str:
    lines = ",\n  ".join(json.dumps(record) for record in records)
    return f"[\n  {lines}\n ]" if lines else "[]"
