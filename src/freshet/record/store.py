"""A collection on disk: a folder with settings, a catalog and an archive."""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from freshet.archive.catalog.catalog import Catalog, open_catalog
from freshet.archive.catalog.rows import NewPage
from freshet.archive.snapshots import SnapshotReader
from freshet.archive.warc.lock import ArchiveLock
from freshet.core.clock import Clock, SystemClock
from freshet.core.close_on_exit import CloseOnExit
from freshet.core.errors import BadInputError, NoSpaceError, NotFoundError, StorageError, UsageError
from freshet.core.files import make_private_folder, write_private_text
from freshet.core.redaction import redact_url
from freshet.core.settings import (
    MODEL_SUFFIX,
    UNREADABLE_KEY,
    PageSettings,
    Settings,
    load_settings,
    merge_settings,
)
from freshet.core.types import Page, PageKey
from freshet.core.version import __version__
from freshet.record.archive_writer import ARCHIVE_FOLDER
from freshet.record.files import CollectionFiles
from freshet.record.lazy_imports import build_recorder, build_stored_page
from freshet.record.record_store import RecordStore
from freshet.record.recovery import FileRepair, recover_archive
from freshet.view.url import (
    basic_authorization,
    canonical_url,
    canonical_web_url,
    page_address,
    without_credentials,
)

if TYPE_CHECKING:
    from freshet.record.recorder import Recorder
    from freshet.record.stored_page import StoredPage

SETTINGS_FILE = "freshet.toml"
CATALOG_FILE = "catalog.db"
MODELS_FOLDER = "models"
URLS_CLEANED_NOTE = "user_info_cleaned"
SOFTWARE = f"Freshet/{__version__}"

MAX_SHOWN_NAMES = 3

log = logging.getLogger(__name__)


class CollectionStore(CollectionFiles, CloseOnExit):
    """The folder of a collection: its pages, their visits, the stored bytes and the settings."""

    def __init__(self, path: Path, catalog: Catalog, settings: Settings, clock: Clock) -> None:
        self.path = path
        self.archive_folder = path / ARCHIVE_FOLDER
        super().__init__(catalog, SnapshotReader(catalog, self.archive_folder), settings, clock)
        self.repairs: list[FileRepair] = []

    @classmethod
    def create(cls, path: Path, *, contact: str, clock: Clock | None = None) -> Self:
        """Make a new collection in a folder that has none."""
        settings = merge_settings(Settings(), {"contact": contact}, origin="freshet init")
        if (path / SETTINGS_FILE).exists():
            raise UsageError(f"{path} is a collection already; use it, or choose another folder")
        try:
            for folder in (path, path / ARCHIVE_FOLDER, path / MODELS_FOLDER):
                make_private_folder(folder)
            open_catalog(path / CATALOG_FILE, create=True).close()
            write_private_text(path / SETTINGS_FILE, _first_settings(settings))
        except OSError as error:
            raise NoSpaceError(
                f"{path} cannot be written: {error.strerror}; choose another folder"
            ) from error
        return cls.open(path, clock=clock)

    @classmethod
    def open(cls, path: Path, *, clock: Clock | None = None, create_catalog: bool = False) -> Self:
        """Open a collection to read it, and to change what the catalog alone holds.

        ``create_catalog`` makes an empty catalog where it is missing, to be filled from the archive.
        """
        settings = _located(read_settings(path), path)
        catalog = open_catalog(path / CATALOG_FILE, create=create_catalog)
        collection = cls(path, catalog, settings, clock or SystemClock())
        with suppress(StorageError):  # a collection that cannot be written can still be read
            collection._clean_urls()
        return collection

    @contextmanager
    def recording(self) -> Iterator["Recorder"]:
        """Take the right to append to the archive, mend what a crash left, and record."""
        with self.appending() as lock:
            shelf = RecordStore(lock, self.catalog, self.settings, self.clock, SOFTWARE)
            try:
                yield build_recorder(self, shelf)
            finally:
                shelf.close()

    @contextmanager
    def appending(self) -> Iterator[ArchiveLock]:
        """Take the right to change the archive, and mend what a crash left there.

        Leases of a crawl that was killed stay for the next crawl: they tell it of the kill.
        """
        with ArchiveLock(self.archive_folder, clock=self.clock) as lock:
            shelf = RecordStore(lock, self.catalog, self.settings, self.clock, SOFTWARE)
            self.repairs = recover_archive(
                self.catalog, self.archive_folder, build_recorder(self, shelf)
            )
            yield lock

    def _clean_urls(self) -> None:
        """Take passwords out of the catalog, where an earlier Freshet put them, once.

        Those of live pages become headers, which nothing sends over a connection that others can
        read until the page's settings allow it. A page whose clean URL is there already is removed;
        its history is kept.
        """
        if self.catalog.read_note(URLS_CLEANED_NOTE):
            return
        current = self.catalog.pages_with_user_info(is_removed=False)
        removed = self.catalog.pages_with_user_info(is_removed=True)
        self.catalog.redact_user_info([page.id for page in (*current, *removed)])
        for page in removed:
            self._drop_user_info(page)
        cleaned = [page for page in current if self._drop_user_info(page)]
        live = [page for page in cleaned if not page.source]
        for page in live:
            self.change_settings(page, _authorization(page.url))
        cleaned_ids = {page.id for page in cleaned}
        taken = [page.id for page in current if page.id not in cleaned_ids]
        self.catalog.remove_pages(taken, self.clock.now())
        self.catalog.write_note(URLS_CLEANED_NOTE, self.clock.now().isoformat())
        if live:
            log.warning("%s", _cleaned([without_credentials(page.url) for page in live]))

    def _drop_user_info(self, page: Page) -> bool:
        """Give a page its URL without the password; where that is taken, another one and False."""
        url = without_credentials(page.url)
        if self.catalog.set_page_url(page.id, url):
            return True
        self.catalog.set_page_url(page.id, f"{url}#page-{page.id}")
        return False

    def save_credentials(self, key: PageKey, url: str) -> str:
        """Make the user name and password in a live page's URL its settings; say so in words.

        Who writes them into an ``http://`` URL has asked for a connection that others can read.
        """
        changes = _authorization(url)
        if not changes:
            return ""
        is_plain = key.url.startswith("http://")
        changes += [("insecure_secrets", "true")] if is_plain else []
        self.change_settings(self.catalog.page(key), changes)
        how = " and, as the URL asks, are sent unencrypted (insecure_secrets = true)"
        return (
            f"{key.url}: its user name and password are kept as the page's Authorization header"
            f"{how if is_plain else ''}"
        )

    def register_pages(self, keys: Sequence[PageKey], tags: tuple[str, ...] = ()) -> int:
        """Add pages, put removed ones back, give all of them tags; return how many were new.

        BadInput where a live page has no http(s) URL; nothing is added then.
        """
        for key in keys:
            if not key.source:
                live_page_key(key.url)
        items = [_new_page(key) for key in keys]
        added = self.catalog.insert_pages(items, self.clock.now())
        self.catalog.restore_pages(added.ids)
        for tag in tags:
            self.catalog.tag_pages(added.ids, tag)
        return len(added.new_ids)

    def page(self, url: str, *, source: str | None = None, removed: bool = False) -> "StoredPage":
        """Return a page; without a source, the live one or the only import of it.

        A removed page is not there, unless ``is_removed`` asks for it too.
        """
        return build_stored_page(self.find_page(url, source=source, removed=removed), self)

    def pages(self, *, tag: str | None = None, source: str | None = None) -> Iterator["StoredPage"]:
        """Yield the pages that were not removed, by id."""
        return (
            build_stored_page(page, self) for page in self.catalog.pages(tag=tag, source=source)
        )

    def find_page(self, url: str, *, source: str | None = None, removed: bool = False) -> Page:
        """Return the catalog's row of a page, found as `page` finds it."""
        key = self.page_key(url, source or "")
        return self._find_any(key, source) if removed else self._find(key, source)

    def settings_for(self, page: Page) -> PageSettings:
        """Return what is set for a page: the collection's settings, its tags', its own."""
        return self.settings.for_page(*self.catalog.setting_overrides([page.id]).get(page.id, ()))

    def change_settings(
        self, target: Page | str, changes: Iterable[tuple[str, Any]]
    ) -> dict[str, Any]:
        """Set or unset (None) settings of one page, or of all pages with a tag; return them all.

        A name such as ``headers.Accept`` sets one entry of a table.
        """
        if isinstance(target, Page):
            table = _changed(self.catalog.page_settings(target.id), changes)
            self.catalog.set_page_settings(target.id, table)
        else:
            table = _changed(self.catalog.tag_settings(target), changes)
            self.catalog.set_tag_settings(target, table)
        return table

    def page_key(self, url: str, source: str = "") -> PageKey:
        """Return the identity of the page with that URL."""
        known = canonical_url(url)
        if known is None:
            return live_page_key(url)
        return PageKey(known, source)

    def close(self) -> None:
        """Let go of the catalog."""
        self.catalog.close()

    def _find_any(self, key: PageKey, source: str | None) -> Page:
        """Return a page, removed or not; without a source, the live one or the only import."""
        try:
            return self.catalog.page(key)
        except NotFoundError:
            if source is not None:
                raise
            return self._find(key, source)

    def _find(self, key: PageKey, source: str | None) -> Page:
        found = self.catalog.pages_with_url(key.url)
        wanted = [page for page in found if page.source == key.source]
        url = redact_url(key.url)
        if not found:
            raise NotFoundError(f"{url} is not in {self.path}; add it with 'freshet add {url}'")
        if source is not None and not wanted:
            names = ", ".join(page.source or "live" for page in found)
            where = f"of source {source}" if source else "a live page"
            raise NotFoundError(f"{url} is not {where}; it is there as {names}: choose by --source")
        if len(found) > 1 and not wanted:
            names = ", ".join(page.source for page in found)
            raise UsageError(f"{url} is in several sources ({names}); choose one with --source")
        return (wanted or found)[0]


def read_settings(path: Path) -> Settings:
    """Return the settings of the collection in a folder."""
    if not (path / SETTINGS_FILE).is_file():
        raise NotFoundError(f"{path} is no collection; make one with 'freshet init {path}'")
    return load_settings(path / SETTINGS_FILE, os.environ)


def _located(settings: Settings, path: Path) -> Settings:
    """Return settings whose model file, if there is one, is found from anywhere.

    >>> _located(Settings(policy="models/news.json"), Path("/news")).policy
    '/news/models/news.json'
    """
    if not settings.policy.endswith(MODEL_SUFFIX):
        return settings
    return replace(settings, policy=str(path.resolve() / settings.policy))


def live_page_key(url: str) -> PageKey:
    """Return the identity of the live page with an http(s) URL; BadInput says why it has none."""
    try:
        return PageKey(canonical_web_url(url))
    except ValueError as error:
        raise BadInputError(f"{redact_url(url)}: {error}") from error


def _authorization(url: str) -> list[tuple[str, str]]:
    """Return the settings of a page that stand for the user name and password in its URL."""
    authorization = basic_authorization(url.strip()) if "@" in url else None
    return [] if authorization is None else [("headers.Authorization", authorization)]


def _cleaned(urls: Sequence[str]) -> str:
    """Say which live pages had a user name and password in their URL, and what became of them.

    >>> _cleaned(["https://a.example/"])[-59:]
    "are now the page's Authorization header: https://a.example/"
    """
    text = (
        "a user name and password in the URL of a page, as earlier versions took them, are now the"
        f" page's Authorization header: {shorten_names(urls)}"
    )
    plain = [url for url in urls if url.startswith("http://")]
    if not plain:
        return text
    return (
        f"{text}; they are not sent over plain http, so that a page is refused until 'freshet set"
        f" insecure_secrets=true --page URL' allows that: {shorten_names(plain)}"
    )


def shorten_names(names: Sequence[str]) -> str:
    """Write the first few names, and how many more there are.

    >>> shorten_names(["a", "b"]), shorten_names(["a", "b", "c", "d"])
    ('a, b', 'a, b, c and 1 more')
    """
    more = f" and {len(names) - MAX_SHOWN_NAMES:,} more" if len(names) > MAX_SHOWN_NAMES else ""
    return ", ".join(names[:MAX_SHOWN_NAMES]) + more


def _new_page(key: PageKey) -> NewPage:
    where = page_address(key.url)
    return NewPage(key, where.host, where.site, where.directory)


def _changed(table: Mapping[str, Any], changes: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return a table of page settings with changes made and every value checked."""
    table = {name: value for name, value in table.items() if name != UNREADABLE_KEY}
    for name, value in changes:
        table = _assigned(table, name, value)
    merged = merge_settings(PageSettings(), table, origin="settings")
    return {name: getattr(merged, name) for name in table}


def _assigned(table: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
    """Return a table with one value set, or taken out where it is None.

    >>> _assigned({"headers": {"A": "1"}}, "headers.B", "2")
    {'headers': {'A': '1', 'B': '2'}}
    >>> _assigned({"importance": 2.0}, "importance", None)
    {}
    """
    name, dot, rest = name.partition(".")
    if dot:
        value = _assigned(table.get(name, {}), rest, value) or None
    kept = {key: old for key, old in table.items() if key != name}
    return kept if value is None else kept | {name: value}


def _first_settings(settings: Settings) -> str:
    contact = settings.contact.replace("\\", "\\\\").replace('"', '\\"')
    return (
        "# A Freshet collection. 'freshet settings' lists every setting and what it does.\n"
        "# Settings with a dot stand in a table: politeness.delay is delay below [politeness].\n"
        "# Settings of single pages and tags are made with 'freshet set'.\n"
        f'contact = "{contact}"\n'
        f'objective = "{settings.objective}"\n'
        f'# budget = "{settings.budget}"\n'
    )
