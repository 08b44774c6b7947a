"""Run the experiment: ``python -m experiments.wild [--data DIR]``, or ``replay`` with a policy."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from experiments.wild.data import RawTraceSource, open_source, pages_folder
from experiments.wild.document import fill_tables
from experiments.wild.evaluation import as_json, as_text, difference_rows, wild_rows
from experiments.wild.expected_figures import (
    StoredFigures,
    read_figures,
    save_figures,
    trace_record,
    with_crawls,
    with_replays,
    with_safety_net,
)
from experiments.wild.experiment import (
    QUICK_SIZE,
    ExperimentSize,
    crawl_tasks,
    experiment_sources,
    run_tasks,
)
from experiments.wild.generated_pages import GeneratedSites, generate_histories
from experiments.wild.page_history import (
    PageHistory,
    read_histories,
    recorded_pages,
    sample_by_site,
)
from experiments.wild.replay import ReplayOptions, ReplayResult, replay
from experiments.wild.safety_net import SAFETY_NET_SEEDS, safety_net_rows, safety_net_text
from freshet.backtest.page_bootstrap import PageBootstrap
from freshet.core.errors import FreshetError

DATA_VARIABLE = "FRESHET_DATA"
NO_DATA = "generated pages; give a folder for the real ones"
DEFAULTS = ReplayOptions()
REPLAYED_PAGES = 408
REPLAYED_POLICIES = ("changes", "freshness", "nutch", "stormcrawler", "age")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a part of the experiment, and print its result."""
    options = make_parser().parse_args(arguments)
    try:
        options.run(options)
    except FreshetError as error:
        sys.exit(f"experiments.wild: {error}")


def run_experiment(options: argparse.Namespace) -> None:
    """Simulate every policy on the raw traces, and print the figures."""
    size = replace(QUICK_SIZE if options.quick else ExperimentSize(), processes=options.processes)
    sources = [
        source
        for source in experiment_sources(options.data, is_quick=options.quick)
        if not options.trace or source.name in options.trace
    ]
    figures = StoredFigures()
    if options.safety_net:
        for source in sources:
            net_size = replace(size, seeds=options.seeds or SAFETY_NET_SEEDS)
            rows = list(safety_net_rows(options.data, source, net_size, _show_progress))
            figures = with_safety_net(figures, rows)
            store_figures(options, partial(with_safety_net, rows=rows))
        sources = []
    for source in sources:
        source_figures = simulate_source(options.data, source, size)
        figures = with_crawls(figures, source_figures)
        store_figures(options, partial(with_crawls, new=source_figures))
    if options.replays:
        replays = replay_all(options.data)
        figures = with_replays(figures, replays)
        store_figures(options, partial(with_replays, results=replays))
    if options.document:
        text = options.document.read_text("utf-8")
        options.document.write_text(fill_tables(text, read_figures()), "utf-8")
    print_figures(options, figures)


def store_figures(
    options: argparse.Namespace, add_figures: Callable[[StoredFigures], StoredFigures]
) -> None:
    """Add figures to the stored ones if that is asked for and they are of all the real pages."""
    if options.keep and options.data and not options.quick:
        save_figures(add_figures(read_figures()))


def simulate_source(
    data: Path | None, source: RawTraceSource, size: ExperimentSize
) -> StoredFigures:
    """Return the figures of all policies on one trace."""
    results = list(run_tasks(data, list(crawl_tasks(source, size)), size, _show_progress))
    bootstrap = PageBootstrap(open_source(source).pages.sites)
    return StoredFigures(
        traces=(trace_record(source),),
        rows=tuple(wild_rows(results, bootstrap)),
        differences=tuple(difference_rows(results, bootstrap)),
    )


def print_figures(options: argparse.Namespace, figures: StoredFigures) -> None:
    """Print the figures of simulated crawls, of the safety net, and of replays."""
    data, net_rows = str(options.data or NO_DATA), figures.safety_net
    if options.json:
        text = as_json(data, [*figures.rows, *net_rows, *figures.replays])
    else:
        others = (*map(safety_net_text, net_rows), *map(str, figures.replays))
        text = "\n".join([f"wild: {data}", as_text(figures.rows), *others])
    sys.stdout.write(f"{text}\n")


def replay_all(data: Path | None) -> list[ReplayResult]:
    """Replay the pages with each policy in turn, each in a process of its own."""
    results = []
    for policy in REPLAYED_POLICIES:
        command = [
            sys.executable,
            "-m",
            "experiments.wild",
            "replay",
            *([str(data)] if data else []),
        ]
        command += ["--pages", str(REPLAYED_PAGES), "--policy", policy, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        results += [ReplayResult(**row) for row in json.loads(done.stdout)["rows"]]
        sys.stderr.write(f"replayed {policy}\n")
    return results


def run_replay(options: argparse.Namespace) -> None:
    """Crawl recorded pages over HTTP, and print the score."""
    options.data = replayed_folder(options)
    histories = histories_to_replay(options)
    replay_options = ReplayOptions(
        policy=options.policy,
        budget=options.budget,
        days=options.days,
        speed=options.speed,
        start=options.start,
        settings="\n".join(options.set),
    )
    with TemporaryDirectory() as temporary:
        work = options.work or Path(temporary) / "collection"
        result = replay(histories, work, replay_options)
    data = str(options.data or NO_DATA)
    document = {"name": "wild replay", "data": data, "rows": [asdict(result)]}
    sys.stdout.write((json.dumps(document) if options.json else replay_text(result)) + "\n")


def replayed_folder(options: argparse.Namespace) -> Path | None:
    """Return the folder of the pages to replay, None if pages are generated."""
    folder: Path | None = options.folder or options.data
    return folder


def histories_to_replay(options: argparse.Namespace) -> list[PageHistory]:
    """Return the recorded pages, or those drawn of them; without data, generated pages."""
    if options.data is None:
        size = GeneratedSites(seed=options.seed)
        if options.pages:
            size = replace(size, pages_per_site=max(1, options.pages // size.sites))
        return generate_histories(size, options.start, options.days)
    folder = pages_folder(options.data)
    pages = recorded_pages(folder, options.start)
    if options.pages:
        pages = sample_by_site(pages, options.pages, seed=options.seed)
    return read_histories(folder, pages, options.start, options.days)


def replay_text(result: ReplayResult) -> str:
    """Return a line for each figure of a replay."""
    return "\n".join(
        f"{name.replace('_', ' '):<28}{value:>14}" for name, value in asdict(result).items()
    )


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    parser = argparse.ArgumentParser(prog="python -m experiments.wild", description=__doc__)
    parser.set_defaults(run=run_experiment)
    default_data = os.environ.get(DATA_VARIABLE)
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(default_data) if default_data else None,
        help=f"folder that contains pages/; default: {DATA_VARIABLE}, else pages are generated",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document at the end")
    parser.add_argument(
        "--quick", action="store_true", help="use one trace, one budget, one seed, few policies"
    )
    parser.add_argument("--trace", action="append", help="use only this trace; may be repeated")
    parser.add_argument(
        "--processes", type=int, default=0, help="number of processes; 0: one for each core"
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="store the figures in expected.json; needs data, and has no effect with --quick",
    )
    parser.add_argument("--replays", action="store_true", help="make the live replays too")
    parser.add_argument(
        "--safety-net",
        action="store_true",
        help="measure the safety net month by month, also with failing forecasts, and nothing else",
    )
    parser.add_argument(
        "--seeds", type=int, default=0, help=f"seeds of --safety-net; default: {SAFETY_NET_SEEDS}"
    )
    parser.add_argument(
        "--document", type=Path, help="Markdown file whose tables get the stored figures"
    )
    commands = parser.add_subparsers(metavar="COMMAND")
    _add_replay_options(
        commands.add_parser(
            "replay", help="crawl recorded pages with the real program over HTTP at a fast clock"
        )
    )
    return parser


def _add_replay_options(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=run_replay)
    command.add_argument(
        "folder",
        type=Path,
        nargs="?",
        help="folder that contains pages/versions_*.parquet; default: that of --data",
    )
    command.add_argument(
        "--policy",
        default=DEFAULTS.policy,
        help="objective of the default policy (freshness, changes), or a policy such as nutch",
    )
    command.add_argument("--budget", default=DEFAULTS.budget, help="requests, such as 10%%/day")
    command.add_argument("--days", type=float, default=DEFAULTS.days, help="days to crawl")
    command.add_argument(
        "--speed", type=float, default=DEFAULTS.speed, help="recorded seconds in a second"
    )
    command.add_argument(
        "--start", type=utc_date, default=DEFAULTS.start, help="day at which the crawl starts"
    )
    command.add_argument("--pages", type=int, default=0, help="number of pages drawn; 0: all")
    command.add_argument("--seed", type=int, default=1, help="seed of the draw of pages")
    command.add_argument("--work", type=Path, help="folder of the collection, which is kept")
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="further setting in TOML, such as rounds.share=0; may be repeated",
    )
    command.add_argument(
        "--json",
        action="store_true",
        default=argparse.SUPPRESS,
        help="print one JSON document",
    )


def utc_date(text: str) -> datetime:
    """Return the start of a day in UTC.

    >>> utc_date("2026-04-01").isoformat()
    '2026-04-01T00:00:00+00:00'
    """
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _show_progress(done: int, total: int) -> None:
    sys.stderr.write(f"\rcrawl {done} of {total}" + ("\n" if done == total else ""))
    sys.stderr.flush()


if __name__ == "__main__":
    main()
