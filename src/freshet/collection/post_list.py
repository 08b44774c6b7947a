"""The posts that visits of a page have found."""

from dataclasses import dataclass
from datetime import datetime

from freshet.archive.catalog.posts import StoredPost, ThreadNote
from freshet.core.clock import from_epoch
from freshet.record.collection_reader import CollectionReader
from freshet.record.stored_page import StoredPage

NOT_LOOKED_FOR = (
    "posts have not been looked for on it; 'freshet watch URL --thread' or the objective "
    "timeliness does so"
)


@dataclass(frozen=True, slots=True)
class PagePost:
    """A post: its time, author and first characters, and the visit that found it.

    ``found`` is the time of that visit, and ``version`` its number among the versions of the page;
    None if the visit showed no version. ``text`` is None if it was not kept.
    """

    time: datetime
    author: str | None
    text: str | None
    found: datetime
    version: int | None


@dataclass(frozen=True, slots=True)
class PostList:
    """Posts of a page in the order of time, out of ``total``.

    ``reason`` says why the page is taken for a thread or not. ``continued_at`` is the page on which
    the thread goes on, empty if there is none.
    """

    posts: tuple[PagePost, ...]
    total: int
    reason: str
    continued_at: str


def list_posts(reader: CollectionReader, page: StoredPage, *, limit: int | None = None) -> PostList:
    """Return the posts of a page, all or the latest ones."""
    stored = reader.catalog.posts_of_page(page.id, latest=limit)
    note = reader.catalog.thread_note(page.id) or ThreadNote(NOT_LOOKED_FOR, None)
    versions = {item.row.visit.id: item.number for item in page.versions} if stored else {}
    posts = tuple(_page_post(post, versions.get(post.visit_id)) for post in stored)
    total = reader.catalog.post_counts([page.id]).get(page.id, 0)
    return PostList(posts, total, note.reason, note.next_page or "")


def _page_post(post: StoredPost, version: int | None) -> PagePost:
    found = from_epoch(post.found)
    return PagePost(from_epoch(post.time), post.author, post.text, found, version)
