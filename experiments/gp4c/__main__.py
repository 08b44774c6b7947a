"""Run the experiment: ``python -m experiments.gp4c [--data DIR] [--json]``."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from experiments.document_tables import markdown_lines
from experiments.experiment_command import make_base_parser, run_command
from experiments.gp4c import expected_figures, other_fitness, planting
from experiments.gp4c.data import (
    PAGES,
    REAL_TRACES,
    SEED,
    TRACES,
    TraceSource,
    open_source,
    sources,
)
from experiments.gp4c.document import as_text, fill_tables
from experiments.gp4c.evaluation import ResultRow, result_rows
from experiments.gp4c.experiment import TraceResults, run_crawls, run_searches
from experiments.gp4c.searches import PAPER_SIZE, VERSION, SearchSize, default_size
from freshet.backtest.folds import FOLDS
from freshet.core.extras import OptionalPackage
from freshet.core.progress import ProgressCallback
from freshet.engine.local import LocalEngine
from freshet.engine.result_cache import ResultCache

# Searches run on machines without the packages of charts.
charts = OptionalPackage("experiments.gp4c.charts", extra="charts")

NO_DATA = "the generated world only; give --data DIR for the real pages"
MIN_PAGES = 100
PARTS = {"other_fitness": other_fitness, "planting": planting}


def main() -> None:
    """Run searches and tests, print and draw; print an error as one line."""
    parser = make_parser()
    options = parser.parse_args()
    run_command("gp4c", lambda: _run(parser, options))


def _run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    if options.only_document:
        _write_document(options.document)
        return
    if options.part:
        _run_part(options)
        return
    problem = option_error(options)
    if problem:
        parser.error(problem)
    _run_all(options)


def _run_part(options: argparse.Namespace) -> None:
    """Run a part that has its own table, and print it."""
    part = PARTS[options.part]
    rows = part.run_rows(options.data)
    if options.keep:
        part.save_rows(rows)
    _write_document(options.document)
    if options.json:
        plain = [part.as_json(row) for row in rows]
        document = {"name": options.part, "data": str(options.data or NO_DATA), "rows": plain}
        sys.stdout.write(f"{json.dumps(document, ensure_ascii=False)}\n")
        return
    lines = markdown_lines(part.table_lines(rows))
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def _write_document(path: Path | None) -> None:
    """Write the stored figures into the tables of a document."""
    if path:
        text = fill_tables(path.read_text("utf-8"), expected_figures.read_figures())
        path.write_text(text, "utf-8")


def _run_all(options: argparse.Namespace) -> None:
    all_sources = sources_of(options)
    sizes = (f"{source.name}: {size_of(source, options)}" for source in all_sources)
    description = "; ".join((str(options.data or NO_DATA), *sizes))
    results = [run_source(source, options) for source in all_sources]
    if options.only_searches:
        sys.stdout.write(f"gp4c: {description}; the searches are in {options.work}\n")
        return
    table = result_rows(results)
    if options.keep:
        expected_figures.save_figures(results, table)
    _write_document(options.document)
    if options.pictures:
        charts.draw_charts(options.pictures, table)
    if not options.json:
        sys.stdout.write(f"gp4c: {description}\n")
    sys.stdout.write(f"{as_json(description, table) if options.json else as_text(table)}\n")


def run_source(source: TraceSource, options: argparse.Namespace) -> TraceResults:
    """Search on a trace, and test the formulas."""
    engine, size = LocalEngine(options.processes), size_of(source, options)
    trace = open_source(source)
    cache = ResultCache(options.work, VERSION) if options.work else None
    formulas = run_searches(
        source, size, engine, cache, _progress(f"{source.name}: search"), options.device
    )
    if options.only_searches:
        return TraceResults(source, size, len(trace.pages), trace.digest, formulas, ())
    results = run_crawls(source, formulas, engine, _progress(f"{source.name}: test of fold"))
    return TraceResults(
        source, size, len(trace.pages), trace.digest, formulas, results, options.device
    )


def as_json(description: str, table: Sequence[ResultRow]) -> str:
    """Return the experiment's JSON document."""
    rows = [asdict(row) for row in table]
    return json.dumps({"name": "gp4c", "data": description, "rows": rows}, ensure_ascii=False)


def size_of(source: TraceSource, options: argparse.Namespace) -> SearchSize:
    """Return the size of the search: the given options, else the default or the paper's size."""
    default = PAPER_SIZE if options.full else default_size(source)
    given_options = {name: getattr(options, name) for name in SearchSize.__dataclass_fields__}
    return SearchSize(
        **asdict(default) | {name: value for name, value in given_options.items() if value}
    )


def option_error(options: argparse.Namespace) -> str | None:
    """Return why the options cannot be combined, None if they can."""
    real = [name for name in options.trace or () if name in REAL_TRACES]
    if real and not options.data:
        return f"--trace {real[0]} needs --data DIR, the folder in which pages/ lies"
    if options.only_searches and not options.work:
        return "--only-searches needs --work FOLDER, in which the searches are stored"
    if options.keep and any(is_small(source, options) for source in sources_of(options)):
        return "--keep keeps no figures of less than the usual search, or of another world"
    return None


def is_small(source: TraceSource, options: argparse.Namespace) -> bool:
    """Return whether the search on a source is smaller than the default, or uses another world."""
    if source.is_world and (source.pages < PAGES or source.seed != SEED):
        return True
    size, default = asdict(size_of(source, options)), asdict(default_size(source))
    return any(size[name] < default[name] for name in default)


def sources_of(options: argparse.Namespace) -> list[TraceSource]:
    """Return the requested traces."""
    all_sources = sources(options.data, options.pages, seed=options.seed)
    return [source for source in all_sources if not options.trace or source.name in options.trace]


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    parser = make_base_parser(
        "gp4c", "folder that contains pages/; by default only the world is used"
    )
    positive, at_least_two = number(1), number(2)
    parser.add_argument(
        "--part", choices=tuple(PARTS), help="run a small part of its own instead of the tables"
    )
    parser.add_argument(
        "--full", action="store_true", help=f"use the paper's search size: {PAPER_SIZE}"
    )
    parser.add_argument(
        "--population", type=at_least_two, help="number of formulas in a generation"
    )
    parser.add_argument("--generations", type=positive, help="number of generations of a search")
    parser.add_argument("--seeds", type=positive, help="number of searches in a fold")
    parser.add_argument(
        "--folds", type=number(1, FOLDS), help=f"number of test folds, at most {FOLDS}"
    )
    parser.add_argument(
        "--pages", type=number(MIN_PAGES), default=PAGES, help="number of pages of the world"
    )
    parser.add_argument("--seed", type=number(0), default=SEED, help="seed of the world")
    parser.add_argument(
        "--trace", action="append", choices=TRACES, help="use only this trace; may be repeated"
    )
    parser.add_argument(
        "--processes", type=number(0), default=0, help="number of processes; 0: one for each core"
    )
    parser.add_argument(
        "--work", type=Path, help="folder that stores finished searches for later runs"
    )
    parser.add_argument(
        "--device",
        choices=("cpu", "cuda", "arrays"),
        default="cpu",
        help="evaluate formulas on the processor, on a GPU, or by the GPU's code on the processor",
    )
    parser.add_argument(
        "--only-searches",
        action="store_true",
        help="run and store the searches, and leave the tests to a later run with the same --work",
    )
    parser.add_argument("--pictures", type=Path, help="folder for the charts")
    return parser


def number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a converter for a whole number within bounds."""
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"

    def read(text: str) -> int:
        value = int(text) if text.isascii() and text.isdigit() else None
        if value is None or value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {bounds}")
        return value

    return read


def _progress(name: str) -> ProgressCallback:
    """Return a function that prints progress on standard error."""

    def tell(done: int, total: int) -> None:
        sys.stderr.write(f"\r{name} {done} of {total}" + ("\n" if done == total else ""))
        sys.stderr.flush()

    return tell


if __name__ == "__main__":
    main()
