"""Run the experiment: ``python -m experiments.wild replay DATA [--policy P]``."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from experiments.wild.generated_pages import GeneratedSites, generate_histories
from experiments.wild.page_history import (
    PageHistory,
    read_histories,
    recorded_pages,
    sample_by_site,
)
from experiments.wild.replay import ReplayOptions, ReplayResult, replay
from freshet.core.errors import FreshetError

PAGES_FOLDER = "pages"
NO_DATA = "generated pages; give a folder for the real ones"
DEFAULTS = ReplayOptions()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a part of the experiment, and print its result."""
    options = make_parser().parse_args(arguments)
    try:
        options.run(options)
    except FreshetError as error:
        sys.exit(f"experiments.wild: {error}")


def run_replay(options: argparse.Namespace) -> None:
    """Crawl recorded pages over HTTP, and print the score."""
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


def pages_folder(data: Path) -> Path:
    """Return the folder of the recorded pages: ``pages`` in the data folder, or that folder."""
    return data / PAGES_FOLDER if (data / PAGES_FOLDER).is_dir() else data


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    parser = argparse.ArgumentParser(prog="python -m experiments.wild", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "replay", help="crawl recorded pages with the real program over HTTP at a fast clock"
    )
    command.set_defaults(run=run_replay)
    command.add_argument(
        "data",
        type=Path,
        nargs="?",
        help="folder that contains pages/versions_*.parquet; without it, pages are generated",
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
    command.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def utc_date(text: str) -> datetime:
    """Return the start of a day in UTC.

    >>> utc_date("2026-04-01").isoformat()
    '2026-04-01T00:00:00+00:00'
    """
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


if __name__ == "__main__":
    main()
