"""Run the experiment: ``python -m experiments.schedule [--json]``."""

import argparse
import json
import sys
from dataclasses import asdict

from experiments.document_tables import markdown_lines
from experiments.experiment_command import make_base_parser, run_command
from experiments.schedule.sections import SECTIONS, run_section
from experiments.schedule.stored_figures import (
    fill_tables,
    read_figures,
    save_figures,
    table_lines,
    table_names,
)

DESCRIPTION = "the generated web"


def main() -> None:
    """Run the back-tests, print and store their figures; print an error as one line."""
    options = make_parser().parse_args()
    run_command("schedule", lambda: _run_all(options))


def _run_all(options: argparse.Namespace) -> None:
    names = () if options.only_document else options.section or SECTIONS
    rows = [row for name in names for row in run_section(SECTIONS[name])]
    if options.keep and rows:
        save_figures(rows)
    if options.document:
        text = options.document.read_text("utf-8")
        options.document.write_text(fill_tables(text, read_figures()), "utf-8")
    if options.json:
        document = {"name": "schedule", "data": DESCRIPTION, "rows": [asdict(row) for row in rows]}
        sys.stdout.write(f"{json.dumps(document)}\n")
        return
    sys.stdout.write(f"schedule: {DESCRIPTION}\n")
    for table_name in table_names() if rows else ():
        lines = markdown_lines(table_lines(table_name, rows))
        sys.stdout.write("".join(f"{line}\n" for line in (f"\n{table_name} %", *lines)))


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    parser = make_base_parser("schedule", "has no effect: all pages are generated")
    parser.add_argument(
        "--section", action="append", choices=tuple(SECTIONS), help="only this one; may be repeated"
    )
    return parser


if __name__ == "__main__":
    main()
