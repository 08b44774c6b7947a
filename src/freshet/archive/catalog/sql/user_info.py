"""Passwords that earlier versions left in the catalog: where they are, and how they leave it."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Table, select, update

from freshet.archive.catalog.schema import bad_rows, hosts, pages, visits
from freshet.archive.catalog.sql.pages import PAGE_QUERY, read_pages
from freshet.archive.catalog.sql.store import TableStore, split_chunks
from freshet.core.redaction import redact_user_info
from freshet.core.types import Page


class UserInfoTables(TableStore):
    """The columns of the catalog that may hold a user name and password."""

    def pages_with_user_info(self, *, is_removed: bool) -> list[Page]:
        """Return the pages of all sources whose URL holds a user name or password.

        Either those that were removed, or those that were not.
        """
        is_wanted = pages.c.removed.is_not(None) if is_removed else pages.c.removed.is_(None)
        query = PAGE_QUERY.where(is_wanted, pages.c.url.like("http%://%@%")).order_by(pages.c.id)
        with self._engine.begin() as connection:
            candidates = read_pages(connection, connection.execute(query).all())
        return [page for page in candidates if "@" in page.url.split("/", 3)[2]]

    def set_page_url(self, page_id: int, url: str) -> bool:
        """Give a page another URL; False where a page of its source has that one already."""
        source = select(pages.c.source).where(pages.c.id == page_id).scalar_subquery()
        same = select(pages.c.id).where(pages.c.url == url, pages.c.source == source)
        with self._writing.begin() as connection:
            if connection.execute(same).first() is not None:
                return False
            connection.execute(update(pages).where(pages.c.id == page_id).values(url=url))
        return True

    def redact_user_info(self, page_ids: Sequence[int]) -> None:
        """Blank passwords in what is said of these pages' visits, of hosts and of bad rows."""
        with self._writing.begin() as connection:
            for piece in split_chunks(page_ids):
                _blank(connection, visits, visits.c.id, visits.c.why, visits.c.page_id.in_(piece))
            _blank(connection, hosts, hosts.c.host, hosts.c.robots)
            _blank(connection, bad_rows, bad_rows.c.id, bad_rows.c.place)
            _blank(connection, bad_rows, bad_rows.c.id, bad_rows.c.why)


def _blank(
    connection: Connection,
    table: Table,
    key: Column[Any],
    text: Column[Any],
    *conditions: ColumnElement[bool],
) -> None:
    query = select(key, text).where(text.like("%@%"), *conditions)
    for identity, said in connection.execute(query).all():
        change = update(table).where(key == identity)
        connection.execute(change.values({text.name: redact_user_info(said)}))
