"""Run the experiment: ``python -m experiments.content_change [--data DIR] [--json]``."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from experiments.content_change.charts import draw_charts
from experiments.content_change.document import fill_tables
from experiments.content_change.expected_figures import (
    read_figures,
    save_figures,
    source_record,
    with_result,
)
from experiments.content_change.experiment import (
    LABELS,
    METHODS,
    OTHER_LABELS,
    PARTS,
    PLANTED,
    ExperimentSettings,
    run_experiment,
)
from experiments.content_change.generated_world import GeneratedWorld, generate_world
from experiments.content_change.protocol import FILTERS, SELECTIONS
from experiments.content_change.recorded_pages import read_grid
from experiments.content_change.result_tables import as_json, as_text
from freshet.core.content.content_grid import ContentGrid
from freshet.core.errors import FreshetError

WORLD, PAGES = "world", "pages"
NO_DATA = "the generated world; give --data DIR for the real pages"


def main() -> None:
    """Run the experiment and print its rows; print an error as one line."""
    options = make_parser().parse_args()
    try:
        _run(options)
    except FreshetError as error:
        sys.stderr.write(f"content_change: {error}\n")
        sys.exit(error.exit_code)


def _run(options: argparse.Namespace) -> None:
    if options.only_document:
        return _fill_document(options.document)
    source, grid = open_source(options)
    result = run_experiment(source, grid, settings_of(options), _report)
    if options.keep:
        record = source_record(source, grid)
        save_figures(with_result(read_figures(), record, result))
    if options.document:
        _fill_document(options.document)
    description = str(options.data or NO_DATA)
    if options.json:
        sys.stdout.write(f"{as_json(description, result)}\n")
    else:
        sys.stdout.write(f"content_change: {description}\n{as_text(result)}\n")
    return None


def open_source(options: argparse.Namespace) -> tuple[str, ContentGrid]:
    """Return the name and the content of the pages: the world, or those of the data folder."""
    if options.data is None:
        return WORLD, generate_world(GeneratedWorld(seed=options.seed)).grid
    return PAGES, read_grid(options.data, options.work)


def settings_of(options: argparse.Namespace) -> ExperimentSettings:
    """Return the settings that the options ask for; the world has one kind of change only."""
    default_labels = LABELS if options.data else LABELS[:1]
    default_parts = (METHODS,) if options.data else (METHODS, PLANTED)
    settings = ExperimentSettings(
        parts=tuple(options.part or default_parts),
        labels=tuple(options.label or default_labels),
        filters=FILTERS if options.data else FILTERS[:1],
    )
    if options.quick:
        settings = replace(settings, selections=(), with_unions=False)
    if options.selection:
        settings = replace(settings, selections=tuple(options.selection))
    return settings


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    parser = argparse.ArgumentParser(prog="python -m experiments.content_change")
    parser.add_argument(
        "--data", type=Path, help="folder that contains pages/; by default the world is used"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document at the end")
    parser.add_argument("--work", type=Path, help="folder that stores parsed pages for later runs")
    parser.add_argument(
        "--label",
        action="append",
        choices=(*LABELS, *OTHER_LABELS),
        help=f"use only this label; may be repeated; default: {', '.join(LABELS)}",
    )
    parser.add_argument(
        "--selection",
        action="append",
        choices=tuple(SELECTIONS),
        help="choose experts only in this way; may be repeated",
    )
    parser.add_argument(
        "--part",
        action="append",
        choices=PARTS,
        help="run this part; may be repeated; default: methods, and planted for the world",
    )
    parser.add_argument(
        "--quick", action="store_true", help="only methods without related pages (1D, 2D, pooled)"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the world; default 1")
    parser.add_argument("--keep", action="store_true", help="store the figures in expected.json")
    parser.add_argument(
        "--document", type=Path, help="Markdown file whose tables get the stored figures"
    )
    parser.add_argument(
        "--only-document", action="store_true", help="write the stored figures; run nothing"
    )
    return parser


def _fill_document(path: Path) -> None:
    figures = read_figures()
    path.write_text(fill_tables(path.read_text("utf-8"), figures), "utf-8")
    draw_charts(path.with_suffix(""), figures.result)


def _report(message: str) -> None:
    sys.stderr.write(f"{message}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
