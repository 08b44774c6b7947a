"""Paused pages keep their history. They are not scheduled until `freshet resume`."""

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
def pause(
    urls: PagesArgument = None,
    tag: TagOption = "",
    source: SourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Stop visiting pages until they are resumed."""
    set_paused(collection, urls, tag, source, paused=True, as_json=as_json)
