"""Paused pages keep their history and are left out of every plan."""

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    AsJson,
    CollectionDir,
    PageUrls,
    Source,
    Tag,
    new_app,
)
from freshet.cli.pause_state import set_paused

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
    set_paused(collection, urls, tag, source, paused=True, as_json=as_json)
