"""Run the experiment: ``python -m experiments.schedule [--data DIR] [--json]``."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from experiments.document_tables import markdown_lines
from experiments.schedule.sections import SECTIONS, PolicyFigures, run_section
from experiments.schedule.stored_figures import (
    fill_tables,
    read_figures,
    save_figures,
    table_lines,
    table_names,
)
from freshet.core.errors import FreshetError

NO_DATA = "the generated web only; give --data DIR for the real pages"


def main() -> None:
    """Run the back-tests, print and store their figures; print an error as one line."""
    options = make_parser().parse_args()
    try:
        rows = run_sections(options)
    except FreshetError as error:
        sys.stderr.write(f"schedule: {error}\n")
        sys.exit(error.exit_code)
    if options.keep:
        save_figures(rows)
    if options.document:
        text = options.document.read_text("utf-8")
        options.document.write_text(fill_tables(text, read_figures()), "utf-8")
    description = str(options.data or NO_DATA)
    if options.json:
        document = {"name": "schedule", "data": description, "rows": [asdict(row) for row in rows]}
        sys.stdout.write(f"{json.dumps(document)}\n")
        return
    sys.stdout.write(f"schedule: {description}\n")
    for name in table_names():
        lines = markdown_lines(table_lines(name, rows))
        sys.stdout.write("".join(f"{line}\n" for line in (f"\n{name} %", *lines)))


def run_sections(options: argparse.Namespace) -> list[PolicyFigures]:
    """Return the figures of the requested sections."""
    names = options.section or [
        name for name, section in SECTIONS.items() if options.data or not section.data
    ]
    return [row for name in names for row in run_section(SECTIONS[name], options.data)]


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    parser = argparse.ArgumentParser(prog="python -m experiments.schedule", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder that contains pages/")
    parser.add_argument("--json", action="store_true", help="print one JSON document at the end")
    parser.add_argument(
        "--section", action="append", choices=tuple(SECTIONS), help="only this one; may be repeated"
    )
    parser.add_argument("--keep", action="store_true", help="store the figures in expected.json")
    parser.add_argument(
        "--document", type=Path, help="Markdown file whose tables get the stored figures"
    )
    return parser


if __name__ == "__main__":
    main()
