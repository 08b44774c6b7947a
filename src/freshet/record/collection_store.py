"""A collection on disk: a folder with settings, a catalog and an archive.

Listing pages and reading the status need the catalog alone. The modules that import the HTML parser
and the compiled loops are therefore imported inside functions, on first use.
"""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from freshet.archive.catalog.catalog import Catalog, open_catalog
from freshet.archive.snapshots import SnapshotReader
from freshet.archive.warc.lock import ArchiveLock
from freshet.core.clock import Clock, SystemClock
from freshet.core.close_on_exit import CloseOnExit
from freshet.core.errors import BadInputError, NoSpaceError, NotFoundError, StorageError, UsageError
from freshet.core.files import make_private_folder, write_private_text
from freshet.core.redaction import redact_url
from freshet.core.setting_checks import MODEL_SUFFIX
from freshet.core.settings import (
    UNREADABLE_KEY,
    PageSettings,
    Settings,
    load_settings,
    merge_settings,
)
from freshet.core.types import Page, PageKey
from freshet.measure.change.own_measure import check_measure
from freshet.record.collection_reader import CollectionReader, new_page
from freshet.record.crawl_objective import (
    crawl_settings,
    save_crawl_objective,
    settings_for_objective,
)
from freshet.record.record_store import RecordStore
from freshet.record.recovery import FileRepair, recover_archive
from freshet.record.writer_lock import ARCHIVE_FOLDER, running_crawl
from freshet.view.url import (
    basic_authorization,
    canonical_url,
    canonical_web_url,
    without_credentials,
)

if TYPE_CHECKING:
    from freshet.record.recorder import Recorder
    from freshet.record.stored_page import StoredPage

SETTINGS_FILE = "freshet.toml"
CATALOG_FILE = "catalog.db"
MODELS_FOLDER = "models"
URLS_CLEANED_NOTE = "user_info_cleaned"

MAX_SHOWN_NAMES = 3

log = logging.getLogger(__name__)


class CollectionStore(CollectionReader, CloseOnExit):
    """The folder of a collection: its pages, their visits, the stored bytes and the settings."""

    def __init__(self, path: Path, catalog: Catalog, settings: Settings, clock: Clock) -> None:
        self.path, self._settings_file = path, path.absolute() / SETTINGS_FILE
        self.archive_folder, self.models_folder = path / ARCHIVE_FOLDER, path / MODELS_FOLDER
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
        """Open a collection to read it and to change its catalog.

        ``create_catalog`` makes an empty catalog if it is missing; a repair then fills it from the
        archive.
        """
        settings = _with_absolute_model(read_settings(path), path)
        catalog = open_catalog(path / CATALOG_FILE, create=create_catalog)
        collection = cls(path, catalog, settings, clock or SystemClock())
        with suppress(StorageError):  # a collection that cannot be written can still be read
            collection._clean_urls()
        return collection

    @contextmanager
    def recording(self) -> Iterator["Recorder"]:
        """Lock the archive, repair it after a crash, and yield a recorder."""
        with self.appending() as lock:
            record_store = RecordStore(lock, self)
            try:
                yield self._recorder(record_store)
            finally:
                record_store.close()

    @contextmanager
    def appending(self) -> Iterator[ArchiveLock]:
        """Lock the archive for changes, and repair it after a crash.

        The leases of a crawl that was killed stay for the next crawl, which reports the kill.
        """
        with ArchiveLock(self.archive_folder, clock=self.clock) as lock:
            settings = self.settings
            # Records of a killed crawl are read as that crawl would have read them.
            self.settings = crawl_settings(
                self.catalog, settings, self._file_settings(), is_running=True
            )
            try:
                recorder = self._recorder(RecordStore(lock, self))
                self.repairs = recover_archive(self.catalog, self.archive_folder, recorder)
            finally:
                self.settings = settings
            yield lock

    def planning_settings(self, objective: str = "") -> Settings:
        """Return the settings that visits are planned with: for an objective, if one is given.

        Otherwise the objective is that of the running or last crawl.
        """
        if objective:
            return settings_for_objective(self.settings, objective)
        is_running = bool(running_crawl(self.archive_folder))
        return crawl_settings(
            self.catalog, self.settings, self._file_settings(), is_running=is_running
        )

    def save_crawl_objective(self) -> None:
        """Save the objective of a crawl that begins, for other commands."""
        save_crawl_objective(self.catalog, self.settings, self._file_settings())

    def _file_settings(self) -> Settings:
        """Return the settings of the file alone, without the environment."""
        file = self._settings_file
        return _with_absolute_model(load_settings(file, {}), file.parent)

    def _recorder(self, record_store: RecordStore) -> "Recorder":
        from freshet.record.recorder import Recorder

        return Recorder(self, record_store)

    def _clean_urls(self) -> None:
        """Remove passwords from URLs in the catalog, where an earlier version stored them, once.

        The password of a live page becomes its Authorization header, which is not sent unencrypted
        unless the page's settings allow it. A page whose clean URL exists already is removed; its
        history stays.
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
        duplicate_ids = [page.id for page in current if page.id not in cleaned_ids]
        self.catalog.remove_pages(duplicate_ids, self.clock.now())
        self.catalog.write_note(URLS_CLEANED_NOTE, self.clock.now().isoformat())
        if live:
            log.warning("%s", _cleaned_message([without_credentials(page.url) for page in live]))

    def _drop_user_info(self, page: Page) -> bool:
        """Remove the password from a page's URL; False if the clean URL belongs to another page."""
        url = without_credentials(page.url)
        if self.catalog.set_page_url(page.id, url):
            return True
        self.catalog.set_page_url(page.id, f"{url}#page-{page.id}")
        return False

    def save_credentials(self, key: PageKey, url: str) -> str:
        """Save the user name and password in a live page's URL as settings; return a message.

        A user who writes them into an ``http://`` URL has asked to send them unencrypted.
        """
        changes = _authorization(url)
        if not changes:
            return ""
        is_plain = key.url.startswith("http://")
        changes += [("insecure_secrets", "true")] if is_plain else []
        self.change_settings(self.catalog.page(key), changes)
        message = (
            f"{key.url}: its user name and password are kept as the page's Authorization header"
        )
        if is_plain:
            message += " and, as the URL asks, are sent unencrypted (insecure_secrets = true)"
        return message

    def register_pages(
        self, keys: Sequence[PageKey], tags: tuple[str, ...] = ()
    ) -> tuple[int, int]:
        """Add pages, restore removed ones, and tag all of them.

        The result is the number of new pages and of restored ones. Nothing is added if one of the
        live pages has no http(s) URL (BadInputError).
        """
        for key in keys:
            if not key.source:
                live_page_key(key.url)
        added = self.catalog.add_pages([new_page(key) for key in keys], self.clock.now())
        restored_ids = self.catalog.inactive_pages().removed.intersection(added.ids)
        self.catalog.restore_pages(sorted(restored_ids))
        for tag in tags:
            self.catalog.tag_pages(added.ids, tag)
        return len(added.new_ids), len(restored_ids)

    def page(self, url: str, *, source: str | None = None, removed: bool = False) -> "StoredPage":
        """Return a page; without a source, the live page or the only imported one.

        A removed page is found only with ``removed``.
        """
        return self._stored_page(self.find_page(url, source=source, removed=removed))

    def pages(self, *, tag: str | None = None, source: str | None = None) -> Iterator["StoredPage"]:
        """Yield the pages that were not removed, by id."""
        return map(self._stored_page, self.catalog.pages(tag=tag, source=source))

    def find_page(self, url: str, *, source: str | None = None, removed: bool = False) -> Page:
        """Return the catalog row of a page; the arguments are those of ``page``."""
        key = self.page_key(url, source or "")
        return self._find_any(key, source) if removed else self._find(key, source)

    def _stored_page(self, page: Page) -> "StoredPage":
        from freshet.record.stored_page import StoredPage

        return StoredPage(page, self)

    def settings_for(self, page: Page) -> PageSettings:
        """Return the settings of a page, from the collection, its tags and the page itself."""
        return self.settings.for_page(*self.catalog.setting_overrides([page.id]).get(page.id, ()))

    def change_settings(
        self, target: Page | str, changes: Iterable[tuple[str, Any]]
    ) -> dict[str, Any]:
        """Set or unset (None) settings of a page, or of all pages with a tag; return them all.

        A name such as ``headers.Accept`` sets one entry of a table. A measure of the user that
        cannot be imported is refused.
        """
        if isinstance(target, Page):
            table = _changed_table(self.catalog.page_settings(target.id), changes)
            self.catalog.set_page_settings(target.id, table)
        else:
            table = _changed_table(self.catalog.tag_settings(target), changes)
            self.catalog.set_tag_settings(target, table)
        return table

    def page_key(self, url: str, source: str = "") -> PageKey:
        """Return the identity of the page with a URL; BadInputError if it cannot be a page."""
        page_url = canonical_url(url)
        return live_page_key(url) if page_url is None else PageKey(page_url, source)

    def close(self) -> None:
        """Close the catalog."""
        self.catalog.close()

    def _find_any(self, key: PageKey, source: str | None) -> Page:
        """Return a page, removed or not; without a source, the live or the only imported one."""
        try:
            return self.catalog.page(key)
        except NotFoundError:
            if source is not None:
                raise
            return self._find(key, source)

    def _find(self, key: PageKey, source: str | None) -> Page:
        """Return a page that was not removed; without a source, the live or only imported one."""
        pages = self.catalog.pages_with_url(key.url)
        of_source = [page for page in pages if page.source == key.source]
        url = redact_url(key.url)
        if not pages:
            raise NotFoundError(f"{url} is not in {self.path}; add it with 'freshet add {url}'")
        if source is not None and not of_source:
            names = ", ".join(page.source or "live" for page in pages)
            wanted = f"of source {source}" if source else "a live page"
            raise NotFoundError(f"{url} is not {wanted}; its sources are: {names}; use --source")
        if len(pages) > 1 and not of_source:
            names = ", ".join(page.source for page in pages)
            raise UsageError(f"{url} is in several sources ({names}); choose one with --source")
        return (of_source or pages)[0]


def read_settings(path: Path) -> Settings:
    """Return the settings of the collection in a folder."""
    if not (path / SETTINGS_FILE).is_file():
        raise NotFoundError(f"{path} is not a collection; make one with 'freshet init {path}'")
    return load_settings(path / SETTINGS_FILE, os.environ)


def _with_absolute_model(settings: Settings, path: Path) -> Settings:
    """Return settings with the absolute path of the model file, if there is one.

    >>> _with_absolute_model(Settings(policy="models/news.json"), Path("/news")).policy
    '/news/models/news.json'
    """
    if not settings.policy.endswith(MODEL_SUFFIX):
        return settings
    return replace(settings, policy=str(path.resolve() / settings.policy))


def live_page_key(url: str) -> PageKey:
    """Return the identity of the live page with a URL; BadInputError if it is not http(s)."""
    try:
        return PageKey(canonical_web_url(url))
    except ValueError as error:
        raise BadInputError(f"{redact_url(url)}: {error}") from error


def _authorization(url: str) -> list[tuple[str, str]]:
    """Return the page settings for the user name and password in a URL."""
    authorization = basic_authorization(url.strip()) if "@" in url else None
    return [] if authorization is None else [("headers.Authorization", authorization)]


def _cleaned_message(urls: Sequence[str]) -> str:
    """Return the warning about live pages that had a user name and password in their URL.

    >>> _cleaned_message(["https://a.example/"])[-59:]
    "are now the page's Authorization header: https://a.example/"
    """
    text = (
        "a user name and password in the URL of a page, as earlier versions kept them, are now the"
        f" page's Authorization header: {shorten_names(urls)}"
    )
    unencrypted = [url for url in urls if url.startswith("http://")]
    if not unencrypted:
        return text
    return (
        f"{text}; they are not sent over plain http, so these pages are not fetched until 'freshet"
        f" set insecure_secrets=true --page URL' allows it: {shorten_names(unencrypted)}"
    )


def shorten_names(names: Sequence[str]) -> str:
    """Return the first few names and the number of the others.

    >>> shorten_names(["a", "b"]), shorten_names(["a", "b", "c", "d"])
    ('a, b', 'a, b, c and 1 more')
    """
    more = f" and {len(names) - MAX_SHOWN_NAMES:,} more" if len(names) > MAX_SHOWN_NAMES else ""
    return ", ".join(names[:MAX_SHOWN_NAMES]) + more


def _changed_table(table: Mapping[str, Any], changes: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return a table of page settings with changes applied and every value checked."""
    changes = list(changes)
    table = {name: value for name, value in table.items() if name != UNREADABLE_KEY}
    for name, value in changes:
        table = _with_value(table, name, value)
    merged = merge_settings(PageSettings(), table, origin="settings")
    if any(name == "counts_as" for name, _ in changes):
        check_measure(merged.counts_as)
    return {name: getattr(merged, name) for name in table}


def _with_value(table: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
    """Return a table with one value set, or removed if it is None.

    >>> _with_value({"headers": {"A": "1"}}, "headers.B", "2")
    {'headers': {'A': '1', 'B': '2'}}
    >>> _with_value({"importance": 2.0}, "importance", None)
    {}
    """
    name, dot, subname = name.partition(".")
    if dot:
        value = _with_value(table.get(name, {}), subname, value) or None
    others = {key: old for key, old in table.items() if key != name}
    return others if value is None else others | {name: value}


def _first_settings(settings: Settings) -> str:
    contact = settings.contact.replace("\\", "\\\\").replace('"', '\\"')
    return (
        "# A Freshet collection. 'freshet settings' lists every setting and what it does.\n"
        "# Settings with a dot are written in a table: politeness.delay is delay in [politeness].\n"
        "# Settings of single pages and tags are made with 'freshet set'.\n"
        f'contact = "{contact}"\n'
        f'objective = "{settings.objective}"\n'
        f'# budget = "{settings.budget}"\n'
    )
