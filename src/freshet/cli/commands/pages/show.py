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
    PageSourceOption,
    new_app,
)
from freshet.cli.output import format_cell, print_json, print_table, print_text
from freshet.collection.page_overview import PageOverview, page_overview
from freshet.core.errors import UsageError
from freshet.record.collection_store import CollectionStore

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
    source: PageSourceOption = None,
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
    """Show the details of one page."""
    if html:
        if text or links or terms or dom or as_json:
            raise UsageError("--html cannot be combined with other parts or --json")
        with CollectionStore.open(collection) as store:
            page = store.page(url, source=source)
            write_page(page.snapshot(version).body)
        return
    selection = {"text": text, "links": links, "terms": terms, "dom": dom}
    parts = frozenset(name for name, is_selected in selection.items() if is_selected)
    with CollectionStore.open(collection) as store:
        overview = page_overview(store, store.page(url, source=source), version, parts)
    if as_json:
        print_json(overview)
    else:
        _print(overview)


def write_page(body: bytes) -> None:
    """Write a stored page to standard output, unless it is a terminal, which it could control."""
    if sys.stdout.isatty():
        raise UsageError(
            "a stored page is not written to a terminal; use a file: freshet show URL --html"
            " > page.html"
        )
    sys.stdout.flush()
    sys.stdout.buffer.write(body)
    sys.stdout.buffer.flush()


def _print(overview: PageOverview) -> None:
    """Print the selected parts of the version, or the overview of the page."""
    parts = (overview.text, overview.links, overview.terms, overview.dom)
    if all(part is None for part in parts):
        print_table(
            ("", ""), [(name, value) for name, value in overview.lines() if format_cell(value)]
        )
    if overview.text is not None:
        print_text(overview.text)
    if overview.links is not None:
        links = [(link.url, link.anchor, link.rel, link.internal) for link in overview.links]
        print_table(("link", "anchor", "rel", "internal"), links)
    if overview.terms is not None:
        print_table(("word", "count"), overview.terms.items())
    if overview.dom is not None:
        print_table(("element", "type path"), overview.dom)
