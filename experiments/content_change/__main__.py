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
from experiments.experiment_command import (
    describe_data,
    make_shared_parser,
    print_progress,
    run_command,
)
from freshet.core.content.content_grid import ContentGrid

WORLD, PAGES = "world", "pages"


def main() -> None:
    """Run the experiment and print its rows; print an error as one line."""
    options = make_parser().parse_args()
    run_command("content_change", lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    if options.only_document:
        return _fill_document(options.document)
    source, grid = open_source(options)
    result = run_experiment(source, grid, settings_of(options), print_progress)
    if options.keep:
        record = source_record(source, grid)
        save_figures(with_result(read_figures(), record, result))
    if options.document:
        _fill_document(options.document)
    description = describe_data(options.data)
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
    parser = make_shared_parser("content_change")
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
    return parser


def _fill_document(path: Path) -> None:
    figures = read_figures()
    path.write_text(fill_tables(path.read_text("utf-8"), figures), "utf-8")
    draw_charts(path.with_suffix(""), figures.result)


if __name__ == "__main__":
    main()
