"""Run the experiment: ``python -m experiments.threads [--data DIR] [--json]``."""

import argparse
import json
import sys
from itertools import chain
from pathlib import Path

from experiments.threads.charts import draw_charts
from experiments.threads.document import fill_tables
from experiments.threads.expected_figures import (
    EXPECTED,
    ThreadFigures,
    merge_figures,
    read_figures,
    rounded,
    save_figures,
    threads_digest,
)
from experiments.threads.experiment import replay_policies, report_table
from experiments.threads.policies import closed_form_policies, learned_policies
from experiments.threads.recorded_threads import RecordedThread, generate_threads, read_threads
from freshet.predict.threads.hazard_training import train_hazard
from freshet.predict.threads.rate_model import hazard_document

CLOSED, LEARNED, TABLE = "closed", "learned", "table"
PARTS = (CLOSED, LEARNED, TABLE)
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
    _report(f"{data}: {sum(thread.is_long for thread in threads)} long threads of {len(threads)}")
    closed = list(closed_form_policies())
    policies = closed if CLOSED in parts else closed[:1] if LEARNED in parts else []
    learned = learned_policies(threads) if LEARNED in parts else ()
    rows, summaries = replay_policies(chain(policies, learned), threads, _report)
    table = report_table(threads, _report) if TABLE in parts else []
    return ThreadFigures(data, threads_digest(threads), tuple(rows), tuple(summaries), tuple(table))


def _open_threads(options: argparse.Namespace) -> list[RecordedThread]:
    return read_threads(options.data) if options.data else generate_threads(options.threads)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    parser = argparse.ArgumentParser(prog="python -m experiments.threads")
    parser.add_argument(
        "--data", type=Path, help="folder that contains threads/; by default threads are generated"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document at the end")
    parser.add_argument(
        "--part", action="append", choices=PARTS, help="run this part; may be repeated"
    )
    parser.add_argument(
        "--threads", type=int, default=60, help="number of generated threads; default 60"
    )
    parser.add_argument("--keep", action="store_true", help="store the figures in expected.json")
    parser.add_argument(
        "--figures", type=Path, default=EXPECTED, help="file of stored figures; expected.json"
    )
    parser.add_argument(
        "--document", type=Path, help="Markdown file whose tables get the stored figures"
    )
    parser.add_argument(
        "--model", type=Path, help="only train the default model on all threads and write it here"
    )
    parser.add_argument(
        "--only-document", action="store_true", help="write the stored figures; run nothing"
    )
    return parser


def _print(figures: ThreadFigures, *, as_json: bool) -> None:
    rows = [rounded(row) for row in figures.rows]
    others = [
        {"table": name, **rounded(row)}
        for name in ("summaries", "report")
        for row in getattr(figures, name)
    ]
    if as_json:
        document = {"name": "threads", "data": figures.data, "rows": [*rows, *others]}
        sys.stdout.write(json.dumps(document) + "\n")
        return
    for row in (*rows, *others):
        sys.stdout.write(" ".join(f"{name}={value}" for name, value in row.items()) + "\n")


def _report(message: str) -> None:
    sys.stderr.write(f"{message}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
