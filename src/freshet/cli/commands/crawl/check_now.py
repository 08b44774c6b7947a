"""A running crawl takes the pages up within a second, before all others, as far as the delays of
their hosts and the daily budget allow. If no crawl is running, the next one visits them first.
"""

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    PagesArgument,
    TagOption,
    new_app,
)
from freshet.cli.output import print_json, print_text
from freshet.cli.page_selection import select_pages
from freshet.collection.check_now import check_now as ask
from freshet.core.humanize import count_text
from freshet.record.collection_store import CollectionStore

app = new_app()


@app.command("check-now")
def check_now(
    urls: PagesArgument = None,
    tag: TagOption = "",
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Request visits that come before all others."""
    with CollectionStore.open(collection) as store:
        request = ask(store, select_pages(store, urls, tag, "" if tag else None))
    if as_json:
        print_json(request)
        return
    next_step = (
        f"{request.crawl} will visit them"
        if request.crawl
        else "no crawl is running: start 'freshet run'"
    )
    print_text(f"Requested {count_text(request.pages, 'page')}; {next_step}.")
