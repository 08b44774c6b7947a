"""Pages, their tags and their settings."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, select, update

from freshet.archive.catalog.rows import AddedPages, NewPage
from freshet.archive.catalog.schema import pages, tag_settings, tags
from freshet.archive.catalog.sql.store import BulkInsert, KeyLookup, TableStore, split_chunks
from freshet.core.clock import from_epoch, to_epoch
from freshet.core.errors import NotFoundError
from freshet.core.redaction import redact_url
from freshet.core.settings import UNREADABLE_KEY
from freshet.core.types import Page, PageKey

TAGS_OF_PAGES = (
    select(tags.c.page_id, tags.c.tag)
    .where(tags.c.page_id.in_(bindparam("ids", expanding=True)))
    .order_by(tags.c.tag)
)
TAGS_SET: Select[Any] = select(tag_settings.c.tag, tag_settings.c.settings)
PAGE_QUERY: Select[Any] = select(
    pages.c.id, pages.c.url, pages.c.source, pages.c.host, pages.c.site, pages.c.directory,
    pages.c.added, pages.c.paused,
)  # fmt: skip
PAGES_AT_ONCE = 1000
NO_SETTINGS = "{}"


class PageTables(TableStore):
    """The tables pages, tags and tag_settings."""

    @cached_property
    def _insert_pages(self) -> BulkInsert:
        return BulkInsert(pages, self._engine)

    @cached_property
    def _ids_of_urls(self) -> KeyLookup:
        query = select(pages.c.url, pages.c.id).where(pages.c.source == "")
        return KeyLookup(query, pages.c.url, self._engine)

    def add_pages(self, items: Sequence[NewPage], now: datetime) -> list[int]:
        """Return the ids of pages in the same order, adding those that are not there yet."""
        return self.insert_pages(items, now).ids

    def insert_pages(self, items: Sequence[NewPage], now: datetime) -> AddedPages:
        """Add pages as ``add_pages`` does, and tell which of them were not there before."""
        keys = [item.key for item in items]
        with self._engine.begin() as connection:
            known = self._ids_of(connection, keys)
        new: dict[PageKey, int] = {}
        if any(key not in known for key in keys):
            known, new = self._add_missing(items, now)
        ids = known | new
        return AddedPages([ids[key] for key in keys], frozenset(new.values()))

    def _add_missing(
        self, items: Sequence[NewPage], now: datetime
    ) -> tuple[dict[PageKey, int], dict[PageKey, int]]:
        """Return the ids of the pages that were there, and of those that were added."""
        with self._writing.begin() as connection:
            ids = self._ids_of(connection, [item.key for item in items])
            missing = {item.key: item for item in items if item.key not in ids}
            new = dict(zip(missing, self._reserve(connection, "pages", len(missing)), strict=True))
            self._insert_pages.run(connection, _page_columns(new, missing.values(), now))
        return ids, new

    def _ids_of(self, connection: Connection, keys: Sequence[PageKey]) -> dict[PageKey, int]:
        urls: dict[str, dict[str, None]] = {}
        for key in keys:
            urls.setdefault(key.source, {})[key.url] = None
        return {
            PageKey(url, source): page_id
            for source, of_source in urls.items()
            for url, page_id in self._ids_of_urls.run(connection, list(of_source), source)
        }

    def page(self, key: PageKey) -> Page:
        """Return the page of that identity, removed or not."""
        query = PAGE_QUERY.where(pages.c.source == key.source, pages.c.url == key.url)
        with self._engine.begin() as connection:
            found = read_pages(connection, connection.execute(query).all())
        if not found:
            url = redact_url(key.url)
            raise NotFoundError(f"{url}: no such page; add it with 'freshet add {url}'")
        return found[0]

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
        left = limit
        query = restrict_to_live(PAGE_QUERY, tag=tag, host=host, source=source)
        while left is None or left > 0:
            size = PAGES_AT_ONCE if left is None else min(left, PAGES_AT_ONCE)
            found = self._page_batch(query, after_id, size)
            yield from found
            if len(found) < size:
                return
            after_id = found[-1].id
            left = None if left is None else left - size

    def _page_batch(self, query: Select[Any], after_id: int, size: int) -> list[Page]:
        batch = query.where(pages.c.id > after_id).order_by(pages.c.id).limit(size)
        with self._engine.begin() as connection:
            return read_pages(connection, connection.execute(batch).all())

    def pages_by_id(self, page_ids: Sequence[int]) -> dict[int, Page]:
        """Return the pages of these ids that are there, removed or not."""
        found: list[Page] = []
        with self._engine.begin() as connection:
            for piece in split_chunks(page_ids):
                query = PAGE_QUERY.where(pages.c.id.in_(piece))
                found += read_pages(connection, connection.execute(query).all())
        return {page.id: page for page in found}

    def page_ids(self, keys: Sequence[PageKey]) -> dict[PageKey, int]:
        """Return the ids of those pages that there are."""
        with self._engine.begin() as connection:
            return self._ids_of(connection, keys)

    def pages_with_url(self, url: str) -> list[Page]:
        """Return the pages of that URL, one for each source, removed ones left out."""
        query = restrict_to_live(PAGE_QUERY).where(pages.c.url == url).order_by(pages.c.source)
        with self._engine.begin() as connection:
            return read_pages(connection, connection.execute(query).all())

    def remove_pages(self, page_ids: Sequence[int], now: datetime, *, purge: bool = False) -> None:
        """Take pages off the live list; with ``purge`` delete everything known of them too."""
        with self._writing.begin() as connection:
            for piece in split_chunks(page_ids):
                where = pages.c.id.in_(piece)
                if purge:
                    connection.execute(delete(pages).where(where))
                else:
                    connection.execute(update(pages).where(where).values(removed=to_epoch(now)))

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
        with self._writing.begin() as connection:
            for piece in split_chunks(page_ids):
                connection.execute(update(pages).where(pages.c.id.in_(piece)).values(**values))

    def tag_pages(self, page_ids: Sequence[int], tag: str) -> None:
        """Give pages a tag; those that have it keep it."""
        rows = [{"page_id": page_id, "tag": tag} for page_id in page_ids]
        with self._writing.begin() as connection:
            if rows:
                connection.execute(self._upsert(tags).on_conflict_do_nothing(), rows)

    def untag_pages(self, page_ids: Sequence[int], tag: str) -> None:
        """Take a tag off pages."""
        with self._writing.begin() as connection:
            for piece in split_chunks(page_ids):
                where = tags.c.page_id.in_(piece), tags.c.tag == tag
                connection.execute(delete(tags).where(*where))

    def page_settings(self, page_id: int) -> dict[str, Any]:
        """Return what was set for this page alone."""
        query = select(pages.c.settings).where(pages.c.id == page_id)
        with self._engine.begin() as connection:
            text = connection.execute(query).scalar()
        if text is None:
            raise NotFoundError(
                f"page {page_id} is not in the catalog; 'freshet list' shows the pages"
            )
        return parse_settings(text)

    def set_page_settings(self, page_id: int, settings: Mapping[str, Any]) -> None:
        """Replace what is set for this page alone."""
        self._update_pages([page_id], settings=json.dumps(dict(settings)))

    def update_page_settings(self, settings: Mapping[int, Mapping[str, Any]]) -> None:
        """Add to what is set for pages, many at once."""
        with self._writing.begin() as connection:
            for piece in split_chunks(list(settings)):
                query = select(pages.c.id, pages.c.settings).where(pages.c.id.in_(piece))
                for page_id, text in connection.execute(query).all():
                    new = json.dumps(parse_settings(text) | dict(settings[page_id]))
                    where = pages.c.id == page_id
                    connection.execute(update(pages).where(where).values(settings=new))

    def setting_overrides(self, page_ids: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
        """Return what is set for pages: for each that has any, its tags' settings, then its own."""
        found: dict[int, list[dict[str, Any]]] = {}
        pieces = list(split_chunks(page_ids))
        with self._engine.begin() as connection:
            for query in (*map(_tag_overrides, pieces), *map(_own_settings, pieces)):
                for page_id, text in connection.execute(query):
                    found.setdefault(page_id, []).append(parse_settings(text))
        return found

    def tag_settings(self, tag: str) -> dict[str, Any]:
        """Return what was set for all pages of a tag; nothing when nothing was."""
        query = select(tag_settings.c.settings).where(tag_settings.c.tag == tag)
        with self._engine.begin() as connection:
            return parse_settings(connection.execute(query).scalar() or "{}")

    def unreadable_settings(self) -> list[str]:
        """Return the pages, by URL, and the tags whose settings are damaged."""
        of_pages = select(pages.c.url, pages.c.settings).where(pages.c.settings != NO_SETTINGS)
        with self._engine.begin() as connection:
            own, of_tags = connection.execute(of_pages).all(), connection.execute(TAGS_SET).all()
        found = [redact_url(url) for url, text in own if UNREADABLE_KEY in parse_settings(text)]
        return found + [
            f"tag {tag}" for tag, text in of_tags if UNREADABLE_KEY in parse_settings(text)
        ]

    def set_tag_settings(self, tag: str, settings: Mapping[str, Any]) -> None:
        """Replace what is set for all pages of a tag."""
        row = self._upsert(tag_settings).values(tag=tag, settings=json.dumps(dict(settings)))
        with self._writing.begin() as connection:
            connection.execute(
                row.on_conflict_do_update(
                    index_elements=["tag"], set_={"settings": row.excluded.settings}
                )
            )


def _tag_overrides(page_ids: Sequence[int]) -> Select[Any]:
    joined = tags.join(tag_settings, tag_settings.c.tag == tags.c.tag)
    query = select(tags.c.page_id, tag_settings.c.settings).select_from(joined)
    return query.where(tags.c.page_id.in_(page_ids)).order_by(tags.c.tag)


def _own_settings(page_ids: Sequence[int]) -> Select[Any]:
    query = select(pages.c.id, pages.c.settings)
    return query.where(pages.c.id.in_(page_ids), pages.c.settings != NO_SETTINGS)


def restrict_to_live(
    query: Select[Any],
    *,
    tag: str | None = None,
    host: str | None = None,
    source: str | None = None,
) -> Select[Any]:
    """Narrow a query on pages to those not removed, of a tag, a host or a source."""
    query = query.where(pages.c.removed.is_(None))
    if tag is not None:
        query = query.where(pages.c.id.in_(select(tags.c.page_id).where(tags.c.tag == tag)))
    if host is not None:
        query = query.where(pages.c.host == host)
    if source is not None:
        query = query.where(pages.c.source == source)
    return query


def read_pages(connection: Connection, rows: Sequence[Sequence[Any]]) -> list[Page]:
    """Turn rows that begin with the columns of PAGE into pages, with their tags."""
    tagged: dict[int, list[str]] = {}
    for piece in split_chunks([row[0] for row in rows]):
        for page_id, tag in connection.execute(TAGS_OF_PAGES, {"ids": piece}):
            tagged.setdefault(page_id, []).append(tag)
    return [_page(row, tuple(tagged.get(row[0], ()))) for row in rows]


def _page(row: Sequence[Any], its_tags: tuple[str, ...]) -> Page:
    page_id, url, source, host, site, directory, added, paused, *_ = row
    return Page(page_id, url, source, host, site, directory, from_epoch(added), paused, its_tags)


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


def parse_settings(text: str) -> dict[str, Any]:
    """Read settings as they are kept; damaged ones are marked, so that they are not taken for none.

    >>> parse_settings('{"importance": 2}'), parse_settings("{nojson"), parse_settings("1")
    ({'importance': 2}, {'unreadable': True}, {'unreadable': True})
    """
    try:
        settings = json.loads(text)
    except ValueError:
        settings = None
    return settings if isinstance(settings, dict) else {UNREADABLE_KEY: True}
