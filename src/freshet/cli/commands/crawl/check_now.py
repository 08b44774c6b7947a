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
from freshet.cli.output import format_count, print_json, print_text
from freshet.cli.page_selection import select_pages
from freshet.collection.check_now import check_now as ask
from freshet.record.store import CollectionStore

app = new_app()


@app.command("check-now")
def check_now(
    urls: PagesArgument = None,
    tag: TagOption = "",
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Ask for visits now, before all others."""
    with CollectionStore.open(collection) as opened:
        asked = ask(opened, select_pages(opened, urls, tag, "" if tag else None))
    if as_json:
        print_json(asked)
        return
    then = f"{asked.crawl} takes them up" if asked.crawl else "no crawl runs: start 'freshet run'"
    print_text(f"Asked for {format_count(asked.pages, 'page')}; {then}.")
