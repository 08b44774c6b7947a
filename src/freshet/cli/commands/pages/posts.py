"""Columns: `time` is when the post was written, as the page says; `author`; `text` are its first
words, as the last visit that showed it had them; `found` is the time of the visit that found it,
and `v` its version number, which `freshet history`, `diff` and `show` use.

Posts are looked for on pages with the setting `page.thread = "yes"`, which `freshet watch --thread`
makes, and on all pages with the objective `timeliness`. Edited and deleted posts stay in the list.
A page without posts says why it was not taken for a thread. If the thread continues on another
page, that page is named; its posts are listed with its own URL.
"""

from typing import Annotated

import typer

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    PageArgument,
    PageSourceOption,
    new_app,
)
from freshet.cli.output import print_json, print_table, print_text
from freshet.collection.page import CollectionPage
from freshet.collection.post_list import PostList
from freshet.core.humanize import count_text
from freshet.record.collection_store import CollectionStore

DEFAULT_LIMIT = 20
MAX_SHOWN_CHARS = 60

app = new_app()


@app.command()
def posts(
    url: PageArgument,
    limit: Annotated[
        int, typer.Option(min=0, metavar="N", help="Show only the latest N posts; 0 shows all.")
    ] = DEFAULT_LIMIT,
    source: PageSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """List the posts of a thread, with the visits that found them."""
    with CollectionStore.open(collection) as store:
        page = CollectionPage(store.find_page(url, source=source), store)
        post_list = page.posts(limit=limit or None)
    if as_json:
        print_json(post_list)
    else:
        _print(page.url, post_list)


def _print(url: str, post_list: PostList) -> None:
    if post_list.posts:
        rows = [
            (post.time, post.author, _first_words(post.text), post.found, post.version)
            for post in post_list.posts
        ]
        print_table(("time", "author", "text", "found", "v"), rows)
        hidden = post_list.total - len(post_list.posts)
        older = f"; {hidden:,} older ones are not shown, see --limit" if hidden else ""
        print_text(f"{count_text(post_list.total, 'post')}{older}.")
    else:
        print_text(f"{url} has no posts: {post_list.reason}.")
    if post_list.continued_at:
        print_text(f"The thread continues at {post_list.continued_at}")


def _first_words(text: str | None) -> str | None:
    """Return the beginning of a text, up to a space.

    >>> _first_words("so " * 30)
    'so so so so so so so so so so so so so so so so so so so …'
    """
    if text is None or len(text) <= MAX_SHOWN_CHARS:
        return text
    start = text[: MAX_SHOWN_CHARS - 2]
    return f"{start.rpartition(' ')[0] or start} …"
