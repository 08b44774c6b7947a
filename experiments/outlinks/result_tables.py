"""The tables of results, and how a new run replaces older rows."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from experiments.figure_tables import merge_tables, result_document
from experiments.outlinks.crawls import CrawlRow
from experiments.outlinks.evaluation import OutlinkRow
from experiments.outlinks.summaries import FigurePoint, WeekRow

KEYS: Mapping[str, tuple[str, ...]] = {
    "rows": ("data", "model", "features", "target", "links", "split"),
    "weeks": ("data",),
    "points": ("data", "figure", "links"),
    "crawls": ("data", "links", "policy"),
}
ROW_TYPES: Mapping[str, type[Any]] = {
    "rows": OutlinkRow,
    "weeks": WeekRow,
    "points": FigurePoint,
    "crawls": CrawlRow,
}


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """Figures of models, weeks of new links (Table 2), points of figures, and crawls."""

    rows: tuple[OutlinkRow, ...] = ()
    weeks: tuple[WeekRow, ...] = ()
    points: tuple[FigurePoint, ...] = ()
    crawls: tuple[CrawlRow, ...] = ()

    def tables(self) -> dict[str, tuple[Any, ...]]:
        """Return the rows of each table by its name."""
        return {table.name: getattr(self, table.name) for table in fields(self)}


def merge_results(stored: ExperimentResult, new: ExperimentResult) -> ExperimentResult:
    """Return the stored rows with those of a new result; rows with the same keys are replaced."""
    return ExperimentResult(**merge_tables(stored.tables(), new.tables(), _key))


def _key(table: str, row: object) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in KEYS[table])


def as_json(data: str, result: ExperimentResult) -> str:
    """Return the experiment's JSON document; rows other than those of models name their table."""
    return result_document("outlinks", data, result.tables())


def as_text(result: ExperimentResult) -> str:
    """Return a line for each row but the points of figures."""
    return "\n".join(
        " ".join(f"{name}={value}" for name, value in asdict(row).items() if value is not None)
        for table in (result.rows, result.weeks, result.crawls)
        for row in table
    )
