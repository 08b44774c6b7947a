"""The stored figures of the experiment: the pages with their digests, and the tables of results."""

from dataclasses import dataclass, field
from pathlib import Path

from experiments.figure_tables import read_tables, write_tables
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
    tables = read_tables(path, {"sources": SourceRecord, **ROW_TYPES})
    return StoredFigures(tables.pop("sources"), ExperimentResult(**tables))


def save_figures(figures: StoredFigures, path: Path = EXPECTED) -> None:
    """Write the figures, a line for each record."""
    tables = {"sources": figures.sources, **figures.result.tables()}
    write_tables(path, tables)
