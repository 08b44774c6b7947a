"""The posts that visits of threads have found, and where threads continue."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, func, select
from xxhash import xxh3_64_intdigest

from freshet.archive.catalog.database import TableStore, split_chunks
from freshet.archive.catalog.pages import restrict_to_live
from freshet.archive.catalog.rows import ThreadLook, VisitEntry
from freshet.archive.catalog.schema import pages, posts, threads, visits
from freshet.archive.catalog.visit_rows import to_signed
from freshet.core.content.posts import Post
from freshet.core.tables import PageIdArray
from freshet.core.types import FloatArray

MAX_AUTHOR_CHARS = 100
POSTS: Select[Any] = (
    select(posts.c.page_id, posts.c.time, posts.c.author, visits.c.time, posts.c.identity)
    .join(visits, visits.c.id == posts.c.visit_id)
    .order_by(posts.c.page_id, posts.c.time, posts.c.identity)
)


@dataclass(frozen=True, slots=True)
class StoredPost:
    """A post: its time, its author, and the time of the visit that found it, in epoch seconds."""

    time: float
    author: str | None
    found: float


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
        query = POSTS.where(posts.c.page_id == page_id)
        if latest is not None:
            query = query.order_by(None).order_by(posts.c.time.desc(), posts.c.identity)
            query = query.limit(latest)
        with self._read_engine.begin() as connection:
            rows = connection.execute(query).all()
        return sorted((StoredPost(*row[1:4]) for row in rows), key=lambda post: post.time)

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
        query = select(threads.c.page_id, threads.c.next_page).join(pages)
        query = restrict_to_live(query.where(threads.c.next_page.is_not(None)), source="")
        with self._read_engine.begin() as connection:
            rows = connection.execute(query).all()
        return {row.page_id: row.next_page for row in rows}

    def _write_threads(
        self, connection: Connection, entries: Sequence[VisitEntry], ids: Mapping[bytes, int]
    ) -> None:
        """Write what visits showed of threads; a known post keeps its time and its visit."""
        looks = [(entry.visit, entry.thread) for entry in entries if entry.thread is not None]
        self._write_notes(connection, {visit.page: thread for visit, thread in looks})
        for visit, thread in looks:
            rows = [
                {
                    "page_id": visit.page,
                    "identity": identity,
                    "time": post.time,
                    "author": _author(post),
                    "visit_id": ids[visit.uid],
                }
                for identity, post in self._new_posts(connection, visit.page, thread.posts)
            ]
            if rows:
                connection.execute(self._dialect.insert(posts).on_conflict_do_nothing(), rows)

    def _new_posts(
        self, connection: Connection, page_id: int, shown: Sequence[Post]
    ) -> list[tuple[int, Post]]:
        """Return the posts that a page shows and that are not known, by their stored identities.

        A post without an identity of its own is an edited one if a known post of the same time and
        author is no longer shown; so is any post if no known identity is shown.
        """
        query = select(posts.c.identity, posts.c.time, posts.c.author)
        known = connection.execute(query.where(posts.c.page_id == page_id)).all()
        shown_by_identity = {_stored_identity(post): post for post in shown}
        known_identities = {row.identity for row in known}
        missing = Counter(
            (round(row.time), row.author) for row in known if row.identity not in shown_by_identity
        )
        are_renamed = known_identities.isdisjoint(shown_by_identity)
        new_posts = []
        for identity, post in shown_by_identity.items():
            if identity in known_identities:
                continue
            moment = round(post.time), _author(post)
            if (are_renamed or not post.is_named) and missing[moment]:
                missing[moment] -= 1
                continue
            new_posts.append((identity, post))
        return new_posts

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


def _author(post: Post) -> str | None:
    return post.author[:MAX_AUTHOR_CHARS] if post.author else None
