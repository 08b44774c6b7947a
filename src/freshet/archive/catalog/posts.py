"""The posts that visits of threads have found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, func, select
from xxhash import xxh3_64_intdigest

from freshet.archive.catalog.database import TableStore, split_chunks
from freshet.archive.catalog.pages import restrict_to_live
from freshet.archive.catalog.rows import VisitEntry
from freshet.archive.catalog.schema import pages, posts, visits
from freshet.archive.catalog.visit_rows import to_signed
from freshet.core.tables import PageIdArray
from freshet.core.types import FloatArray

MAX_AUTHOR_CHARS = 100
POSTS: Select[Any] = (
    select(posts.c.page_id, posts.c.time, posts.c.author, visits.c.time)
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
class PostColumns:
    """The posts of several pages as columns, by page and by time."""

    pages: PageIdArray
    times: FloatArray
    found: FloatArray

    def __len__(self) -> int:
        return len(self.pages)


class PostTables(TableStore):
    """The table posts."""

    def posts_of_page(self, page_id: int, *, latest: int | None = None) -> list[StoredPost]:
        """Return the posts of a page in the order of time, all or the latest ones."""
        query = POSTS.where(posts.c.page_id == page_id)
        if latest is not None:
            query = query.order_by(None).order_by(posts.c.time.desc(), posts.c.identity)
            query = query.limit(latest)
        with self._read_engine.begin() as connection:
            rows = connection.execute(query).all()
        return sorted((StoredPost(*row[1:]) for row in rows), key=lambda post: post.time)

    def post_columns(self, page_ids: Sequence[int] | None = None) -> PostColumns:
        """Return the posts of some pages, or of all pages of the live crawl if None is given."""
        with self._read_engine.begin() as connection:
            if page_ids is None:
                query = POSTS.join(pages, pages.c.id == posts.c.page_id)
                rows = connection.execute(restrict_to_live(query, source="")).all()
            else:
                rows = [
                    row
                    for chunk in split_chunks(sorted(page_ids))
                    for row in connection.execute(POSTS.where(posts.c.page_id.in_(chunk)))
                ]
        return PostColumns(
            np.array([row[0] for row in rows], np.int64),
            np.array([row[1] for row in rows], np.float64),
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

    def _write_posts(
        self, connection: Connection, entries: Sequence[VisitEntry], ids: Mapping[bytes, int]
    ) -> None:
        """Write the posts of visits; a post that is known keeps its time and its visit."""
        rows = [
            {
                "page_id": entry.visit.page,
                "identity": to_signed(xxh3_64_intdigest(post.identity.encode("utf-8", "replace"))),
                "time": post.time,
                "author": post.author[:MAX_AUTHOR_CHARS] if post.author else None,
                "visit_id": ids[entry.visit.uid],
            }
            for entry in entries
            for post in entry.posts
        ]
        if rows:
            connection.execute(self._dialect.insert(posts).on_conflict_do_nothing(), rows)
