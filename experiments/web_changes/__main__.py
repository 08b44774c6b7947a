"""Run the experiment: ``python -m experiments.web_changes [--data DIR] [--json]``."""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from experiments.web_changes.charts import draw_charts
from experiments.web_changes.document import expected_rows, fill_tables
from experiments.web_changes.evaluation import (
    EXPECTED,
    FigureRow,
    Figures,
    as_json,
    as_text,
    digest,
    expected_json,
    figure_rows,
    figures_by_part,
    page_tables,
    paper_figures,
    sub_hour_figures,
    whole_span_figures,
)
from experiments.web_changes.experiment import (
    MeasuredPages,
    measure_generated_pages,
    measure_real_pages,
)
from experiments.web_changes.page_reports import PageReport, report_pages, report_tables
from freshet.core.progress import ProgressCallback
from freshet.engine.local import LocalEngine
from freshet.measure.statistics.burst_table import burst_table

PAGES, QUICK_PAGES = 4_000, 200
NO_DATA = "the generated world only; give --data DIR for the real pages"


@dataclass(frozen=True, slots=True)
class RunResult:
    """Results of a run: the table, the measured pages, and a few full reports."""

    rows: list[FigureRow]
    measured: dict[str, MeasuredPages]
    portraits: list[PageReport]


def main() -> None:
    """Measure, print and draw."""
    options = _options()
    description = str(options.data) if options.data else NO_DATA
    result = run(options)
    if options.keep and options.data:
        data_digest = digest(options.data / "pages")
        text = expected_json(result.rows, seed=options.seed, pages=options.pages, data=data_digest)
        EXPECTED.write_text(text, "utf-8")
    if options.document:
        text = options.document.read_text("utf-8")
        options.document.write_text(fill_tables(text, expected_rows()), "utf-8")
    if options.pictures:
        draw_charts(options.pictures, result.rows, result.measured, result.portraits)
    if not options.json:
        sys.stdout.write(f"web_changes: {description}\n")
    text = as_json(description, result.rows) if options.json else as_text(result.rows)
    sys.stdout.write(f"{text}\n")


def run(options: argparse.Namespace) -> RunResult:
    """Measure the generated world and, if a folder is given, the real pages."""
    engine = LocalEngine(options.processes)
    pages = QUICK_PAGES if options.quick else options.pages
    world = measure_generated_pages(pages, options.seed, engine, _progress("world"))
    measured = {"world": world}
    world_figures = page_tables(world) | sub_hour_figures(burst_table(world.pairs), world.figures)
    real_figures: Figures = {}
    reports: list[PageReport] = []
    if options.data:
        folder = options.data / "pages"
        real_pages = measure_real_pages(folder, options.seed, engine, _progress("real"))
        measured["real"] = real_pages.daily
        reports = report_pages(folder, options.seed, real_pages.language)
        real_figures = (
            page_tables(real_pages.daily)
            | figures_by_part(real_pages)
            | whole_span_figures(folder)
            | report_tables(reports)
        )
    return RunResult(figure_rows(paper_figures(), world_figures, real_figures), measured, reports)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.web_changes", description=__doc__)
    parser.add_argument(
        "--data", type=Path, help="folder that contains pages/; by default only the world is used"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document at the end")
    parser.add_argument("--quick", action="store_true", help=f"use a world of {QUICK_PAGES} pages")
    parser.add_argument("--pages", type=int, default=PAGES, help="number of pages of the world")
    parser.add_argument("--seed", type=int, default=1, help="seed of the world and the windows")
    parser.add_argument(
        "--processes", type=int, default=0, help="number of processes; 0: one for each core"
    )
    parser.add_argument("--keep", action="store_true", help="store the figures in expected.json")
    parser.add_argument(
        "--document", type=Path, help="Markdown file whose tables get the stored figures"
    )
    parser.add_argument("--pictures", type=Path, help="folder for the charts")
    return parser.parse_args()


def _progress(name: str) -> ProgressCallback:
    """Return a function that prints progress on standard error."""

    def tell(done: int, total: int) -> None:
        sys.stderr.write(f"\r{name}: batch {done} of {total}" + ("\n" if done == total else ""))
        sys.stderr.flush()

    return tell


if __name__ == "__main__":
    main()
