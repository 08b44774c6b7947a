"""The stored figures: pages with their digests, the paper's values, and the tables of results."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from experiments.content_change.required_figures import PaperValue
from experiments.content_change.result_tables import ROW_TYPES, ExperimentResult, merge_results
from experiments.figure_tables import read_tables, write_tables
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
    tables = read_tables(path, {"sources": SourceRecord, "paper": PaperValue, **ROW_TYPES})
    sources, paper = tables.pop("sources"), tables.pop("paper")
    return StoredFigures(sources, ExperimentResult(**tables), paper)


def save_figures(figures: StoredFigures, path: Path = EXPECTED) -> None:
    """Write the figures, a line for each record."""
    tables = {
        "sources": figures.sources,
        "paper": figures.paper,
        **figures.result.tables(),
    }
    write_tables(path, tables)
