"""Paused pages are taken into plans again."""

from freshet.cli.choice import chosen_pages
from freshet.cli.options import (
    DEFAULT_COLLECTION,
    AsJson,
    CollectionDir,
    PageUrls,
    Source,
    Tag,
    new_app,
)
from freshet.cli.output import counted, print_json, say
from freshet.flow.collection import Collection

app = new_app()


@app.command()
def resume(
    urls: PageUrls = None,
    tag: Tag = "",
    source: Source = None,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Visit paused pages again."""
    with Collection.open(collection) as opened:
        pages = chosen_pages(opened, urls, tag, source)
        opened.catalog.resume([page.id for page in pages])
    if as_json:
        print_json({"resumed": len(pages)})
    else:
        say(f"Resumed {counted(len(pages), 'page')}.")
