"""Serves a simulated web of 60 pages on 8 local hosts, one port per host, and crawls it for some
weeks of simulated time: news, blogs, forum threads, shops, pages with changing noise, a 404 that
comes back, a captcha, slow and throttling hosts. The results are scored against the true changes,
and compared with round-robin and a policy like that of Nutch at the same budget. No network is
needed. All files are in a temporary folder that is deleted at the end, unless --keep is given.
"""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from freshet.backtest.continuous.crawler import CrawlerScore
from freshet.cli.dashboard import DEFAULT_PORT, ServePortOption, dashboard_beside
from freshet.cli.interrupts import wait_for_interrupt
from freshet.cli.live_view import POLICY_LABELS, max_visible_pages, open_live_view
from freshet.cli.options import JsonOption, new_app
from freshet.cli.output import console, print_json, print_table, print_text, print_warning
from freshet.core.clock import Clock, SystemClock
from freshet.core.errors import FreshetError, StopRequestedError, UsageError
from freshet.core.humanize import count_text
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

# The machine was too slow below this share of requests or above this share of late visits.
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
        typer.Option(
            metavar="DIR", help="Create the folder collection in this folder and keep it."
        ),
    ] = None,
    serve: Annotated[
        bool,
        typer.Option(
            "--serve",
            help="Serve the dashboard during the demo, and then until Ctrl-C.",
        ),
    ] = False,
    serve_port: ServePortOption = DEFAULT_PORT,
    headless: Annotated[
        bool, typer.Option("--headless", help="Print a line per day instead of the live view.")
    ] = False,
    check_guarantees: Annotated[
        bool,
        typer.Option(
            "--assert",
            help="Compare the result with the server logs and fail if a guarantee was broken.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Crawl a simulated web on this machine and score policies."""
    start = monday_before(SystemClock().now(), days)
    options = DemoOptions(start, seed, days, speed, budget, port)
    is_live = console.is_terminal and not (headless or as_json)
    with (
        _working_folder(keep) as folder,
        ExitStack() as dashboards,
        _choose_view(is_live=is_live, quiet=as_json) as show,
        _explain_early_interrupt(),
    ):

        def serve_collection(path: Path, clock: Clock) -> None:
            if serve:
                dashboards.enter_context(
                    dashboard_beside(path, serve_port, print_warning, clock=clock)
                )

        result = run_demo(
            folder,
            options,
            on_prepared=lambda demo_collection: (
                None if as_json else _introduce(demo_collection, options)
            ),
            show=show,
            page_count=max_visible_pages() if is_live else 0,
            on_clock=serve_collection,
        )
        verdicts = audit(result) if check_guarantees and result.is_complete else []
        if serve and result.is_complete:
            print_warning("The demo is over; the dashboard is served until Ctrl-C.")
            wait_for_interrupt()
    if not result.is_complete:
        if not as_json and result.status.visits:
            _print_scores(result)
        raise StopRequestedError("the demo was stopped before its end and cannot be resumed")
    if as_json:
        print_json(demo_document(result, verdicts))
    else:
        _print_result(result, verdicts, keep)
    _check_guarantees(verdicts)


@contextmanager
def _working_folder(keep: Path | None) -> Iterator[Path]:
    """Yield the folder of the demo; a temporary folder is deleted at the end."""
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise UsageError(f"{keep} is not empty; choose another folder for the demo")
    folder = keep or Path(tempfile.mkdtemp(prefix="freshet-demo-"))
    try:
        yield folder
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _explain_early_interrupt() -> Iterator[None]:
    """Turn an interruption before the crawl starts into its own message."""
    try:
        yield
    except KeyboardInterrupt:
        raise StopRequestedError("the demo was stopped before the crawl started") from None


@contextmanager
def _choose_view(*, is_live: bool, quiet: bool) -> Iterator[StatusListener]:
    """Yield the function that shows the state: live view, line per day, or nothing."""
    if is_live:
        with open_live_view() as show:
            yield show
    else:
        yield (lambda status: None) if quiet else DailyLinePrinter().print_day


class DailyLinePrinter:
    """Prints a line per simulated day."""

    def __init__(self) -> None:
        self._day = ""

    def print_day(self, status: LiveStatus) -> None:
        """Print the scores if a new day has started."""
        day = f"{status.now:%d %B}"
        if status.visits and day != self._day:
            self._day = day
            fresh = ", ".join(
                f"{POLICY_LABELS[score.policy]} {score.freshness:.1%}" for score in status.scores
            )
            print_text(f"{day}: {count_text(status.visits, 'visit')}; fresh on average: {fresh}")


def demo_document(result: DemoResult, verdicts: Sequence[AuditVerdict]) -> dict[str, Any]:
    """Return all figures of a demo for JSON."""
    return {
        "options": result.options,
        "pages": len(result.demo_collection.web_indices),
        "hosts": len(result.demo_collection.web.hosts),
        "seconds": result.seconds,
        "visits": result.status.visits,
        "outcomes": result.status.outcomes,
        "standings": result.status.scores,
        "verdicts": verdicts,
    }


def _introduce(demo_collection: DemoCollection, options: DemoOptions) -> None:
    """Print what the demo will do."""
    pages, hosts = demo_collection.web.pages, len(demo_collection.web.hosts)
    noisy = sum(page.is_noisy for page in pages)
    seconds = options.days * DAY_SECONDS / options.speed
    print_text(
        f"A simulated web of {len(pages)} pages on {hosts} hosts is served on this machine. "
        f"Freshet crawls {options.days:g} days\nof it with a clock that runs "
        f"{options.speed:,.0f} times as fast as real time, in about {seconds:.0f} seconds.\n"
        "Ctrl-C stops it."
    )
    print_text(
        f"The budget is {options.requests_per_day(demo_collection.size):,} page requests per day; "
        f"visiting every page hourly would take\n{24 * len(pages):,}. Round-robin and a policy "
        "like that of Nutch are simulated with the same hosts and budget."
    )
    print_text(
        "All are scored on the true changes, weighted by importance, from the second day on. "
        f"{noisy} pages\ndiffer at every visit in a time, a counter or an advertisement. Freshet "
        "learns to ignore this noise, the\nothers cannot. Only real changes count."
    )
    print_text(
        "Preparing. The first time, functions are compiled, which takes a minute or two; later it "
        "takes seconds ...\n"
    )


def _print_result(result: DemoResult, verdicts: Sequence[AuditVerdict], keep: Path | None) -> None:
    _print_scores(result)
    outcomes = sorted(result.status.outcomes.items(), key=lambda item: -item[1])
    print_text("Freshet's visits: " + ", ".join(f"{count:,} {name}" for name, count in outcomes))
    if verdicts:
        print_table(
            ("guarantee", "kept", "figures"),
            [(check.promise, check.kept, check.figures) for check in verdicts],
            title="\nGuarantees, checked against the server logs",
        )
    _print_next_steps(result, keep)


def _print_scores(result: DemoResult) -> None:
    """Print the scores, a summary, and whether the machine was too slow."""
    status, options = result.status, result.options
    days = (status.now - options.start) / timedelta(days=1)
    print_text(f"\n{days:.3g} simulated days in {result.seconds:.0f} seconds:", "bold")
    rows = [
        (
            POLICY_LABELS[score.policy],
            f"{score.freshness:.1%}",
            f"{score.fresh_now:.1%}",
            score.changes_found,
            score.visits,
        )
        for score in status.scores
    ]
    print_table(("", "fresh on average", "fresh now", "changes found", "page requests"), rows)
    ours, *others = status.scores
    if ours.visits < MIN_REQUEST_SHARE * max(score.visits for score in others):
        print_text(
            f"This machine was too slow: Freshet made only {ours.visits:,} requests, while the "
            "simulated policies\nmade all of theirs. Use a lower --speed for a fair comparison."
        )
    elif status.late_visits > MAX_LATE_SHARE * status.visits:
        print_text(
            f"This machine was too slow: {status.late_visits:,} of Freshet's visits started more "
            "than a simulated hour late,\nwhile the simulated policies are never late. Use a lower "
            "--speed for a fair comparison."
        )
    else:
        print_text(
            describe_scores(status.scores, options.requests_per_day(result.demo_collection.size))
        )


def describe_scores(scores: Sequence[CrawlerScore], budget: int) -> str:
    """Return the freshness and the number of changes found by each policy, as text.

    >>> ours = CrawlerScore("freshet", 9, 8, 0.8, 0.8)
    >>> print(describe_scores([ours, CrawlerScore("age", 9, 5, 0.7, 0.7)], 3))
    With the same 3 requests a day, Freshet's copies were fresh 80.0% of the time,
    against 70.0% (round-robin); it found 8 changes, against 5.
    """
    ours, *others = scores
    fresh = " and ".join(
        f"{score.freshness:.1%} ({POLICY_LABELS[score.policy]})" for score in others
    )
    changes_found = " and ".join(f"{score.changes_found:,}" for score in others)
    return (
        f"With the same {budget:,} requests a day, Freshet's copies were fresh "
        f"{ours.freshness:.1%} of the time,\nagainst {fresh}; it found "
        f"{ours.changes_found:,} changes, against {changes_found}."
    )


def _print_next_steps(result: DemoResult, keep: Path | None) -> None:
    if keep is None:
        print_text("\nTo keep the collection: freshet demo --keep DIR")
        return
    folder, url = keep / COLLECTION_FOLDER, result.demo_collection.url(0)
    print_text(f"\nThe collection is in {folder}; try", "bold")
    for command in ("why", "history", "diff"):
        print_text(f"  freshet {command} {url} -C {folder}")
    print_text(f"  freshet list --changed -C {folder}")


def _check_guarantees(verdicts: Sequence[AuditVerdict]) -> None:
    """Raise an error that lists the guarantees that were broken."""
    broken = [f"{check.promise} ({check.figures})" for check in verdicts if not check.kept]
    if broken:
        raise FreshetError(f"broken guarantees: {'; '.join(broken)}")
