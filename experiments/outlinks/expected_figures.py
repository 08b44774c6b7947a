"""The stored figures of the experiment: the pages with their digests, and the tables of results."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from experiments.outlinks.result_tables import ROW_TYPES, ExperimentResult, merge_results
from freshet.core.content.page_steps import PageSteps
from freshet.engine.result_cache import batch_digest

EXPECTED = Path(__file__).with_name("expected.json")


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """The pages of the figures: their number, their sites and weeks, and the digest of them."""

    data: str
    pages: int
    sites: int
    weeks: int
    digest: str


@dataclass(frozen=True, slots=True)
class StoredFigures:
    """All stored figures."""

    sources: tuple[SourceRecord, ...] = ()
    result: ExperimentResult = field(default_factory=ExperimentResult)


def source_record(data: str, steps: PageSteps) -> SourceRecord:
    """Return the record of the pages of a run."""
    columns = {"internal": steps.new_links.internal, "external": steps.new_links.external}
    return SourceRecord(
        data,
        steps.page_count,
        len(set(steps.sites.tolist())),
        steps.step_count,
        batch_digest("outlinks", columns),
    )


def with_result(
    stored: StoredFigures, record: SourceRecord, result: ExperimentResult
) -> StoredFigures:
    """Return the figures with a new result; rows of other pages, models and splits stay."""
    return StoredFigures(
        (*(source for source in stored.sources if source.data != record.data), record),
        merge_results(stored.result, result),
    )


def read_figures(path: Path = EXPECTED) -> StoredFigures:
    """Return the stored figures; none if nothing is stored."""
    if not path.is_file():
        return StoredFigures()
    stored = json.loads(path.read_text("utf-8"))
    tables = {
        name: tuple(row_type(**row) for row in stored.get(name, ()))
        for name, row_type in ROW_TYPES.items()
    }
    sources = tuple(SourceRecord(**record) for record in stored["sources"])
    return StoredFigures(sources, ExperimentResult(**tables))


def save_figures(figures: StoredFigures, path: Path = EXPECTED) -> None:
    """Write the figures, a line for each record."""
    tables = {"sources": figures.sources, **figures.result.tables()}
    text = ",\n ".join(
        f'"{name}": {_lines([asdict(record) for record in records])}'
        for name, records in tables.items()
    )
    path.write_text(f"{{{text}}}\n", "utf-8")


def _lines(records: Sequence[dict[str, Any]]) -> str:
    lines = ",\n  ".join(json.dumps(record) for record in records)
    return f"[\n  {lines}\n ]" if lines else "[]"
