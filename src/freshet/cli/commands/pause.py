"""Paused pages keep their history and are left out of every plan."""

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
def pause(
    urls: PageUrls = None,
    tag: Tag = "",
    source: Source = None,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Stop visiting pages for now."""
    with Collection.open(collection) as opened:
        pages = chosen_pages(opened, urls, tag, source)
        opened.catalog.pause([page.id for page in pages])
    if as_json:
        print_json({"paused": len(pages)})
    else:
        say(f"Paused {counted(len(pages), 'page')}.")
