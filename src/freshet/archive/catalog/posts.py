"""The posts that visits of threads have found, and where threads continue."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, bindparam, func, select, update
from xxhash import xxh3_64_intdigest

from freshet.archive.catalog.database import TableStore, split_chunks
from freshet.archive.catalog.pages import restrict_to_live
from freshet.archive.catalog.rows import ThreadLook, VisitEntry
from freshet.archive.catalog.schema import pages, posts, threads, visits
from freshet.archive.catalog.visit_rows import to_signed
from freshet.core.clock import to_epoch
from freshet.core.content.post_matching import PostRecord, match_posts, record_of
from freshet.core.content.posts import Post
from freshet.core.tables import PageIdArray
from freshet.core.types import FloatArray

POSTS: Select[Any] = (
    select(posts.c.page_id, posts.c.time, posts.c.author, visits.c.time, posts.c.identity)
    .join(visits, visits.c.id == posts.c.visit_id)
    .order_by(posts.c.page_id, posts.c.time, posts.c.identity)
)


@dataclass(frozen=True, slots=True)
class StoredPost:
    """A post: its time, author and first characters, and the visit that found it.

    Times are in epoch seconds. ``text`` is None if the post was found before texts were kept.
    """

    time: float
    author: str | None
    found: float
    text: str | None
    visit_id: int


@dataclass(frozen=True, slots=True)
class ThreadNote:
    """Why a page was taken for a thread or not, and the page on which the thread continues."""

    reason: str
    next_page: str | None


@dataclass(frozen=True, slots=True)
class PostColumns:
    """The posts of several pages as columns, by page and by time, with their identities.

    ``found`` are the times of the visits that found them.
    """

    pages: PageIdArray
    times: FloatArray
    identities: NDArray[np.int64]
    found: FloatArray

    def __len__(self) -> int:
        return len(self.pages)


class PostTables(TableStore):
    """The tables posts and threads."""

    def posts_of_page(self, page_id: int, *, latest: int | None = None) -> list[StoredPost]:
        """Return the posts of a page in the order of time, all or the latest ones."""
        query = POSTS.add_columns(posts.c.text, posts.c.visit_id)
        query = query.where(posts.c.page_id == page_id)
        if latest is not None:
            query = query.order_by(None).order_by(posts.c.time.desc(), posts.c.identity)
            query = query.limit(latest)
        with self._read_engine.begin() as connection:
            rows = connection.execute(query).all()
        return sorted((StoredPost(*row[1:4], *row[5:]) for row in rows), key=lambda post: post.time)

    def post_columns(self, page_ids: Sequence[int] | None = None) -> PostColumns:
        """Return the posts of some pages, or of all; only those of the live crawl, none removed."""
        query = restrict_to_live(POSTS.join(pages, pages.c.id == posts.c.page_id), source="")
        with self._read_engine.begin() as connection:
            if page_ids is None:
                rows = list(connection.execute(query))
            else:
                rows = [
                    row
                    for chunk in split_chunks(sorted(page_ids))
                    for row in connection.execute(query.where(posts.c.page_id.in_(chunk)))
                ]
        return PostColumns(
            np.array([row[0] for row in rows], np.int64),
            np.array([row[1] for row in rows], np.float64),
            np.array([row[4] for row in rows], np.int64),
            np.array([row[3] for row in rows], np.float64),
        )

    def post_counts(self, page_ids: Sequence[int]) -> dict[int, int]:
        """Return the number of posts of those of the pages that have some."""
        query = select(posts.c.page_id, func.count()).group_by(posts.c.page_id)
        counts: dict[int, int] = {}
        with self._read_engine.begin() as connection:
            for chunk in split_chunks(page_ids):
                rows = connection.execute(query.where(posts.c.page_id.in_(chunk)))
                counts.update((page, count) for page, count in rows)
        return counts

    def thread_note(self, page_id: int) -> ThreadNote | None:
        """Return what the last look at a page said of its thread; None if none was looked for."""
        query = select(threads.c.reason, threads.c.next_page).where(threads.c.page_id == page_id)
        with self._read_engine.begin() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else ThreadNote(*row)

    def pages_with_thread_notes(self, page_ids: Sequence[int]) -> set[int]:
        """Return those of the pages on which posts were looked for."""
        noted: set[int] = set()
        with self._read_engine.begin() as connection:
            for chunk in split_chunks(page_ids):
                query = select(threads.c.page_id).where(threads.c.page_id.in_(chunk))
                noted.update(connection.execute(query).scalars())
        return noted

    def next_pages(self) -> dict[int, str]:
        """Return where the threads of live pages continue, by the id of the page."""
        query = select(threads.c.page_id, threads.c.next_page)
        query = query.where(threads.c.next_page.is_not(None))
        live = restrict_to_live(select(pages.c.id), source="")
        with self._read_engine.begin() as connection:
            rows = connection.execute(query).all()
            # A join would read all pages, of which few have a thread.
            live_ids = {
                page_id
                for chunk in split_chunks([row.page_id for row in rows])
                for page_id in connection.execute(live.where(pages.c.id.in_(chunk))).scalars()
            }
        return {row.page_id: row.next_page for row in rows if row.page_id in live_ids}

    def _write_threads(
        self, connection: Connection, entries: Sequence[VisitEntry], ids: Mapping[bytes, int]
    ) -> None:
        """Write what visits showed of threads; a known post keeps its time and its visit."""
        looks = [(entry.visit, entry.thread) for entry in entries if entry.thread is not None]
        self._write_notes(connection, {visit.page: thread for visit, thread in looks})
        for visit, thread in looks:
            if thread.posts:
                known = self._known_posts(connection, visit.page)
                shown = [record_of(post, _stored_identity(post)) for post in thread.posts]
                matches = match_posts(known, shown, to_epoch(visit.time))
                new = [post for post, match in zip(shown, matches, strict=True) if match is None]
                self._insert_posts(connection, visit.page, ids[visit.uid], known, new)
                self._update_texts(connection, visit.page, known, shown, matches)

    def _known_posts(self, connection: Connection, page_id: int) -> list[PostRecord]:
        query = select(posts.c.identity, posts.c.time, posts.c.author, posts.c.text)
        rows = connection.execute(query.where(posts.c.page_id == page_id))
        return [PostRecord(*row) for row in rows]

    def _insert_posts(
        self,
        connection: Connection,
        page_id: int,
        visit_id: int,
        known: Sequence[PostRecord],
        new_posts: Sequence[PostRecord],
    ) -> None:
        """Insert new posts; one whose identity another post has gets an identity of its own."""
        taken = {post.identity for post in known}
        rows = [
            {
                "page_id": page_id,
                "identity": _other_identity(post) if post.identity in taken else post.identity,
                "time": post.time,
                "author": post.author,
                "visit_id": visit_id,
                "text": post.text,
            }
            for post in new_posts
        ]
        if rows:
            connection.execute(self._dialect.insert(posts).on_conflict_do_nothing(), rows)

    def _update_texts(
        self,
        connection: Connection,
        page_id: int,
        known: Sequence[PostRecord],
        shown: Sequence[PostRecord],
        matches: Sequence[int | None],
    ) -> None:
        """Keep the present texts of known posts that were edited."""
        rows = [
            {"edited": known[position].identity, "new_text": post.text}
            for post, position in zip(shown, matches, strict=True)
            if position is not None and known[position].text != post.text
        ]
        if rows:
            is_edited = (posts.c.page_id == page_id) & (posts.c.identity == bindparam("edited"))
            connection.execute(
                update(posts).where(is_edited).values(text=bindparam("new_text")), rows
            )

    def _write_notes(self, connection: Connection, looks: Mapping[int, ThreadLook]) -> None:
        rows = [
            {"page_id": page, "reason": look.reason, "next_page": look.next_page}
            for page, look in looks.items()
        ]
        if rows:
            insertion = self._dialect.insert(threads)
            values = {name: insertion.excluded[name] for name in ("reason", "next_page")}
            connection.execute(
                insertion.on_conflict_do_update(index_elements=["page_id"], set_=values), rows
            )


def _stored_identity(post: Post) -> int:
    return to_signed(xxh3_64_intdigest(post.identity.encode("utf-8", "replace")))


def _other_identity(post: PostRecord) -> int:
    """Return an identity of a post whose own one another post has."""
    content = f"{post.identity}\0{post.time:.0f}\0{post.author}\0{post.text}"
    return to_signed(xxh3_64_intdigest(content.encode("utf-8", "replace")))
