"""Fetches the pages whose visits have the highest value, within the daily budget, stores what it
gets and updates the forecasts. It prints its settings at the start, a line per change and per host
that goes into back-off, the first pages seen, the first failure of each kind per host, and its
progress every minute.

The crawl runs until --for or --visits is reached or until it is stopped. Ctrl-C or SIGTERM stops it
after the requests in progress are recorded, with exit code 0; a second signal stops it at once.
Other commands work at the same time: pages that are added, paused, requested or configured are
taken into account within a second.
"""

import re
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.dashboard import DEFAULT_PORT, ServePortOption, dashboard_beside
from freshet.cli.json_log import log_to_file
from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, new_app
from freshet.cli.output import print_json, print_text
from freshet.core.errors import UsageError
from freshet.record.writer_lock import refuse_second_writer

UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}

app = new_app()


@app.command()
def run(
    budget: Annotated[
        str,
        typer.Option(
            metavar="N",
            help="Page requests per day: 500, 20/hour, or 5% of the pages. Default: the "
            "budget setting.",
        ),
    ] = "",
    objective: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Objective of this crawl: freshness, changes, links or timeliness. Default: the "
            "setting.",
        ),
    ] = "",
    for_: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="TIME",
            help="Stop after this time: 90s, 10m, 2h or 7d. Default: no limit.",
        ),
    ] = "",
    visits: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Stop after this number of visits. Default: no limit."
        ),
    ] = None,
    metrics_port: Annotated[
        int,
        typer.Option(
            min=0,
            max=65_535,
            metavar="PORT",
            help="Serve Prometheus metrics on this port; 0 serves none.",
        ),
    ] = 0,
    metrics_address: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="Address for --metrics-port; 0.0.0.0 serves all interfaces."
        ),
    ] = "127.0.0.1",
    serve: Annotated[
        bool,
        typer.Option("--serve", help="Serve the dashboard to this machine during the crawl."),
    ] = False,
    serve_port: ServePortOption = DEFAULT_PORT,
    log_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Append events to this file as JSON lines; - writes to standard error.",
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only the summary at the end.")
    ] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as one JSON document at the end.")
    ] = False,
) -> None:
    """Crawl within the daily budget until stopped."""
    seconds = parse_duration(for_) if for_ else None
    refuse_second_writer(collection)
    from freshet.cli.compile_notice import announce_compiling
    from freshet.cli.crawl_session import (  # takes seconds to load
        planning_for,
        print_crawl_summary,
        run_until_stopped,
    )
    from freshet.fetch.recording_loop import CrawlLimits

    announce_compiling()
    print_line = discard_text if quiet or as_json else print_text
    beside = dashboard_beside(collection, serve_port, print_line) if serve else nullcontext()
    with log_to_file(log_file), planning_for(objective), beside:
        counts, today = run_until_stopped(
            collection,
            budget,
            CrawlLimits(visits, seconds),
            print_line,
            metrics_port=metrics_port,
            metrics_address=metrics_address,
        )
    if as_json:
        print_json({"crawl": counts, "today": today})
    else:
        print_crawl_summary(counts, today)


def parse_duration(text: str, option: str = "--for") -> float:
    """Return the seconds of a duration such as 90s or 2h.

    >>> parse_duration("90s"), parse_duration("2h")
    (90.0, 7200.0)
    """
    match = re.fullmatch(r"(\d{1,6})([smhd])", text)
    if not match or not int(match[1]):
        raise UsageError(f"{option} {text!r} is not a duration; write 90s, 10m, 2h or 7d")
    return float(int(match[1]) * UNITS[match[2]])


def discard_text(text: str) -> None:
    """Print nothing."""
