"""The tables of results, and how a new run replaces older rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from experiments.content_change.crawl import CrawlPoint, CrawlRow
from experiments.content_change.evaluation import ComparisonRow, ForecastRow
from experiments.content_change.page_breakdown import PageGainRow, PageGroupRow
from experiments.content_change.sweeps import SweepRow
from experiments.figure_tables import merge_tables, result_document

KEY_FIELDS = (
    "data", "label", "filter", "method", "selection", "against", "against_selection", "sweep",
    "value", "group",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """Rows of each table: figures of methods, tests between them, sweeps, crawls and pages."""

    rows: tuple[ForecastRow, ...] = ()
    comparisons: tuple[ComparisonRow, ...] = ()
    sweeps: tuple[SweepRow, ...] = ()
    crawls: tuple[CrawlRow, ...] = ()
    crawl_points: tuple[CrawlPoint, ...] = ()
    page_groups: tuple[PageGroupRow, ...] = ()
    page_gains: tuple[PageGainRow, ...] = ()

    def tables(self) -> dict[str, tuple[Any, ...]]:
        """Return the rows of each table by its name."""
        return {table.name: getattr(self, table.name) for table in fields(self)}


ROW_TYPES: Mapping[str, type[Any]] = {
    "rows": ForecastRow,
    "comparisons": ComparisonRow,
    "sweeps": SweepRow,
    "crawls": CrawlRow,
    "crawl_points": CrawlPoint,
    "page_groups": PageGroupRow,
    "page_gains": PageGainRow,
}


def merge_results(stored: ExperimentResult, new: ExperimentResult) -> ExperimentResult:
    """Return the stored rows with those of a new result; rows with the same names are replaced."""
    return ExperimentResult(**merge_tables(stored.tables(), new.tables(), _key))


def _key(_: str, row: object) -> tuple[Any, ...]:
    return tuple(getattr(row, name, None) for name in KEY_FIELDS)


def as_json(data: str, result: ExperimentResult) -> str:
    """Return the experiment's JSON document; rows other than those of methods name their table."""
    return result_document("content_change", data, result.tables())


def as_text(result: ExperimentResult) -> str:
    """Return a line for each row."""
    return "\n".join([*_forecast_lines(result), *_comparison_lines(result), *_other_lines(result)])


def _forecast_lines(result: ExperimentResult) -> Iterator[str]:
    if result.rows:
        yield (
            f"{'data':<10}{'label':<12}{'filter':>6}  {'method':<16}{'experts':<10}{'pages':>6}"
            f"{'windows':>9}{'accuracy':>10}{'balanced':>10}{'auc':>7}{'logloss':>9}"
        )
    for row in result.rows:
        yield (
            f"{row.data:<10}{row.label:<12}{row.filter:>6}  {row.method:<16}{row.selection:<10}"
            f"{row.pages:>6}{row.windows:>9}{row.accuracy:>10.4f}{row.balanced_accuracy:>10.4f}"
            f"{row.auc:>7.3f}{row.logloss:>9.3f}"
        )


def _comparison_lines(result: ExperimentResult) -> Iterator[str]:
    for row in result.comparisons:
        yield (
            f"{row.data}, {row.label}, filter {row.filter}: {row.method} {row.selection} is"
            f" {100 * row.difference:+.2f} points against {row.against} {row.against_selection}"
            f" (p = {row.p:.4f}, {row.hosts} hosts)"
        )


def _other_lines(result: ExperimentResult) -> Iterator[str]:
    for sweep in result.sweeps:
        yield (
            f"{sweep.data}, {sweep.sweep} {sweep.value}: {sweep.method} {sweep.selection} has"
            f" accuracy {sweep.accuracy:.4f}, auc {sweep.auc:.3f}"
        )
    for crawl in result.crawls:
        yield (
            f"{crawl.data}, crawl by {crawl.method}: freshness {crawl.freshness:.4f}"
            f" (spread {crawl.spread:.4f}), late {crawl.late_freshness:.4f},"
            f" visits with a change {crawl.found_share:.4f}"
        )
    for group in result.page_groups:
        yield (
            f"{group.data}, {group.method} {group.selection}, {group.group}: {group.pages} pages,"
            f" {100 * group.gain:+.2f} points against 2D (p = {group.p:.3f}),"
            f" {100 * group.gain_over_random:+.2f} against random (p = {group.p_over_random:.3f}),"
            f" repeated {group.repeat:+.2f}"
        )
