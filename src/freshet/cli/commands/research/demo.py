"""Serves a simulated web of 60 pages on 8 local hosts, one port per host, and crawls it for some
weeks of simulated time: news, blogs, forum threads, shops, pages with changing noise, a 404 that
comes back, a captcha, slow and throttling hosts. The results are scored against the true changes,
and compared with round-robin and a policy like that of Nutch at the same budget. No network is
needed. All files are in a temporary folder that is deleted at the end, unless --keep is given.
"""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from freshet.backtest.continuous.crawler import CrawlerScore
from freshet.cli.live_view import POLICY_LABELS, max_visible_pages, open_live_view
from freshet.cli.options import JsonOption, new_app
from freshet.cli.output import console, format_count, print_json, print_table, print_text
from freshet.core.clock import SystemClock
from freshet.core.errors import FreshetError, StopRequestedError, UsageError
from freshet.core.tables import DAY_SECONDS
from freshet.demo.audit import AuditVerdict, audit
from freshet.demo.demo_collection import DemoCollection
from freshet.demo.monitor import LiveStatus, StatusListener
from freshet.demo.run import (
    COLLECTION_FOLDER,
    DEFAULT_BUDGET,
    DEFAULT_DAYS,
    DEFAULT_SEED,
    DEFAULT_SPEED,
    DemoOptions,
    DemoResult,
    monday_before,
    run_demo,
)

# The share of visits that may begin late before that is worth a word.
MIN_REQUEST_SHARE = 0.95
MAX_LATE_SHARE = 0.05

app = new_app()


@app.command()
def demo(
    days: Annotated[
        float, typer.Option(min=2, metavar="N", help="Number of simulated days to crawl.")
    ] = DEFAULT_DAYS,
    speed: Annotated[
        float,
        typer.Option(
            min=1, metavar="N", help="Speed of the simulated clock, as a multiple of real time."
        ),
    ] = DEFAULT_SPEED,
    budget: Annotated[
        str,
        typer.Option(
            metavar="BUDGET",
            help="Page requests per simulated day, such as 100/day or 200% of the pages.",
        ),
    ] = DEFAULT_BUDGET,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Random seed of the simulated web.")
    ] = DEFAULT_SEED,
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65528, metavar="N", help="First port to listen on; 0 selects free ports."
        ),
    ] = 0,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Create the collection in this folder and keep it."),
    ] = None,
    headless: Annotated[
        bool, typer.Option("--headless", help="Print a line per day instead of the live view.")
    ] = False,
    must_hold: Annotated[
        bool,
        typer.Option(
            "--assert",
            help="Compare the result with the server logs and fail if a guarantee was broken.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Crawl a living web on this machine, and race other rules."""
    start = monday_before(SystemClock().now(), days)
    options = DemoOptions(start, seed, days, speed, budget, port)
    is_live = console.is_terminal and not (headless or as_json)
    with (
        _folder(keep) as folder,
        _view(is_live=is_live, quiet=as_json) as show,
        _stopping_while_getting_ready(),
    ):
        ended = run_demo(
            folder,
            options,
            on_prepared=lambda stage: None if as_json else _introduce(stage, options),
            show=show,
            page_count=max_visible_pages() if is_live else 0,
        )
        verdicts = audit(ended) if must_hold and ended.is_complete else []
    if not ended.is_complete:
        if not as_json and ended.status.visits:
            _sum_up(ended)
        raise StopRequestedError(
            "the demonstration was stopped before its end; nothing of it goes on"
        )
    if as_json:
        print_json(demo_document(ended, verdicts))
    else:
        _conclude(ended, verdicts, keep)
    _require(verdicts)


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """Give the folder to work in; one that is not to be kept is removed."""
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise UsageError(f"{keep} is not empty; choose another folder for the demo")
    folder = keep or Path(tempfile.mkdtemp(prefix="freshet-demo-"))
    try:
        yield folder
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _stopping_while_getting_ready() -> Iterator[None]:
    """Say truly what an interruption ends before the crawl itself listens for one."""
    try:
        yield
    except KeyboardInterrupt:
        raise StopRequestedError("the demonstration was stopped while it got ready") from None


@contextmanager
def _view(*, is_live: bool, quiet: bool) -> Iterator[StatusListener]:
    """Give what shows pictures of the crawl: on the terminal, in lines, or not at all."""
    if is_live:
        with open_live_view() as show:
            yield show
    else:
        yield (lambda sight: None) if quiet else DailyLinePrinter().print_day


class DailyLinePrinter:
    """Prints a line for every day of the web."""

    def __init__(self) -> None:
        self._day = ""

    def print_day(self, sight: LiveStatus) -> None:
        """Print where things stand, if another day has begun."""
        day = f"{sight.now:%d %B}"
        if sight.visits and day != self._day:
            self._day = day
            fresh = ", ".join(
                f"{POLICY_LABELS[each.policy]} {each.freshness:.1%}" for each in sight.scores
            )
            print_text(f"{day}: {format_count(sight.visits, 'visit')}; fresh on average: {fresh}")


def demo_document(ended: DemoResult, verdicts: Sequence[AuditVerdict]) -> dict[str, Any]:
    """Return every figure of a demonstration."""
    return {
        "options": ended.options,
        "pages": len(ended.demo_collection.web_indices),
        "hosts": len(ended.demo_collection.web.hosts),
        "seconds": ended.seconds,
        "visits": ended.status.visits,
        "outcomes": ended.status.outcomes,
        "standings": ended.status.scores,
        "verdicts": verdicts,
    }


def _introduce(stage: DemoCollection, options: DemoOptions) -> None:
    """Say what is going to happen."""
    pages, hosts = stage.web.pages, len(stage.web.hosts)
    noisy = sum(page.is_noisy for page in pages)
    seconds = options.days * DAY_SECONDS / options.speed
    print_text(f"A living web of {len(pages)} pages on {hosts} hosts is served on this machine. Freshet "
        f"crawls {options.days:g} days of it\non a clock that runs {options.speed:,.0f} times too "
        f"fast, in about {seconds:.0f} seconds; Ctrl-C ends it.")  # fmt: skip
    print_text(f"It may make {options.requests_per_day(stage.size):,} page requests a day; watching "
        f"every page hourly would take {24 * len(pages):,}. Round-robin\nand a rule like Nutch's, "
        "simulated, ask the same hosts in the same way with the same budget.")  # fmt: skip
    print_text("All are scored on the truth, by the importance of pages, from the second day on. "
        f"{noisy} pages differ\nat every visit in a time, a counter or an advertisement: Freshet "
        "learns to leave that out, the others\ncannot; only real changes count.")  # fmt: skip
    print_text("Getting ready: the first time, the code that learns and measures is compiled, which takes "
        "a minute\nor two; later it takes some seconds ...\n")  # fmt: skip


def _conclude(ended: DemoResult, verdicts: Sequence[AuditVerdict], keep: Path | None) -> None:
    _sum_up(ended)
    outcomes = sorted(ended.status.outcomes.items(), key=lambda item: -item[1])
    print_text("Freshet's visits: " + ", ".join(f"{count:,} {name}" for name, count in outcomes))
    if verdicts:
        print_table(
            ("promise", "kept", "figures"),
            [(each.promise, each.kept, each.figures) for each in verdicts],
            title="\nPromises, by the hosts' own log",
        )
    _say_how_to_go_on(ended, keep)


def _sum_up(ended: DemoResult) -> None:
    """Say how all stand, in a table and a sentence, and whether the machine kept up."""
    sight, options = ended.status, ended.options
    days = (sight.now - options.start) / timedelta(days=1)
    print_text(f"\n{days:.3g} days of the web in {ended.seconds:.0f} seconds:", "bold")
    rows = [
        (POLICY_LABELS[each.policy], f"{each.freshness:.1%}", f"{each.fresh_now:.1%}", each.changes_found,
         each.visits)
        for each in sight.scores
    ]  # fmt: skip
    print_table(("", "fresh on average", "fresh now", "changes found", "page requests"), rows)
    print_text(
        describe_standings(sight.scores, options.requests_per_day(ended.demo_collection.size))
    )
    ours, *others = sight.scores
    if ours.visits < MIN_REQUEST_SHARE * max(each.visits for each in others):
        print_text(f"This machine was too busy: Freshet made only {ours.visits:,} requests; "
            "its rivals, simulated,\nmade all of theirs. A lower --speed is fairer.")  # fmt: skip
    elif sight.late_visits > MAX_LATE_SHARE * sight.visits:
        print_text(f"This machine was too busy for that speed: {sight.late_visits:,} of Freshet's "
            "visits began more than an hour\nof the web's time late; its rivals, simulated, are "
            "never late. A lower --speed is fairer.")  # fmt: skip


def describe_standings(standings: Sequence[CrawlerScore], budget: int) -> str:
    """Say how fresh everyone's copies were, and what was found.

    >>> print(describe_standings([CrawlerScore("freshet", 9, 8, 0.8, 0.8), CrawlerScore("age", 9, 5, 0.7, 0.7)], 3))
    With the same 3 requests a day, Freshet's copies were fresh 80.0% of the time,
    against 70.0% (round-robin); it found 8 changes, against 5.
    """
    ours, *others = standings
    fresh = " and ".join(f"{each.freshness:.1%} ({POLICY_LABELS[each.policy]})" for each in others)
    found = " and ".join(f"{each.changes_found:,}" for each in others)
    return (
        f"With the same {budget:,} requests a day, Freshet's copies were fresh "
        f"{ours.freshness:.1%} of the time,\nagainst {fresh}; it found "
        f"{ours.changes_found:,} changes, against {found}."
    )


def _say_how_to_go_on(ended: DemoResult, keep: Path | None) -> None:
    if keep is None:
        print_text("\nTo look at what was kept: freshet demo --keep DIR")
        return
    place, url = keep / COLLECTION_FOLDER, ended.demo_collection.url(0)
    print_text(f"\nThe collection stays in {place}; go on with", "bold")
    for verb in ("why", "history", "diff"):
        print_text(f"  freshet {verb} {url} -C {place}")
    print_text(f"  freshet list --changed -C {place}")


def _require(verdicts: Sequence[AuditVerdict]) -> None:
    """Fail where a promise was not kept, and name each of those."""
    broken = [f"{each.promise} ({each.figures})" for each in verdicts if not each.kept]
    if broken:
        raise FreshetError(f"not kept: {'; '.join(broken)}")
