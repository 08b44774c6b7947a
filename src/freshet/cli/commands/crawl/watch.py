"""Fetches only these pages, within the same limits as a crawl. For each page it prints the title
and the number of words and links, or why the page could not be read; then how likely the page is to
change within a day, and when the next visit is expected with the collection's budget. If the page
was visited before, it prints what changed since. Of a thread it prints how many posts were found
and when the next one is expected.

If a crawl is running, it is asked to fetch the pages, and this command waits for its visits. Hosts
that go into back-off are reported on standard error. If all remaining pages are on hosts in
back-off for longer than --wait, the command ends at once.

Dice is the similarity of the words of two versions: 0 means no common words, 1 the same words.

Exit codes: 0 every page was looked at; 1 a page could not be looked at; 2 wrong usage, a wrong
setting, or --budget while a crawl is running; 3 no collection; 4 an argument is not a URL; 6
another command is writing to the archive; 130 interrupted.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from freshet.cli.json_log import log_to_file
from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, JsonOption, new_app
from freshet.cli.output import print_json, print_text, print_warning, progress_bar
from freshet.cli.page_selection import parse_tag_name
from freshet.core.errors import FreshetError
from freshet.core.humanize import count_text
from freshet.core.local_time import format_to_second
from freshet.record.writer_lock import refuse_second_writer

if TYPE_CHECKING:
    from freshet.collection.watch import WatchNews, WatchResult
    from freshet.fetch.event_dispatcher import CrawlEvent

WAIT_SECONDS = 60.0

app = new_app()


@app.command()
def watch(
    urls: Annotated[list[str], typer.Argument(metavar="URL", help="URLs of the pages.")],
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="Tag for the pages; can be repeated.")
    ] = None,
    thread: Annotated[
        bool,
        typer.Option(
            "--thread",
            help="Look for posts on the pages, and forecast the next one. With the objective "
            "timeliness, posts are looked for on all pages.",
        ),
    ] = False,
    wait: Annotated[
        float,
        typer.Option(
            min=0, metavar="SECONDS", help="Maximum time to wait for the visits, in seconds."
        ),
    ] = WAIT_SECONDS,
    budget: Annotated[
        str,
        typer.Option(
            metavar="N",
            help="Page requests per day for this command: 500, 20/hour, or 5% of the pages. "
            "Default: the budget setting.",
        ),
    ] = "",
    log_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Append events to this file as JSON lines; - writes to standard error.",
        ),
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Add pages, fetch them now, and show a first forecast."""
    tags = tuple(parse_tag_name(text) for text in tag or ())
    refuse_second_writer(collection, allow_crawl=True)
    from freshet.cli.compile_notice import announce_compiling
    from freshet.collection.watch import WatchOptions
    from freshet.fetch.run_crawl import run_crawl
    from freshet.fetch.watch import watch as watch_pages  # takes seconds to load

    announce_compiling()
    crawl_and_report = run_crawl if as_json else partial(run_crawl, listeners=[_print_closed_hosts])
    with log_to_file(log_file), progress_bar("fetching", quiet=as_json):
        results = watch_pages(
            collection,
            urls,
            options=WatchOptions(tags, thread),
            seconds=wait,
            budget=budget,
            run=crawl_and_report,
        )
    if as_json:
        print_json(results)
    else:
        for result in results:
            _print(result)
    if not all(result.is_look for result in results):
        raise typer.Exit(FreshetError.exit_code)


def _print_closed_hosts(event: "CrawlEvent") -> None:
    for closing in event.host_closings:
        print_warning(closing.sentence)


def _print(result: "WatchResult") -> None:
    print_text(result.page.url, "bold")
    print_text(f"  {_describe_visit(result)}")
    if result.news is not None:
        print_text(f"  {_describe_news(result.news)}")
    if result.visit is None:
        for obstacle in result.why.obstacles:
            print_text(f"  {obstacle}")
    print_text(f"  {_describe_forecast(result)}")
    if result.forecast.thread_text and result.forecast.next_post is None:
        print_text(f"  {result.forecast.thread_text}")


def _describe_visit(result: "WatchResult") -> str:
    """Return what the visit found."""
    if result.visit is None and result.why.host.closed_until is not None:
        return "not visited because its host is closed; the visit stays requested"
    if result.visit is None:
        return "not visited yet; the visit stays requested"
    outcome = f"{result.visit.outcome}" + (f" ({result.visit.why})" if result.visit.why else "")
    if not result.is_look or result.words is None or result.links is None:
        return outcome
    sizes = f"{count_text(result.words, 'word')}, {count_text(result.links, 'link')}"
    return f"{outcome}: {result.title or 'no title'}; {sizes}"


def _describe_news(news: "WatchNews") -> str:
    """Return whether the page changed since the previous look, and what is new."""
    since = format_to_second(news.since)
    if not news.changed:
        return f"unchanged since {since}"
    words = f"{count_text(news.added, 'word')} added, {news.removed:,} removed"
    similarity = "" if news.dice is None else f", Dice {news.dice:.3f}"
    snippet = f"; new: {news.snippet}" if news.snippet else ""
    return f"changed since {since}: {words}{similarity}{snippet}"


def _describe_forecast(result: "WatchResult") -> str:
    """Return the forecast, if there is one, and the time of the next visit."""
    next_visit = f"next check {result.why.next_check}"
    if not result.forecast.obstacle:
        return f"forecast: {result.forecast.sentence}; {next_visit}"
    return f"{result.advice}; {next_visit}" if result.advice else next_visit
