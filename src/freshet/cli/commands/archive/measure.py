"""Rows of the past change only by this command: after `counts_as` was set, or with a newer
Freshet, `--again` compares the stored versions anew.
"""

from typing import Annotated

import typer

from freshet.cli.options import DEFAULT_COLLECTION, AsJson, CollectionDir, Source, Tag, new_app
from freshet.cli.output import counted, print_json, say
from freshet.cli.page_selection import chosen_pages
from freshet.core.errors import UsageError
from freshet.record.remeasure_pages import measure_again
from freshet.record.store import CollectionStore

app = new_app()


@app.command()
def measure(
    urls: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="The pages; else all.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Replace what was measured.")] = False,
    tag: Tag = "",
    source: Source = None,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Measure stored versions again."""
    if not again:
        raise UsageError("new visits are measured as they come; say --again to measure old ones")
    everything = not urls and not tag and source is None
    with CollectionStore.open(collection) as opened:
        pages = opened.pages() if everything else chosen_pages(opened, urls, tag, source)
        measured = measure_again(opened, pages)
    if as_json:
        print_json({"measured": measured})
    else:
        say(f"Measured {counted(measured, 'visit')} again.")
