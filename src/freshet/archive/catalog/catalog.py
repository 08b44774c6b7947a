"""What every catalog can do, whatever database keeps it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Protocol, Self

from freshet.archive.catalog.crawl import CrawlCatalog, PlanCatalog, RoundCatalog
from freshet.archive.catalog.rows import (
    AddedPages,
    ArchiveFile,
    CollectionCounts,
    DailyGrowth,
    HistoryRow,
    HostOutcomeCount,
    ImportRecord,
    LinkDelta,
    NewPage,
    PageTotals,
    StoredMask,
    VisitEntry,
)
from freshet.core.types import BadRow, Page, PageKey, RecordLocation, Visit


class PageCatalog(Protocol):
    """Pages, their tags and their settings."""

    def add_pages(self, items: Sequence[NewPage], now: datetime) -> list[int]:
        """Return the ids of pages in the same order, adding those that are not there yet."""
        ...

    def insert_pages(self, items: Sequence[NewPage], now: datetime) -> AddedPages:
        """Add pages as ``add_pages`` does, and tell which of them were not there before."""
        ...

    def page(self, key: PageKey) -> Page:
        """Return the page of that identity, removed or not."""
        ...

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
        ...

    def pages_by_id(self, page_ids: Sequence[int]) -> dict[int, Page]:
        """Return the pages of these ids that are there, removed or not."""
        ...

    def page_ids(self, keys: Sequence[PageKey]) -> dict[PageKey, int]:
        """Return the ids of those pages that there are."""
        ...

    def pages_with_url(self, url: str) -> list[Page]:
        """Return the pages of that URL, one for each source, removed ones left out."""
        ...

    def pages_with_user_info(self, *, is_removed: bool) -> list[Page]:
        """Return the pages of all sources whose URL holds a user name or password.

        Either those that were removed, or those that were not.
        """
        ...

    def set_page_url(self, page_id: int, url: str) -> bool:
        """Give a page another URL; False where a page of its source has that one already."""
        ...

    def redact_user_info(self, page_ids: Sequence[int]) -> None:
        """Blank passwords in what is said of these pages' visits, of hosts and of bad rows."""
        ...

    def remove_pages(self, page_ids: Sequence[int], now: datetime, *, purge: bool = False) -> None:
        """Take pages off the live list; with ``purge`` delete everything known of them too."""
        ...

    def restore_pages(self, page_ids: Sequence[int]) -> None:
        """Put removed pages back on the live list."""
        ...

    def pause_pages(self, page_ids: Sequence[int]) -> None:
        """Leave pages out of plans until they are resumed."""
        ...

    def resume_pages(self, page_ids: Sequence[int]) -> None:
        """Take paused pages into plans again."""
        ...

    def tag_pages(self, page_ids: Sequence[int], tag: str) -> None:
        """Give pages a tag; those that have it keep it."""
        ...

    def untag_pages(self, page_ids: Sequence[int], tag: str) -> None:
        """Take a tag off pages."""
        ...

    def unreadable_settings(self) -> list[str]:
        """Return the pages, by URL, and the tags whose settings are damaged."""
        ...

    def page_settings(self, page_id: int) -> dict[str, Any]:
        """Return what was set for this page alone."""
        ...

    def set_page_settings(self, page_id: int, settings: Mapping[str, Any]) -> None:
        """Replace what is set for this page alone."""
        ...

    def update_page_settings(self, settings: Mapping[int, Mapping[str, Any]]) -> None:
        """Add to what is set for pages, many at once."""
        ...

    def setting_overrides(self, page_ids: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
        """Return what is set for pages: for each that has any, its tags' settings, then its own."""
        ...

    def tag_settings(self, tag: str) -> dict[str, Any]:
        """Return what was set for all pages of a tag; nothing when nothing was."""
        ...

    def set_tag_settings(self, tag: str, settings: Mapping[str, Any]) -> None:
        """Replace what is set for all pages of a tag."""
        ...


class VisitCatalog(Protocol):
    """Visits and what was learnt from each."""

    def stored_uids(self, uids: Sequence[bytes]) -> set[bytes]:
        """Return those uids whose visits are in the catalog."""
        ...

    def sources_by_uid(self, uids: Sequence[bytes]) -> dict[bytes, str]:
        """Return the source of the page of each visit that is in the catalog, by the uid."""
        ...

    def append_visits(self, entries: Sequence[VisitEntry], *, all_new: bool = False) -> list[int]:
        """Write visits and all that belongs to them at once; return their ids in order.

        A visit whose uid is already there is left as it is, and its id returned; ``all_new`` says
        that the caller has looked and none is. A page that was visited is no longer lent to a
        worker, nor asked for.
        """
        ...

    def replace_changes(self, entries: Sequence[VisitEntry]) -> None:
        """Replace what was measured of visits already there; views and links only where given."""
        ...

    def set_locations(self, locations: Mapping[int, RecordLocation | None]) -> None:
        """Say where the records of visits lie now; None when their bytes are no longer kept."""
        ...

    def archive_files(self) -> list[ArchiveFile]:
        """Return the files of the archive in the order in which they were added."""
        ...

    def archive_file_ends(self) -> dict[str, int]:
        """Return for each file that rows point to where the last of their records ends."""
        ...

    def visits_with_payload(self, digest: bytes, size: int) -> list[Visit]:
        """Return all visits, of any page, that brought these bytes and whose records are kept."""
        ...

    def visits_in_file(self, name: str) -> Iterator[Visit]:
        """Yield the visits whose records lie in a file, in the order of their offsets."""
        ...


class HistoryCatalog(Protocol):
    """Histories, looks and links of pages, as they are read."""

    def history(
        self,
        page_id: int,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
    ) -> list[HistoryRow]:
        """Return a page's visits in time order, both ends included; ``limit`` keeps the latest."""
        ...

    def last_looks(
        self,
        page_ids: Sequence[int],
        until: Mapping[int, datetime] | None = None,
        *,
        with_content: bool = True,
    ) -> dict[int, HistoryRow]:
        """Return each page's latest look at or before its time, if it has one.

        With ``with_content`` only looks that brought bytes count; otherwise "not modified" and reported
        observations do too.
        """
        ...

    def last_visits(self, page_ids: Sequence[int]) -> dict[int, HistoryRow]:
        """Return each page's latest visit, whatever its outcome."""
        ...

    def first_visit_with_payload(
        self, digest: bytes, size: int | None = None, *, page_id: int | None = None
    ) -> Visit | None:
        """Return the first visit that archived these bytes, if their record is still kept."""
        ...

    def stored_payloads(
        self, wanted: Collection[tuple[int, bytes, int]]
    ) -> dict[tuple[int, bytes, int], Visit]:
        """Return the first visits of pages that archived bytes, given by page, digest and size."""
        ...

    def links_at(self, page_id: int, time: datetime | None = None) -> frozenset[str]:
        """Return the links that a page had at a time: those of its last look by then."""
        ...

    def links_ever_seen(self, page_id: int) -> frozenset[str]:
        """Return every link that a page ever had; of very many those that came last."""
        ...

    def link_delta(self, visit_id: int) -> LinkDelta | None:
        """Return the links that appeared and disappeared by a visit, if it looked at them."""
        ...

    def link_deltas(self, page_id: int, *, since: datetime | None = None) -> dict[int, LinkDelta]:
        """Return the links that appeared and disappeared, by the page's visits that looked."""
        ...


class TotalCatalog(Protocol):
    """Totals of a collection."""

    def counts(self) -> CollectionCounts:
        """Return how much the collection holds."""
        ...

    def daily_growth(self) -> list[DailyGrowth]:
        """Return the visits of each UTC day that has any, with the bytes stored, in order."""
        ...

    def last_look_time(self) -> datetime | None:
        """Return when a live page was last looked at, None where none ever was."""
        ...

    def last_outcome_counts(self) -> list[HostOutcomeCount]:
        """Return how the last visits of live pages ended, counted by host; not of paused ones."""
        ...

    def failing_pages(self, *, tag: str | None = None, source: str | None = None) -> list[Page]:
        """Return pages whose last visit showed no content, by id; not paused ones."""
        ...

    def page_totals(self, of_pages: Iterable[Page]) -> Iterator[PageTotals]:
        """Yield the totals of pages, in the order in which the pages come."""
        ...


class MaskCatalog(Protocol):
    """What is left out of comparisons, page by page."""

    def latest_masks(self, page_ids: Sequence[int]) -> dict[int, StoredMask]:
        """Return the latest mask of each page that has one."""
        ...

    def add_mask_version(
        self,
        page_id: int,
        body: Mapping[str, Any],
        now: datetime,
        *,
        previous_version: int | None = None,
    ) -> int | None:
        """Give a page a new version of its mask, and return its number.

        With ``previous_version`` only where that is still the latest one (0: there is none), else None: two
        who edit at the same time do not undo each other.
        """
        ...


class ImportCatalog(Protocol):
    """The record of imports, and notes that belong to the whole collection."""

    def start_import(self, kind: str, path: str, source: str, now: datetime) -> int:
        """Note that an import begins, and return its number."""
        ...

    def add_bad_rows(self, import_id: int, rows: Sequence[BadRow]) -> None:
        """Keep the rows that an import could not take, with the reason."""
        ...

    def finish_import(self, import_id: int, now: datetime, counts: Mapping[str, int]) -> None:
        """Note that an import is complete, and what it brought."""
        ...

    def imports(self) -> list[ImportRecord]:
        """Return the imports so far, the first one first."""
        ...

    def bad_rows(self, import_id: int) -> list[BadRow]:
        """Return the rows that an import could not take."""
        ...

    def read_note(self, key: str) -> str | None:
        """Return a note on the whole collection, if it was made."""
        ...

    def write_note(self, key: str, value: str) -> None:
        """Make or replace a note on the whole collection."""
        ...


class Catalog(
    PageCatalog,
    VisitCatalog,
    HistoryCatalog,
    TotalCatalog,
    MaskCatalog,
    CrawlCatalog,
    RoundCatalog,
    PlanCatalog,
    ImportCatalog,
    Protocol,
):
    """Everything a collection knows apart from the bytes it keeps.

    Every method is one transaction; those that yield take one per batch. Writers of different
    processes wait for each other.
    """

    def integrity_problems(self) -> list[str]:
        """Return what is wrong with the database itself; nothing where it is whole."""
        ...

    def data_version(self) -> int:
        """Return a number that is another one when somebody else has written since."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
