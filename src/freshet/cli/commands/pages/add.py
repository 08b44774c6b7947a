"""Takes URLs from the command line, from a text file with one URL per line (blank lines and lines
that begin with # are ignored), from a downloaded sitemap or from an OPML file. Adding a removed
page restores it with its history.

Invalid URLs are reported with their line and the reason, and the exit code is then 4; the valid
ones are added all the same. A user name and password in a URL are stored as the page's
Authorization header.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, JsonOption, new_app
from freshet.cli.output import print_json, print_text, print_warning
from freshet.cli.page_selection import parse_tag_name
from freshet.collection.add import (
    AddSummary,
    ListedUrl,
    add_pages,
    parse_opml_urls,
    parse_sitemap_urls,
    parse_url_list,
)
from freshet.core.errors import BadInputError, UsageError
from freshet.core.humanize import count_text
from freshet.record.collection_store import CollectionStore

STDIN = Path("-")

app = new_app()


@app.command()
def add(
    urls: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="URLs of the pages to add.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Text file with one URL per line; - reads standard input."
        ),
    ] = None,
    sitemap: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Downloaded sitemap (XML or plain text).")
    ] = None,
    opml: Annotated[
        Path | None, typer.Option(metavar="FILE", help="OPML file with feeds or pages.")
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG", help="Tag for the added pages; can be repeated."),
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Add pages to the collection."""
    tags = tuple(parse_tag_name(text) for text in tag or ())
    readers = ((file, parse_url_list), (sitemap, parse_sitemap_urls), (opml, parse_opml_urls))
    listed_urls = [
        url
        for path, parse_file in readers
        if path is not None
        for url in _read_urls(path, parse_file)
    ]
    all_urls = [*map(ListedUrl, urls or []), *listed_urls]
    if not all_urls:
        raise UsageError("nothing to add; give URLs, or --file, --sitemap or --opml")
    with CollectionStore.open(collection) as store:
        summary = add_pages(store, all_urls, tags=tags)
    if as_json:
        print_json(summary)
    else:
        print_text(_summary_text(summary))
    for note in summary.notes:
        print_warning(note)
    for row in summary.refused:
        print_warning(f"{row.place}: {row.why}")
    if summary.refused:
        raise typer.Exit(BadInputError.exit_code)


def _summary_text(summary: AddSummary) -> str:
    """Return the numbers of pages; restored ones are named only if there are any."""
    text = f"Added {count_text(summary.new, 'page')}; {summary.known:,} already existed"
    if summary.restored:
        verb = (
            "was removed before and is" if summary.restored == 1 else "were removed before and are"
        )
        text += f"; {summary.restored:,} {verb} watched again, with the earlier history"
    return f"{text}."


def _read_urls(path: Path, parse_file: Callable[..., list[ListedUrl]]) -> list[ListedUrl]:
    """Return the URLs listed in a file; a file without URLs is an error."""
    urls = parse_file(_read_text(path), name="standard input" if path == STDIN else str(path))
    if not urls:
        raise BadInputError(f"{path} contains no URL; check that the file has the right format")
    return urls


def _read_text(path: Path) -> str:
    try:
        if path == STDIN:
            return sys.stdin.read()
        return path.read_text("utf-8-sig", errors="replace")
    except OSError as error:
        hint = "save it to a file first" if ":/" in str(path) else "check the name"
        raise BadInputError(f"{path} cannot be read: {error.strerror}; {hint}") from error
