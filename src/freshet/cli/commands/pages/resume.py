"""Paused pages are taken into plans again."""

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
def resume(
    urls: PageUrls = None,
    tag: Tag = "",
    source: Source = None,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Visit paused pages again."""
    set_paused(collection, urls, tag, source, paused=False, as_json=as_json)
