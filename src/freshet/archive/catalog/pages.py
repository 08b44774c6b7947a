"""Pages, their tags and their settings."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    Table,
    bindparam,
    delete,
    select,
    update,
)

from freshet.archive.catalog.database import BulkInsert, KeyLookup, TableStore, split_chunks
from freshet.archive.catalog.rows import AddedPages, NewPage
from freshet.archive.catalog.schema import bad_rows, hosts, pages, tag_settings, tags, visits
from freshet.core.clock import from_epoch, to_epoch
from freshet.core.errors import NotFoundError
from freshet.core.redaction import redact_url, redact_user_info
from freshet.core.settings import UNREADABLE_KEY
from freshet.core.types import Page, PageKey

PAGE_TAGS = (
    select(tags.c.page_id, tags.c.tag)
    .where(tags.c.page_id.in_(bindparam("ids", expanding=True)))
    .order_by(tags.c.tag)
)
PAGE_QUERY: Select[Any] = select(
    pages.c.id, pages.c.url, pages.c.source, pages.c.host, pages.c.site, pages.c.directory,
    pages.c.added, pages.c.paused,
)  # fmt: skip
PAGES_PER_BATCH = 1000
NO_SETTINGS = "{}"


class PageTables(TableStore):
    """The tables pages, tags and tag_settings."""

    @cached_property
    def _insert_pages(self) -> BulkInsert:
        return BulkInsert(pages, self._read_engine)

    @cached_property
    def _page_id_by_url(self) -> KeyLookup:
        query = select(pages.c.url, pages.c.id).where(pages.c.source == "")
        return KeyLookup(query, pages.c.url, self._read_engine)

    def add_pages(self, items: Sequence[NewPage], now: datetime) -> AddedPages:
        """Add the pages that are missing; return the ids of all of them, and which are new."""
        keys = [item.key for item in items]
        with self._read_engine.begin() as connection:
            ids = self._ids_by_key(connection, keys)
        new_ids: dict[PageKey, int] = {}
        if any(key not in ids for key in keys):
            with self._write_engine.begin() as connection:
                ids, new_ids = self._insert_missing(connection, items, now)
        ids = ids | new_ids
        return AddedPages([ids[key] for key in keys], frozenset(new_ids.values()))

    def _insert_missing(
        self, connection: Connection, items: Sequence[NewPage], now: datetime
    ) -> tuple[dict[PageKey, int], dict[PageKey, int]]:
        """Return the ids of the pages that existed, and of those that were added."""
        ids = self._ids_by_key(connection, [item.key for item in items])
        missing = {item.key: item for item in items if item.key not in ids}
        if not missing:
            return ids, {}
        numbers = self._reserve_ids(connection, "pages", len(missing))
        new_ids = dict(zip(missing, numbers, strict=True))
        self._insert_pages.run(connection, _page_columns(new_ids, missing.values(), now))
        return ids, new_ids

    def _ids_by_key(self, connection: Connection, keys: Sequence[PageKey]) -> dict[PageKey, int]:
        urls_by_source: dict[str, dict[str, None]] = {}
        for key in keys:
            urls_by_source.setdefault(key.source, {})[key.url] = None
        return {
            PageKey(url, source): page_id
            for source, urls in urls_by_source.items()
            for url, page_id in self._page_id_by_url.run(connection, list(urls), source)
        }

    def page(self, key: PageKey) -> Page:
        """Return the page with that identity, removed or not."""
        query = PAGE_QUERY.where(pages.c.source == key.source, pages.c.url == key.url)
        with self._read_engine.begin() as connection:
            matches = read_pages(connection, connection.execute(query).all())
        if not matches:
            url = redact_url(key.url)
            raise NotFoundError(f"{url}: no such page; add it with 'freshet add {url}'")
        return matches[0]

    def pages(
        self,
        *,
        tag: str | None = None,
        host: str | None = None,
        source: str | None = None,
        after_id: int = 0,
        limit: int | None = None,
    ) -> Iterator[Page]:
        """Yield the pages that were not removed, by id, without holding a transaction open."""
        remaining = limit
        query = restrict_to_live(PAGE_QUERY, tag=tag, host=host, source=source)
        while remaining is None or remaining > 0:
            size = PAGES_PER_BATCH if remaining is None else min(remaining, PAGES_PER_BATCH)
            batch = self._page_batch(query, after_id, size)
            yield from batch
            if len(batch) < size:
                return
            after_id = batch[-1].id
            remaining = None if remaining is None else remaining - size

    def _page_batch(self, query: Select[Any], after_id: int, size: int) -> list[Page]:
        batch = query.where(pages.c.id > after_id).order_by(pages.c.id).limit(size)
        with self._read_engine.begin() as connection:
            return read_pages(connection, connection.execute(batch).all())

    def pages_by_id(self, page_ids: Sequence[int]) -> dict[int, Page]:
        """Return the pages with these ids, removed or not; unknown ids are left out."""
        matches: list[Page] = []
        with self._read_engine.begin() as connection:
            for chunk in split_chunks(page_ids):
                query = PAGE_QUERY.where(pages.c.id.in_(chunk))
                matches += read_pages(connection, connection.execute(query).all())
        return {page.id: page for page in matches}

    def page_ids(self, keys: Sequence[PageKey]) -> dict[PageKey, int]:
        """Return the ids of the pages with these identities; missing pages are left out."""
        with self._read_engine.begin() as connection:
            return self._ids_by_key(connection, keys)

    def pages_with_url(self, url: str) -> list[Page]:
        """Return the pages with a URL, one for each source; removed ones are left out."""
        query = restrict_to_live(PAGE_QUERY).where(pages.c.url == url).order_by(pages.c.source)
        with self._read_engine.begin() as connection:
            return read_pages(connection, connection.execute(query).all())

    def pages_with_user_info(self, *, is_removed: bool) -> list[Page]:
        """Return the pages of all sources whose URL holds a user name or password.

        Either the removed pages or the others.
        """
        has_state = pages.c.removed.is_not(None) if is_removed else pages.c.removed.is_(None)
        query = PAGE_QUERY.where(has_state, pages.c.url.like("http%://%@%")).order_by(pages.c.id)
        with self._read_engine.begin() as connection:
            candidates = read_pages(connection, connection.execute(query).all())
        return [page for page in candidates if "@" in page.url.split("/", 3)[2]]

    def set_page_url(self, page_id: int, url: str) -> bool:
        """Give a page another URL; return False if its source already has a page with that URL."""
        source = select(pages.c.source).where(pages.c.id == page_id).scalar_subquery()
        same = select(pages.c.id).where(pages.c.url == url, pages.c.source == source)
        with self._write_engine.begin() as connection:
            if connection.execute(same).first() is not None:
                return False
            connection.execute(update(pages).where(pages.c.id == page_id).values(url=url))
        return True

    def redact_user_info(self, page_ids: Sequence[int]) -> None:
        """Redact passwords in the notes on these pages' visits, on hosts and on bad rows.

        Earlier versions stored them there.
        """
        with self._write_engine.begin() as connection:
            for chunk in split_chunks(page_ids):
                of_pages = visits.c.page_id.in_(chunk)
                _redact_column(connection, visits, visits.c.id, visits.c.why, of_pages)
            _redact_column(connection, hosts, hosts.c.host, hosts.c.robots)
            _redact_column(connection, bad_rows, bad_rows.c.id, bad_rows.c.place)
            _redact_column(connection, bad_rows, bad_rows.c.id, bad_rows.c.why)

    def remove_pages(self, page_ids: Sequence[int], now: datetime, *, purge: bool = False) -> None:
        """Remove pages from the live list; with ``purge`` delete everything about them."""
        if not purge:
            self._update_pages(page_ids, removed=to_epoch(now))
            return
        with self._write_engine.begin() as connection:
            for chunk in split_chunks(page_ids):
                connection.execute(delete(pages).where(pages.c.id.in_(chunk)))

    def restore_pages(self, page_ids: Sequence[int]) -> None:
        """Put removed pages back on the live list."""
        self._update_pages(page_ids, removed=None)

    def pause_pages(self, page_ids: Sequence[int]) -> None:
        """Leave pages out of plans until they are resumed."""
        self._update_pages(page_ids, paused=True)

    def resume_pages(self, page_ids: Sequence[int]) -> None:
        """Take paused pages into plans again."""
        self._update_pages(page_ids, paused=False)

    def _update_pages(self, page_ids: Sequence[int], **values: Any) -> None:
        with self._write_engine.begin() as connection:
            for chunk in split_chunks(page_ids):
                connection.execute(update(pages).where(pages.c.id.in_(chunk)).values(**values))

    def tag_pages(self, page_ids: Sequence[int], tag: str) -> None:
        """Give pages a tag; pages that have it keep it."""
        rows = [{"page_id": page_id, "tag": tag} for page_id in page_ids]
        with self._write_engine.begin() as connection:
            if rows:
                connection.execute(self._dialect.insert(tags).on_conflict_do_nothing(), rows)

    def untag_pages(self, page_ids: Sequence[int], tag: str) -> None:
        """Remove a tag from pages."""
        with self._write_engine.begin() as connection:
            for chunk in split_chunks(page_ids):
                tagged = tags.c.page_id.in_(chunk), tags.c.tag == tag
                connection.execute(delete(tags).where(*tagged))

    def page_settings(self, page_id: int) -> dict[str, Any]:
        """Return the settings of this page alone."""
        query = select(pages.c.settings).where(pages.c.id == page_id)
        with self._read_engine.begin() as connection:
            text = connection.execute(query).scalar()
        if text is None:
            raise NotFoundError(
                f"page {page_id} is not in the catalog; 'freshet list' shows the pages"
            )
        return parse_settings(text)

    def set_page_settings(self, page_id: int, settings: Mapping[str, Any]) -> None:
        """Replace the settings of this page alone."""
        self._update_pages([page_id], settings=json.dumps(dict(settings)))

    def update_page_settings(self, settings: Mapping[int, Mapping[str, Any]]) -> None:
        """Add to the settings of pages, given by page id."""
        with self._write_engine.begin() as connection:
            for chunk in split_chunks(list(settings)):
                query = select(pages.c.id, pages.c.settings).where(pages.c.id.in_(chunk))
                for page_id, text in connection.execute(query).all():
                    updated = json.dumps(parse_settings(text) | dict(settings[page_id]))
                    statement = update(pages).where(pages.c.id == page_id)
                    connection.execute(statement.values(settings=updated))

    def setting_overrides(self, page_ids: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
        """Return the settings of pages that have any: those of their tags, then their own."""
        overrides: dict[int, list[dict[str, Any]]] = {}
        chunks = list(split_chunks(page_ids))
        with self._read_engine.begin() as connection:
            for query in (*map(_tag_settings_of, chunks), *map(_own_settings_of, chunks)):
                for page_id, text in connection.execute(query):
                    overrides.setdefault(page_id, []).append(parse_settings(text))
        return overrides

    def tag_settings(self, tag: str) -> dict[str, Any]:
        """Return the settings for all pages with a tag; empty if there are none."""
        query = select(tag_settings.c.settings).where(tag_settings.c.tag == tag)
        with self._read_engine.begin() as connection:
            return parse_settings(connection.execute(query).scalar() or NO_SETTINGS)

    def set_tag_settings(self, tag: str, settings: Mapping[str, Any]) -> None:
        """Replace the settings for all pages with a tag."""
        row = {"tag": tag, "settings": json.dumps(dict(settings))}
        insertion = self._dialect.insert(tag_settings).values(row)
        with self._write_engine.begin() as connection:
            connection.execute(
                insertion.on_conflict_do_update(
                    index_elements=["tag"], set_={"settings": insertion.excluded.settings}
                )
            )

    def settings_with(self, name: str) -> list[dict[str, Any]]:
        """Return the settings of live pages and of tags in use that have a setting of this name."""
        has_name = f'%"{name}"%'
        own = select(pages.c.settings).where(pages.c.settings != NO_SETTINGS)
        joined = tag_settings.join(tags, tags.c.tag == tag_settings.c.tag)
        of_tags = select(tag_settings.c.settings).select_from(
            joined.join(pages, pages.c.id == tags.c.page_id)
        )
        queries = (
            own.where(pages.c.settings.like(has_name)),
            of_tags.where(tag_settings.c.settings.like(has_name)),
        )
        with self._read_engine.begin() as connection:
            texts = {
                text
                for query in queries
                for (text,) in connection.execute(restrict_to_live(query.distinct()))
            }
        return [table for table in map(parse_settings, sorted(texts)) if name in table]

    def unreadable_settings(self) -> list[str]:
        """Return the pages, by URL, and the tags whose settings are damaged."""
        page_query = select(pages.c.url, pages.c.settings).where(pages.c.settings != NO_SETTINGS)
        tag_query = select(tag_settings.c.tag, tag_settings.c.settings)
        with self._read_engine.begin() as connection:
            page_rows = connection.execute(page_query).all()
            tag_rows = connection.execute(tag_query).all()
        named = [(redact_url(url), text) for url, text in page_rows]
        named += [(f"tag {tag}", text) for tag, text in tag_rows]
        return [name for name, text in named if UNREADABLE_KEY in parse_settings(text)]


def restrict_to_live(
    query: Select[Any],
    *,
    tag: str | None = None,
    host: str | None = None,
    source: str | None = None,
) -> Select[Any]:
    """Restrict a query on pages to those not removed, and to a tag, a host or a source."""
    query = query.where(pages.c.removed.is_(None))
    if tag is not None:
        query = query.where(pages.c.id.in_(select(tags.c.page_id).where(tags.c.tag == tag)))
    if host is not None:
        query = query.where(pages.c.host == host)
    if source is not None:
        query = query.where(pages.c.source == source)
    return query


def read_pages(connection: Connection, rows: Sequence[Sequence[Any]]) -> list[Page]:
    """Convert rows that begin with the columns of PAGE_QUERY to pages, with their tags."""
    tags_by_page: dict[int, list[str]] = {}
    for chunk in split_chunks([row[0] for row in rows]):
        for page_id, tag in connection.execute(PAGE_TAGS, {"ids": chunk}):
            tags_by_page.setdefault(page_id, []).append(tag)
    return [_to_page(row, tuple(tags_by_page.get(row[0], ()))) for row in rows]


def parse_settings(text: str) -> dict[str, Any]:
    """Parse stored settings; damaged ones are marked, so that they differ from no settings.

    >>> parse_settings('{"importance": 2}'), parse_settings("{nojson"), parse_settings("1")
    ({'importance': 2}, {'unreadable': True}, {'unreadable': True})
    """
    try:
        settings = json.loads(text)
    except ValueError:
        settings = None
    return settings if isinstance(settings, dict) else {UNREADABLE_KEY: True}


def _tag_settings_of(page_ids: Sequence[int]) -> Select[Any]:
    joined = tags.join(tag_settings, tag_settings.c.tag == tags.c.tag)
    query = select(tags.c.page_id, tag_settings.c.settings).select_from(joined)
    return query.where(tags.c.page_id.in_(page_ids)).order_by(tags.c.tag)


def _own_settings_of(page_ids: Sequence[int]) -> Select[Any]:
    query = select(pages.c.id, pages.c.settings)
    return query.where(pages.c.id.in_(page_ids), pages.c.settings != NO_SETTINGS)


def _to_page(row: Sequence[Any], page_tags: tuple[str, ...]) -> Page:
    page_id, url, source, host, site, directory, added, paused, *_ = row
    return Page(page_id, url, source, host, site, directory, from_epoch(added), paused, page_tags)


def _page_columns(
    ids: Mapping[PageKey, int], items: Collection[NewPage], now: datetime
) -> dict[str, Sequence[Any]]:
    return {
        "id": [ids[item.key] for item in items],
        "url": [item.key.url for item in items],
        "source": [item.key.source for item in items],
        "host": [item.host for item in items],
        "site": [item.site for item in items],
        "directory": [item.directory for item in items],
        "added": [to_epoch(now)] * len(items),
        "paused": [False] * len(items),
        "settings": [NO_SETTINGS] * len(items),
    }


def _redact_column(
    connection: Connection,
    table: Table,
    key: Column[Any],
    column: Column[Any],
    *conditions: ColumnElement[bool],
) -> None:
    query = select(key, column).where(column.like("%@%"), *conditions)
    for row_key, text in connection.execute(query).all():
        statement = update(table).where(key == row_key)
        connection.execute(statement.values({column.name: redact_user_info(text)}))
