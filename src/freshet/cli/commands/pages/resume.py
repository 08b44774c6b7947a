"""Resumed pages are scheduled again."""

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    PagesArgument,
    SourceOption,
    TagOption,
    new_app,
)
from freshet.cli.pause_state import set_paused

app = new_app()


@app.command()
def resume(
    urls: PagesArgument = None,
    tag: TagOption = "",
    source: SourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Visit paused pages again."""
    set_paused(collection, urls, tag, source, paused=False, as_json=as_json)
