"""Shows the title, language, sizes and links of the last version, the page's settings and its
totals. --text, --links, --terms and --dom print that part of a version instead. --html writes the
stored page, with content encodings such as gzip removed, to a file or pipe: `freshet show URL
--html > page.html`.
"""

import sys
from typing import Annotated

import typer

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    PageArgument,
    SourceOption,
    new_app,
)
from freshet.cli.output import format_cell, print_json, print_table, print_text
from freshet.collection.page_overview import PageOverview, page_overview
from freshet.core.errors import UsageError
from freshet.record.store import CollectionStore

app = new_app()


@app.command()
def show(
    url: PageArgument,
    version: Annotated[
        str,
        typer.Option(
            metavar="A", help="Version to show: a number, -1 for the last one, or a time."
        ),
    ] = "-1",
    source: SourceOption = None,
    text: Annotated[bool, typer.Option("--text", help="Print the visible text.")] = False,
    links: Annotated[bool, typer.Option("--links", help="List the links.")] = False,
    terms: Annotated[
        bool, typer.Option("--terms", help="List the words with their counts.")
    ] = False,
    dom: Annotated[bool, typer.Option("--dom", help="List the DOM elements.")] = False,
    html: Annotated[
        bool,
        typer.Option(
            "--html", help="Write the stored page to standard output, which must be a file or pipe."
        ),
    ] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Show one page: what is known of it."""
    if html:
        if text or links or terms or dom or as_json:
            raise UsageError("--html writes the page alone; leave out the other parts and --json")
        with CollectionStore.open(collection) as opened:
            page = opened.page(url, source=source)
            write_page(page.snapshot(version).body)
        return
    wanted = {"text": text, "links": links, "terms": terms, "dom": dom}
    parts = frozenset(name for name, asked in wanted.items() if asked)
    with CollectionStore.open(collection) as opened:
        found = page_overview(opened, opened.page(url, source=source), version, parts)
    if as_json:
        print_json(found)
    else:
        _print(found)


def write_page(body: bytes) -> None:
    """Write a stored page to standard output, unless that is a terminal, which it could steer."""
    if sys.stdout.isatty():
        raise UsageError(
            "a terminal does not show a stored page; write it to a file: freshet show URL --html"
            " > page.html"
        )
    sys.stdout.flush()
    sys.stdout.buffer.write(body)
    sys.stdout.buffer.flush()


def _print(found: PageOverview) -> None:
    """Print what was asked for: parts of the version, or else what is known of the page."""
    if found.text is None and found.links is None and found.terms is None and found.dom is None:
        print_table(
            ("", ""), [(name, value) for name, value in found.lines() if format_cell(value)]
        )
    if found.text is not None:
        print_text(found.text)
    if found.links is not None:
        links = [(link.url, link.anchor, link.rel, link.internal) for link in found.links]
        print_table(("link", "anchor", "rel", "internal"), links)
    if found.terms is not None:
        print_table(("word", "count"), found.terms.items())
    if found.dom is not None:
        print_table(("element", "type path"), found.dom)
