"""Fetches only these pages, within the same limits as a crawl. For each page it prints the title
and the number of words and links, or why the page could not be read; then how likely the page is to
change within a day, and when the next visit is expected with the collection's budget. If the page
was visited before, it prints what changed since.

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
from freshet.cli.output import format_count, print_json, print_text, print_warning, progress_bar
from freshet.cli.page_selection import parse_tag_name
from freshet.core.errors import FreshetError
from freshet.core.local_time import format_to_second
from freshet.record.archive_writer import refuse_second_writer

if TYPE_CHECKING:
    from freshet.collection.watch import WatchNews, WatchResult
    from freshet.fetch.recording_loop import CrawlEvent

WAIT_SECONDS = 60.0

app = new_app()


@app.command()
def watch(
    urls: Annotated[list[str], typer.Argument(metavar="URL", help="URLs of the pages.")],
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="Tag for the pages; can be repeated.")
    ] = None,
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
    """Add pages, fetch them now, and show what to expect."""
    tags = tuple(parse_tag_name(text) for text in tag or ())
    refuse_second_writer(collection, allow_crawl=True)
    from freshet.cli.compile_notice import announce_compiling
    from freshet.fetch.run_crawl import run_crawl
    from freshet.fetch.watch import watch as watch_pages  # takes seconds to load

    announce_compiling()
    told = run_crawl if as_json else partial(run_crawl, listeners=[_tell_closings])
    with log_to_file(log_file), progress_bar("fetching", quiet=as_json):
        found = watch_pages(collection, urls, tags=tags, seconds=wait, budget=budget, run=told)
    if as_json:
        print_json(found)
    else:
        for sighting in found:
            _print(sighting)
    if not all(sighting.is_look for sighting in found):
        raise typer.Exit(FreshetError.exit_code)


def _tell_closings(tidings: "CrawlEvent") -> None:
    for closing in tidings.host_closings:
        print_warning(closing.sentence)


def _print(found: "WatchResult") -> None:
    print_text(found.page.url, "bold")
    print_text(f"  {_seen(found)}")
    if found.news is not None:
        print_text(f"  {_news(found.news)}")
    if found.visit is None:
        for obstacle in found.why.obstacles:
            print_text(f"  {obstacle}")
    print_text(f"  {_expected(found)}")


def _seen(found: "WatchResult") -> str:
    """Say what the visit showed."""
    if found.visit is None and found.why.host.closed_until is not None:
        return "not visited, as its host is closed; it stays asked for"
    if found.visit is None:
        return "not visited yet; it stays asked for"
    outcome = f"{found.visit.outcome}" + (f" ({found.visit.why})" if found.visit.why else "")
    if not found.is_look or found.words is None or found.links is None:
        return outcome
    shown = f"{format_count(found.words, 'word')}, {format_count(found.links, 'link')}"
    return f"{outcome}: {found.title or 'no title'}; {shown}"


def _news(news: "WatchNews") -> str:
    """Say whether the page changed since the look before, and what is new."""
    since = format_to_second(news.since)
    if not news.changed:
        return f"unchanged since {since}"
    words = f"{format_count(news.added, 'word')} added, {news.removed:,} removed"
    alike = "" if news.dice is None else f", Dice {news.dice:.3f}"
    new = f"; new: {news.snippet}" if news.snippet else ""
    return f"changed since {since}: {words}{alike}{new}"


def _expected(found: "WatchResult") -> str:
    """Say what the forecast is, and when the next check would be; why there is none was said."""
    check = f"next check {found.why.next_check}"
    if not found.forecast.obstacle:
        return f"forecast: {found.forecast.sentence}; {check}"
    return f"{found.advice}; {check}" if found.advice else check
