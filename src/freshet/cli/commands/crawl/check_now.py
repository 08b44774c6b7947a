"""A crawl that runs takes the pages up within a second, before anything else, as far as their
hosts' clocks and the day's budget allow. Without one they come first in the next crawl.
"""

from freshet.cli.options import DEFAULT_COLLECTION, AsJson, CollectionDir, PageUrls, Tag, new_app
from freshet.cli.output import counted, print_json, say
from freshet.cli.page_selection import chosen_pages
from freshet.collection.check_now import check_now as ask
from freshet.record.store import CollectionStore

app = new_app()


@app.command("check-now")
def check_now(
    urls: PageUrls = None,
    tag: Tag = "",
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Ask for visits now, before all others."""
    with CollectionStore.open(collection) as opened:
        asked = ask(opened, chosen_pages(opened, urls, tag, "" if tag else None))
    if as_json:
        print_json(asked)
        return
    then = f"{asked.crawl} takes them up" if asked.crawl else "no crawl runs: start 'freshet run'"
    say(f"Asked for {counted(asked.pages, 'page')}; {then}.")
