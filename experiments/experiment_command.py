"""The shared part of commands that run an experiment on the generated world or on real pages."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from freshet.core.errors import FreshetError

NO_DATA = "the generated world; give --data DIR for the real pages"


def run_command(name: str, run: Callable[[], None]) -> None:
    """Run an experiment; print an error as one line."""
    try:
        run()
    except FreshetError as error:
        sys.stderr.write(f"{name}: {error}\n")
        sys.exit(error.exit_code)


def make_shared_parser(name: str) -> argparse.ArgumentParser:
    """Return a parser with the options that experiments on pages share."""
    parser = make_base_parser(name, "folder that contains pages/; by default the world is used")
    parser.add_argument("--work", type=Path, help="folder that stores parsed pages for later runs")
    parser.add_argument("--seed", type=int, default=1, help="seed of the world; default 1")
    return parser


def make_base_parser(name: str, data_help: str) -> argparse.ArgumentParser:
    """Return a parser with the options that all experiments share."""
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{name}")
    parser.add_argument("--data", type=Path, help=data_help)
    parser.add_argument("--json", action="store_true", help="print one JSON document at the end")
    parser.add_argument("--keep", action="store_true", help="store the figures in expected.json")
    parser.add_argument(
        "--document", type=Path, help="Markdown file whose tables get the stored figures"
    )
    parser.add_argument(
        "--only-document", action="store_true", help="write the stored figures; run nothing"
    )
    return parser


def describe_data(folder: Path | None) -> str:
    """Return the folder of the pages, or that they are generated."""
    return str(folder or NO_DATA)


def print_progress(message: str) -> None:
    """Print a message to standard error."""
    sys.stderr.write(f"{message}\n")
    sys.stderr.flush()
