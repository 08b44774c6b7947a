"""Fetches pages when a visit is worth most, within the day's budget, keeps what they show, and
learns from it. Prints what it will do, a line for every change, for the first few pages seen and
the first failure of each kind at a host, and each minute how far it is.

It goes on until it is stopped, or for as long as `--for` or `--visits` say. Ctrl-C or SIGTERM ends
it: what is under way is recorded first; a second one does not wait. Being stopped is its proper
end, so it ends with 0. Other commands work beside it: pages that are added, paused, asked for or
set otherwise are taken up within a second.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from freshet.archive.warc.lock import ArchiveLock
from freshet.cli.logs import logging_to, note
from freshet.cli.narrating import Narrator, ReaderGone, Tally
from freshet.cli.options import DEFAULT_COLLECTION, AsJson, CollectionDir, new_app
from freshet.cli.output import counted, print_json, say
from freshet.core.errors import UsageError
from freshet.core.types import Outcome
from freshet.fetch.crawl import crawl
from freshet.fetch.desk import Limits
from freshet.fetch.metrics import Metrics
from freshet.flow.collection import Collection
from freshet.flow.planning import policy_name
from freshet.flow.today import Today, note_budget, today_of

UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}

app = new_app()


@app.command()
def run(
    budget: Annotated[
        str, typer.Option(metavar="N", help="Requests a day: 500, 20/hour or 5%; else the setting.")
    ] = "",
    for_: Annotated[
        str, typer.Option("--for", metavar="TIME", help="Stop after this long: 90s, 10m, 2h, 7d.")
    ] = "",
    visits: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Stop after so many visits.")
    ] = None,
    metrics_port: Annotated[
        int, typer.Option(min=0, max=65_535, metavar="PORT", help="Serve Prometheus metrics here.")
    ] = 0,
    log_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Log events as JSON lines; - for stderr.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the summary.")] = False,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Keep the pages fresh, within the budget, until stopped."""
    limits = Limits(visits, seconds_of(for_) if for_ else None)
    with Collection.open(collection) as opened, logging_to(log_file):
        tell = silent if quiet or as_json else say
        begin(opened, budget, tell)
        narrator, metrics = Narrator(opened.catalog, tell), Metrics(opened.archive)
        try:
            with metrics.served(metrics_port):
                crawl(collection, budget=budget, limits=limits, listeners=[narrator, metrics])
        except ReaderGone as gone:
            raise typer.Exit(gone.exit_code) from gone
        today = today_of(opened, opened.catalog.last_outcomes(), budget=budget)
        note("crawl ended", visits=narrator.tally.visits, changes=narrator.tally.changes)
    if as_json:
        print_json({"crawl": narrator.tally, "today": today})
    else:
        _print(narrator.tally, today)


def begin(opened: Collection, budget: str, tell: Callable[[str], None]) -> None:
    """Say what the crawl will do; refuse at once where another one writes to the archive."""
    with ArchiveLock(opened.archive, clock=opened.clock):
        note_budget(opened, budget)
    outcomes = opened.catalog.last_outcomes()
    today = today_of(opened, outcomes, budget=budget)
    pages = sum(item.pages for item in outcomes)
    plan = f"objective {opened.settings.objective}, policy {policy_name(opened.settings)}"
    tell(f"Keeping {counted(pages, 'page')} fresh; {plan}.")
    tell(f"{counted(today.budget, 'request')} a day, {today.spent:,} spent today. Ctrl-C stops it.")
    if pages and not today.left:
        tell("Today's budget is spent; it goes on at 00:00 UTC.")
    if not pages:
        tell("There are no pages yet; those that 'freshet add' brings are taken up at once.")
    note("crawl begins", pages=pages, budget=today.budget, spent=today.spent)


def seconds_of(text: str) -> float:
    """Read how long something is to take.

    >>> seconds_of("90s"), seconds_of("2h")
    (90.0, 7200.0)
    """
    found = re.fullmatch(r"(\d{1,6})([smhd])", text)
    if not found or not int(found[1]):
        raise UsageError(f"--for {text!r} is no time; write 90s, 10m, 2h or 7d")
    return float(int(found[1]) * UNITS[found[2]])


def silent(text: str) -> None:
    """Say nothing."""


def _print(tally: Tally, today: Today) -> None:
    """Say what was done, what of the budget is spent, and why some of it cannot be."""
    done = f"{counted(tally.visits, 'visit')}, {counted(tally.looks, 'look')} among them"
    say(f"Stopped after {done}, {counted(tally.changes, 'change')}.")
    failed = {name: n for name, n in tally.outcomes.most_common() if not Outcome(name).is_look}
    if failed:
        say("Not looks: " + ", ".join(f"{number:,} {name}" for name, number in failed.items()))
    say(f"Today {today.spent:,} of {today.budget:,} requests are spent, {today.left:,} are left; "
        f"{today.apart:,} more went to robots.txt.")  # fmt: skip
    if today.unreachable:
        say(f"{today.unreachable:,} of those left cannot be spent today:")
        for reason in today.reasons:
            say(f"  {reason}")
