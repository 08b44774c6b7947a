"""Run the experiment: ``python -m experiments.threads [--data DIR] [--json]``."""

import argparse
import json
import sys
from dataclasses import asdict
from itertools import chain
from pathlib import Path

from experiments.experiment_command import make_base_parser, print_progress
from experiments.figure_tables import result_document
from experiments.threads.charts import draw_charts
from experiments.threads.document import fill_tables
from experiments.threads.expected_figures import (
    EXPECTED,
    ThreadFigures,
    merge_figures,
    read_figures,
    save_figures,
    thread_source,
)
from experiments.threads.experiment import replay_policies, report_table
from experiments.threads.forecast_checks import coverage_rows
from experiments.threads.interval_errors import error_rows
from experiments.threads.policies import closed_form_policies, learned_policies, models_by_fold
from experiments.threads.recorded_threads import RecordedThread, generate_threads, read_threads
from freshet.predict.threads.hazard_training import train_hazard
from freshet.predict.threads.rate_model import hazard_document

CLOSED, LEARNED, TABLE, COVERAGE = "closed", "learned", "table", "coverage"
PARTS = (CLOSED, LEARNED, TABLE, COVERAGE)
RECORDED, GENERATED = "threads", "generated"


def main(arguments: list[str] | None = None) -> None:
    """Replay the policies and print their rows."""
    options = make_parser().parse_args(arguments)
    if options.model:
        threads = _open_threads(options)
        model = train_hazard([thread.posts for thread in threads])
        options.model.write_text(json.dumps(hazard_document(model)), "utf-8")
        return
    if not options.only_document:
        figures = run_parts(options)
        if options.keep:
            save_figures(merge_figures(read_figures(options.figures), figures), options.figures)
        _print(figures, as_json=options.json)
    if options.document:
        stored = read_figures(options.figures)
        text = options.document.read_text("utf-8")
        options.document.write_text(fill_tables(text, stored), "utf-8")
        draw_charts(options.document.with_suffix(""), stored)


def run_parts(options: argparse.Namespace) -> ThreadFigures:
    """Run the chosen parts; the fixed interval is always replayed, as the reference."""
    data = RECORDED if options.data else GENERATED
    threads = _open_threads(options)
    parts = options.part or PARTS
    long_threads = sum(thread.is_long for thread in threads)
    print_progress(f"{data}: {long_threads} long threads of {len(threads)}")
    hazards = models_by_fold(threads, train_hazard)
    closed = list(closed_form_policies())
    policies = closed if CLOSED in parts else closed[:1] if LEARNED in parts else []
    learned = learned_policies(threads, hazards) if LEARNED in parts else ()
    rows, summaries = replay_policies(chain(policies, learned), threads, print_progress)
    table = report_table(threads, print_progress) if TABLE in parts else []
    errors = error_rows(threads) if TABLE in parts else ()
    coverage = coverage_rows(threads, hazards) if COVERAGE in parts else []
    source = thread_source(data, threads)
    return ThreadFigures(
        (source,), tuple(rows), tuple(summaries), tuple(table), tuple(errors), tuple(coverage)
    )


def _open_threads(options: argparse.Namespace) -> list[RecordedThread]:
    return read_threads(options.data) if options.data else generate_threads(options.threads)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    parser = make_base_parser(
        "threads", "folder that contains threads/; by default threads are generated"
    )
    parser.add_argument(
        "--part", action="append", choices=PARTS, help="run this part; may be repeated"
    )
    parser.add_argument(
        "--threads", type=int, default=60, help="number of generated threads; default 60"
    )
    parser.add_argument(
        "--figures", type=Path, default=EXPECTED, help="file of stored figures; expected.json"
    )
    parser.add_argument(
        "--model", type=Path, help="only train the default model on all threads and write it here"
    )
    return parser


def _print(figures: ThreadFigures, *, as_json: bool) -> None:
    tables = dict(figures.tables)
    (source,) = tables.pop("sources")
    if as_json:
        sys.stdout.write(result_document("threads", source.data, tables) + "\n")
        return
    for rows in tables.values():
        for row in rows:
            sys.stdout.write(" ".join(f"{name}={value}" for name, value in asdict(row).items()))
            sys.stdout.write("\n")


if __name__ == "__main__":
    main()
